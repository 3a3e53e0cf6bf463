package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// Several scripts at once, about the same few orders: what came of them depends on who was first, so the model cannot say it. What must be
// true in the end it can: sums agree, units add up, no move is missing or told twice, and telling all of it again moves nothing.
func TestModelSideBySide(t *testing.T) {
	pace(t, 2000, 80)
	clock := &modelClock{}
	several := rapid.SliceOfN(rapid.SliceOfN(lines, 10, 30), 2, 4)
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		rapid.Check(t, func(rt *rapid.T) {
			scripts := several.Draw(rt, "scripts")
			newMachine(t, book, clock, nil)
			if why := sideBySide(t, book, clock, scripts); why != nil {
				rt.Fatalf("%v\n%v", why, scripts)
			}
			expireAll(rt, book)
			checkBooks(rt, book)
			checkMessages(rt, book)
			again := onlyTold(scripts)
			before := orderShapes(rt, book)
			if why := sideBySide(t, book, clock, again); why != nil {
				rt.Fatalf("%v\n%v", why, scripts)
			}
			if after := orderShapes(rt, book); after != before {
				rt.Fatalf("told again, the orders moved\nfrom %s\nto   %s\n%v", before, after, scripts)
			}
		})
	}, clock.options())
}

// expireAll closes what is due by now; nothing stays noted that is.
func expireAll(rt *rapid.T, book *ledger.Ledger) {
	_, err := book.Expire(rt.Context(), 1_000)
	left, readErr := book.Due(rt.Context())
	if err != nil || readErr != nil || left != 0 {
		rt.Fatalf("%d orders are still noted for closing (%v, %v)", left, err, readErr)
	}
}

// sideBySide tells scripts at once, and lets what has slipped between two commits find its place.
func sideBySide(t *testing.T, book *ledger.Ledger, clock *modelClock, scripts [][]line) error {
	failures := make([]error, len(scripts))
	var firsts firstAnswers
	var wg sync.WaitGroup
	for i, script := range scripts {
		wg.Go(func() {
			m := &machine{ctx: t.Context(), book: book, clock: clock, tokens: map[string]string{}, stop: func(text string) { panic(text) }}
			defer func() {
				if text := recover(); text != nil {
					failures[i] = fmt.Errorf("%v", text)
				}
			}()
			for _, l := range script {
				clock.move(1)
				answer, err := m.do(strings.Fields(string(l)))
				switch {
				case errors.As(err, new(*ledger.TokenBusy)):
				case err != nil:
					failures[i] = fmt.Errorf("%s: %w", l, err)
					return
				default:
					firsts.note(l, answer)
				}
			}
		})
	}
	wg.Wait()
	_, err := book.Sweep(t.Context())
	err = errors.Join(errors.Join(failures...), err)
	if clock.now().Sub(modelStart) >= 24*time.Hour {
		return err // a key may be used anew by then
	}
	return errors.Join(err, firsts.check())
}

// firstAnswers are the answers under a key that are no repeats.
type firstAnswers struct {
	sync.Mutex
	list map[string][]string
}

func (f *firstAnswers) note(l line, answer string) {
	w := strings.Fields(string(l))
	refused := slices.Contains([]string{"spent", "unknown", "expired", "not found"}, answer)
	if w[0] != "once" || strings.HasPrefix(w[1], "T") || refused || strings.HasPrefix(answer, "again: ") {
		return // tokens are each script's own
	}
	f.Lock()
	defer f.Unlock()
	if f.list == nil {
		f.list = map[string][]string{}
	}
	f.list[w[1]] = append(f.list[w[1]], fmt.Sprintf("%s => %s", l, answer))
}

func (f *firstAnswers) check() error {
	for key, list := range f.list {
		if len(list) > 1 {
			return fmt.Errorf("key %s counted %d times: %q", key, len(list), list)
		}
	}
	return nil
}

func onlyTold(scripts [][]line) [][]line {
	var told []line
	for _, script := range scripts {
		for _, l := range script {
			if isTold(strings.Fields(string(l))) {
				told = append(told, l)
			}
		}
	}
	return [][]line{told}
}

func orderShapes(rt *rapid.T, book *ledger.Ledger) string {
	orders, _, err := book.ListOrders(rt.Context(), ledger.OrderFilter{})
	if err != nil {
		rt.Fatal(err)
	}
	var shapes []string
	for _, o := range orders {
		shapes = append(shapes, o.OrderID+" "+shape(o))
	}
	slices.Sort(shapes)
	return strings.Join(shapes, "\n     ")
}

// checkMessages: the shop is told of every move, once; but not of what it said itself.
func checkMessages(rt *rapid.T, book *ledger.Ledger) {
	orders, _, err := book.ListOrders(rt.Context(), ledger.OrderFilter{})
	if err != nil {
		rt.Fatal(err)
	}
	for _, o := range orders {
		h, err := book.OrderHistory(rt.Context(), o.OrderID)
		if err != nil {
			rt.Fatal(err)
		}
		messages, err := book.Messages(rt.Context(), o.OrderID)
		if err != nil {
			rt.Fatal(err)
		}
		var moves, topics []string
		closes := 0
		for _, t := range h.Transitions {
			moves = append(moves, "order."+string(t.To))
			if t.Event == string(models.OrderExpire) { // by the job, or by `close`
				closes++
			}
		}
		for _, message := range messages {
			topics = append(topics, message.Topic)
		}
		slices.Sort(moves)
		slices.Sort(topics)
		if silent := len(moves) - len(topics); silent < 0 || silent > closes {
			rt.Errorf("order %s moved %v, the shop was told %v\n%v\n%v", o.OrderID, moves, topics, h.Transitions, h.Transactions)
		}
	}
}
