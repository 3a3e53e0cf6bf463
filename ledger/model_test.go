package ledger_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// Whatever happens, in whatever order: the ledger does what the contract says, as a plain model of maps understands it. STEPS is how many
// steps are told on each database; without it they are the same every time, so that a red build is the change's doing.
func TestModel(t *testing.T) {
	far := pace(t, 2000, 80)
	clock := &modelClock{}
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		met := seen{}
		rapid.Check(t, func(rt *rapid.T) {
			m := newMachine(t, book, clock, func(text string) { rt.Fatal(text) })
			m.seen = met
			rt.Repeat(map[string]func(*rapid.T){"": func(*rapid.T) { m.check() }, "step": func(rt *rapid.T) { m.step(lines.Draw(rt, "line")) }})
			m.compareAll()
			m.tellAgain()
		})
		if missing := met.missing(); far && !t.Failed() && len(missing) > 0 {
			t.Errorf("no script met %v", missing)
		}
	}, clock.options())
}

// A script that failed can be told again: MODEL_SCRIPT is a file with its lines. What it does not need to fail is left out.
func TestModelScript(t *testing.T) {
	file := ledgertest.Env("MODEL_SCRIPT", "")
	if file == "" {
		t.Skip("no MODEL_SCRIPT")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines, _, _ := strings.Cut(string(text), onceMore)
	script := slices.DeleteFunc(strings.Split(lines, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	clock := &modelClock{}
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		left := slices.Clone(script)
		for size := len(left); size >= 1; size /= 2 {
			for i := 0; i+size <= len(left); {
				if less := slices.Delete(slices.Clone(left), i, i+size); tellScript(t, book, clock, less) != "" {
					left = less
				} else {
					i += size
				}
			}
		}
		if why := tellScript(t, book, clock, left); why != "" {
			t.Error(why)
		}
	}, clock.options())
}

// tellScript says why a script fails, "" when it does not.
func tellScript(t *testing.T, book *ledger.Ledger, clock *modelClock, script []string) (why string) {
	m := newMachine(t, book, clock, func(text string) { panic(text) })
	defer func() {
		if text, ok := recover().(string); ok {
			why = text
		}
	}()
	for _, l := range script {
		l, _, _ = strings.Cut(l, " => ")
		m.step(line(strings.TrimSpace(l)))
		m.check()
	}
	m.compareAll()
	m.tellAgain()
	return ""
}

// pace sets how many scripts of how many steps on average rapid tells. far: enough of them to meet everything there is.
func pace(t *testing.T, steps, perScript int) (far bool) {
	t.Helper()
	settings := map[string]string{}
	asked := ledgertest.Env("STEPS", "")
	if asked == "" {
		settings["rapid.seed"] = "1"
	} else if n, err := strconv.Atoi(asked); err != nil {
		t.Fatal("STEPS: ", err)
	} else {
		steps = n
	}
	if raced {
		steps /= 5
	}
	settings["rapid.checks"], settings["rapid.steps"] = strconv.Itoa(max(steps/perScript, 1)), strconv.Itoa(perScript)
	far = asked == "" && !raced || steps >= 20_000
	flag.Visit(func(f *flag.Flag) { // what was asked for holds
		_, ours := settings[f.Name]
		far = far && !ours
		delete(settings, f.Name)
	})
	for name, value := range settings {
		f := flag.Lookup(name)
		was := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(was) })
	}
	return far
}

// machine does every step twice, in the book and in the model, and compares.
type machine struct {
	ctx    context.Context
	book   *ledger.Ledger
	ideal  *ideal // nil: side by side with others, when it cannot say what comes of a step
	clock  *modelClock
	tokens map[string]string // by the script's name for it: what was issued
	seen   seen
	script []string
	told   []line            // of them, the callbacks
	stop   func(text string) // ends the script
}

func newMachine(t *testing.T, book *ledger.Ledger, clock *modelClock, stop func(string)) *machine {
	if err := book.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.micros.Store(modelStart.UnixMicro())
	return &machine{ctx: t.Context(), book: book, ideal: newIdeal(), clock: clock, tokens: map[string]string{}, seen: seen{}, stop: stop}
}

// modelClock is the book's clock, which moves when a script says so.
type modelClock struct{ micros atomic.Int64 }

func (c *modelClock) now() time.Time          { return time.UnixMicro(c.micros.Load()).UTC() }
func (c *modelClock) move(by time.Duration)   { c.micros.Add(by.Microseconds()) }
func (c *modelClock) options() ledger.Options { return ledger.Options{Now: c.now} }

// step is one line of the script.
func (m *machine) step(l line) {
	words := strings.Fields(string(l))
	m.clock.move(time.Millisecond)
	m.ideal.now = m.clock.now()
	got, err := m.do(words)
	if err != nil {
		m.script = append(m.script, string(l))
		m.fail("%s\n%v", l, err)
	}
	want := m.ideal.do(words)
	m.script = append(m.script, string(l)+" => "+want)
	m.seen.all(want)
	if isTold(words) {
		m.told = append(m.told, l)
	}
	if got != want {
		m.fail("%s\n  got  %s\n  want %s", l, got, want)
	}
	if len(m.script)%50 == 0 {
		m.compareAll()
	}
}

// onceMore stands in a script where its callbacks are told again.
const onceMore = "// once more:"

// tellAgain delivers every callback once more: no order moves.
func (m *machine) tellAgain() {
	before := map[string]string{}
	for id, o := range m.ideal.orders {
		before[id] = shape(o.Order)
	}
	m.script = append(m.script, onceMore)
	for _, l := range slices.Clone(m.told) {
		m.step(l)
		m.check()
	}
	after := map[string]string{}
	for id, o := range m.ideal.orders {
		after[id] = shape(o.Order)
	}
	m.same("orders, after every callback was told again", after, before)
	m.compareAll()
}

func (m *machine) fail(format string, args ...any) {
	m.stop(fmt.Sprintf(format, args...) + "\n\nthe script, with what the model says:\n" + strings.Join(m.script, "\n") + "\n")
}

// do lets a line happen in the book and says what came of it.
func (m *machine) do(w []string) (string, error) {
	switch w[0] {
	case "sweep":
		_, err := m.book.Sweep(m.ctx)
		return "", err
	case "later":
		m.clock.move(length(w[1]))
		return "", nil
	case "order", "close":
		return said(step(m.ctx, m.book, w))
	case "own":
		items, _ := itemsOf(w[1:])
		return said(importStock(m.ctx, m.book, items...))
	case "expire":
		return m.expire()
	case "create":
		_, err := m.book.CreateOrder(m.ctx, asked(w))
		return said(err)
	case "pay", "ship", "cancel":
		_, err := m.book.Act(m.ctx, m.act(w))
		return said(err)
	case "token":
		t, err := m.book.IssueToken(m.ctx, "", "cart", length(w[2]))
		m.tokens[w[1]] = t.Token
		return "", err
	case "once":
		return m.once(w[1], w[2:])
	case "import":
		return m.request(w[1:])
	}
	return m.callback(w)
}

// said puts a refusal into the model's words. Any other error is no answer.
func said(err error) (string, error) {
	var stale *ledger.StaleVersion
	var not *ledger.NotInState
	var out *ledger.OutOfStock
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, new(*ledger.OrderConflict)), errors.As(err, new(*ledger.StockConflict)):
		return "refused", nil
	case errors.As(err, new(*ledger.OrderExists)):
		return "exists", nil
	case errors.As(err, &out):
		return fmt.Sprintf("out of stock: %s %d of %d", out.SKU, out.Wanted, out.Available), nil
	case errors.As(err, &stale):
		return fmt.Sprintf("stale: %s v%d", stale.Status, stale.Current), nil
	case errors.As(err, &not):
		return fmt.Sprintf("not allowed: %s v%d", not.Status, not.Version), nil
	case errors.Is(err, ledger.ErrNotFound):
		return "not found", nil
	case errors.Is(err, ledger.ErrTokenUnknown):
		return "unknown", nil
	case errors.Is(err, ledger.ErrTokenExpired):
		return "expired", nil
	case errors.Is(err, ledger.ErrTokenSpent):
		return "spent", nil
	}
	return "", err
}

// expire closes what is due. Nothing that is due is left noted, closed by it or not.
func (m *machine) expire() (string, error) {
	n, err := m.book.Expire(m.ctx, 1000)
	if err != nil {
		return "", err
	}
	left, err := m.book.Due(m.ctx)
	if left > 0 && m.ideal != nil { // side by side others may have become due since
		m.fail("%d orders are still noted for closing", left)
	}
	return fmt.Sprintf("closed %d", n), err
}

func asked(w []string) ledger.NewOrder {
	money := sum(w[2], w[3])
	items, until := itemsOf(w[4:])
	return ledger.NewOrder{Order: models.Order{OrderID: w[1], AmountMinor: money.Minor, Currency: money.Currency, ExpiresAt: until}, Items: items}
}

// act is the shop's act; "now" is the version that the order has, by the book.
func (m *machine) act(w []string) ledger.Act {
	a := ledger.Act{OrderID: w[1], On: models.EventKind("order." + w[0])}
	if len(w) > 2 {
		found, err := m.book.Orders(m.ctx, w[1:2])
		if err != nil {
			m.fail("%v", err)
		}
		a.Version = max(found[w[1]].Version, 1)
		if w[2] == "stale" {
			a.Version++
		}
	}
	return a
}

// once does a line under a key. What it is told is the answer in the model's words.
func (m *machine) once(name string, w []string) (string, error) {
	token := name
	if strings.HasPrefix(name, "T") {
		token = cmp.Or(m.tokens[name], "tok_never_issued")
	}
	k := ledger.Key{Token: token, Fingerprint: strings.Join(w, " ")}
	say := func(_ models.Order, refusal error) (int, []byte) {
		text, err := said(refusal)
		if err != nil {
			m.fail("asked to word %v", err)
		}
		return 200, []byte(text)
	}
	var answer ledger.Answer
	var err error
	if w[0] == "create" {
		answer, err = m.book.CreateOrderOnce(m.ctx, k, asked(w), say)
	} else {
		answer, err = m.book.ActOnce(m.ctx, k, m.act(w), say)
	}
	switch {
	case err != nil:
		return said(err)
	case answer.Replayed:
		return "again: " + string(answer.Body), nil
	}
	return string(answer.Body), nil
}

func (m *machine) callback(w []string) (string, error) {
	account, events := parse(w)
	outcomes, err := record(m.ctx, m.book, account, events...)
	return fmt.Sprint(outcomes), err
}

func (m *machine) request(w []string) (string, error) {
	account, events := parse(w)
	counts, err := m.book.ImportTransactions(m.ctx, func(yield func(ledger.Import, error) bool) {
		yield(ledger.Import{Account: account, Place: "row 1", Events: events}, nil)
	})
	for outcome := range counts {
		return string(outcome), err
	}
	return "", err
}

// isTold says whether a line is a provider's, or the shop's request of a refund.
func isTold(w []string) bool { return strings.Contains(w[0], ".") || w[0] == "import" }

// parse reads the events of one callback.
func parse(w []string) (account string, events []models.Event) {
	for _, text := range strings.Split(strings.Join(w, " "), " & ") {
		var ev models.Event
		account, ev = event(strings.Fields(text))
		events = append(events, ev)
	}
	return account, events
}
