package ledger_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// Stories are tests that read like a record of the domain: a line is what happened, or what must then be in the book.
//
//	order ID AMOUNT CURRENCY [STATUS]            the shop creates an order
//	close ID                                     the shop gives an order up
//	own SKU N                                    the shop imports its stock
//	create ID AMOUNT CURRENCY SKU=N … [=> ERROR] the shop makes an order of items (ERROR: a part of the error's text, _ for a blank)
//	pay|ship|cancel|expire ID [VERSION] [=> ERROR]
//	stock? SKU AVAILABLE RESERVED SOLD
//	sweep                                        the periodic sweep runs
//	import|EVENT ID AMOUNT CURRENCY [key=value …] => OUTCOME
//	    keys: account order parent (with ParentAliases: a,b) alias found (FoundBy) refund_no at (HH:MM) running=yes (a running total) voids=capture payer; a line starting with "import " goes the way of an import
//	order? ID STATUS [refunded=SUM] [path=a>b>c] [messages=N]
//	row? KIND ID STATUS OUTCOME [amount=SUM] [order=ID] [at=HH:MM] [account=A] [id=… key=… parent=… event=… source=… detail=part_of_it]
//	rows? N                                      transactions in the book
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		for _, s := range readStories(t, file) {
			t.Run(s.title, func(t *testing.T) {
				ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) { s.play(t, book) }, ledger.Options{Elsewhere: []string{"elsewhere"}})
			})
		}
	}
}

type story struct {
	title string
	file  string
	first int // line number of the first line
	lines []string
}

func readStories(t *testing.T, file string) []story {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []story
	scan := bufio.NewScanner(f)
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSpace(scan.Text())
		if title, ok := strings.CutPrefix(line, "# "); ok {
			all = append(all, story{title: title, file: file, first: n + 1})
		} else if len(all) > 0 {
			all[len(all)-1].lines = append(all[len(all)-1].lines, line)
		}
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func (s story) play(t *testing.T, book *ledger.Ledger) {
	for i, line := range s.lines {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := step(t.Context(), book, words); err != nil {
			t.Fatalf("%s:%d: %s\n%v", s.file, s.first+i, line, err)
		}
	}
	checkBooks(t, book)
}

func step(ctx context.Context, book *ledger.Ledger, w []string) error {
	switch w[0] {
	case "order":
		m := sum(w[2], w[3])
		o := models.Order{OrderID: w[1], AmountMinor: m.Minor, Currency: m.Currency}
		if len(w) > 4 {
			o.Status = models.OrderStatus(w[4])
		}
		_, err := book.ImportOrders(ctx, func(yield func(models.Order, error) bool) { yield(o, nil) })
		return err
	case "close":
		return book.CloseOrder(ctx, w[1], "order.expired")
	case "own", "create", "pay", "ship", "cancel", "expire", "stock?":
		return shopStep(ctx, book, w)
	case "sweep":
		_, err := book.Sweep(ctx)
		return err
	case "order?":
		return wantOrder(ctx, book, w[1], w[2], pairs(w[3:]))
	case "row?":
		return wantRow(ctx, book, w[1], w[2], w[3], w[4], pairs(w[5:]))
	case "rows?":
		n := 0
		err := allRows(ctx, book, func(models.Transaction) { n++ })
		if err == nil && fmt.Sprint(n) != w[1] {
			err = fmt.Errorf("%d rows", n)
		}
		return err
	case "import":
		return wantImport(ctx, book, w[1:])
	}
	return wantOutcome(ctx, book, w)
}

var day = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)

func clockTime(hhmm string) time.Time {
	if hhmm == "" {
		return day.Add(12 * time.Hour)
	}
	at, err := time.Parse("15:04", hhmm)
	if err != nil {
		panic(err)
	}
	return day.Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)
}

func sum(amount, currency string) models.Money {
	m, err := models.ParseMajor(amount, currency)
	if err != nil {
		panic(err)
	}
	return m
}

func pairs(words []string) map[string]string {
	m := map[string]string{}
	for _, w := range words {
		k, v, _ := strings.Cut(w, "=")
		m[k] = v
	}
	return m
}

// event reads "KIND ID AMOUNT CURRENCY key=value …".
func event(w []string) (account string, ev models.Event) {
	p := pairs(w[4:])
	ev = models.Event{ID: "evt", Kind: models.EventKind(w[0]), TransactionID: strings.Trim(w[1], "-"), OrderID: p["order"], ParentID: p["parent"],
		RefundOrderID: p["refund_no"], Money: sum(w[2], w[3]), OccurredAt: clockTime(p["at"]), TestMode: p["mode"] == "test", VoidsCapture: p["voids"] == "capture", RunningTotal: p["running"] == "yes"}
	if p["alias"] != "" {
		ev.Aliases = strings.Split(p["alias"], ",")
	}
	if p["found"] != "" {
		ev.FoundBy = strings.Split(p["found"], ",")
	}
	if parents := strings.Split(p["parent"], ","); len(parents) > 1 {
		ev.ParentID, ev.ParentAliases = parents[0], parents[1:]
	}
	if account = p["account"]; account == "" {
		account = "a"
	}
	return account, ev
}

func wantOutcome(ctx context.Context, book *ledger.Ledger, w []string) error {
	left, want := split(w)
	account, ev := event(left)
	got, err := record(ctx, book, account, ev)
	if err == nil && string(got[0]) != want {
		err = fmt.Errorf("outcome %s", got[0])
	}
	return err
}

func wantImport(ctx context.Context, book *ledger.Ledger, w []string) error {
	left, want := split(w)
	account, ev := event(left)
	counts, err := book.ImportTransactions(ctx, func(yield func(ledger.Import, error) bool) {
		yield(ledger.Import{Account: account, Place: "row 1", Events: []models.Event{ev}}, nil)
	})
	if want == "error" {
		if err == nil {
			return fmt.Errorf("no error, but %v", counts)
		}
		return nil
	}
	if err == nil && counts[models.Outcome(want)] != 1 {
		err = fmt.Errorf("outcomes %v", counts)
	}
	return err
}

func split(w []string) (left []string, want string) {
	for i := range w {
		if w[i] == "=>" {
			return w[:i], w[i+1]
		}
	}
	panic("a line without => outcome: " + strings.Join(w, " "))
}

// record books one callback with these events, as the server would.
func record(ctx context.Context, book *ledger.Ledger, account string, events ...models.Event) ([]models.Outcome, error) {
	body := fmt.Sprintf("%v", events)
	cb := models.Callback{Account: account, Method: "POST", Path: "/callbacks/" + account, Body: []byte(body), ReceivedAt: day.Add(13 * time.Hour)}
	return book.Record(ctx, cb, events, func(models.Outcome) int { return 200 })
}

func wantOrder(ctx context.Context, book *ledger.Ledger, id, status string, p map[string]string) error {
	h, err := book.OrderHistory(ctx, id)
	if err != nil {
		return err
	}
	got := fmt.Sprintf("%s %s", id, h.Order.Status)
	want := fmt.Sprintf("%s %s", id, status)
	if r, ok := p["refunded"]; ok {
		got += " refunded=" + models.Money{Minor: h.Order.RefundedMinor, Currency: h.Order.Currency}.Text()
		want += " refunded=" + r
	}
	if path, ok := p["path"]; ok {
		steps := []string{}
		for i, tr := range h.Transitions {
			if i == 0 {
				steps = append(steps, string(tr.From))
			}
			steps = append(steps, string(tr.To))
		}
		got, want = got+" path="+strings.Join(steps, ">"), want+" path="+path
	}
	if n, ok := p["messages"]; ok {
		messages, err := book.Messages(ctx, id)
		if err != nil {
			return err
		}
		got, want = got+fmt.Sprintf(" messages=%d", len(messages)), want+" messages="+n
	}
	if got != want {
		return fmt.Errorf("got  %s\nwant %s", got, want)
	}
	return nil
}

func wantRow(ctx context.Context, book *ledger.Ledger, kind, id, status, outcome string, p map[string]string) error {
	account := p["account"]
	if account == "" {
		account = "a"
	}
	n := ledger.Name{Account: account, Kind: models.TransactionKind(kind), ID: id}
	found, err := book.FindTransactions(ctx, map[ledger.Name]bool{n: true})
	if err != nil {
		return err
	}
	t, ok := found[n]
	if !ok {
		return fmt.Errorf("no such row")
	}
	got, want := fmt.Sprintf("%s %s", t.Status, t.Outcome), fmt.Sprintf("%s %s", status, outcome)
	for k, have := range map[string]string{"amount": t.Money().Text(), "order": t.OrderID, "at": t.OccurredAt.Format("15:04"), "id": t.ShownID(), "key": t.TransactionID, "source": t.Source, "event": string(t.Event), "parent": t.ParentID} {
		if v, ok := p[k]; ok {
			got, want = got+" "+k+"="+have, want+" "+k+"="+v
		}
	}
	if part := strings.ReplaceAll(strings.TrimPrefix(p["detail"], "none"), "_", " "); !strings.Contains(t.Detail, part) || p["detail"] == "none" && t.Detail != "" {
		want += " detail=" + part
	}
	if got != want {
		return fmt.Errorf("got  %s (%s)\nwant %s", got, t.Detail, want)
	}
	return nil
}

func allRows(ctx context.Context, book *ledger.Ledger, each func(models.Transaction)) error {
	for _, account := range []string{"a", "b", "elsewhere"} {
		err := book.Transactions(ctx, account, day.AddDate(-1, 0, 0), day.AddDate(1, 0, 0), func(t models.Transaction) error { each(t); return nil })
		if err != nil {
			return err
		}
	}
	return nil
}
