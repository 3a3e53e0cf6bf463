package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"paybook/ledger"
	"paybook/models"
)

// act is one provider's part of the story.
type act struct {
	*demo
	account *Account
	orders  []models.Order
	states  map[string]models.OrderStatus // as last seen, by order
	late    string                        // the order that the shop creates after its callback has come
	seeds   int
	lines   []line
}

// line is one callback and what it did.
type line struct {
	name     string // the file's, as words
	got      replayed
	order    string
	from, to models.OrderStatus
	early    bool // it came before its order
}

func (d *demo) play(ctx context.Context, account *Account) error {
	x := &act{demo: d, account: account, states: map[string]models.OrderStatus{}}
	recordings, err := readRecordings([]string{x.file("callbacks")})
	if err != nil {
		return err
	}
	x.late = firstPaid(recordings)
	if err := x.openShop(ctx); err != nil {
		return err
	}
	for _, rec := range recordings {
		if err := x.deliver(ctx, rec); err != nil {
			return err
		}
	}
	x.print(len(recordings))
	if err := x.checkLedger(ctx); err != nil {
		return err
	}
	return x.reconcile(ctx)
}

// file is a file of this provider's kit.
func (x *act) file(name string) string { return filepath.Join(x.dir, x.account.Name, name) }

// differ notes something that came out otherwise than the kit says.
func (x *act) differ(format string, args ...any) {
	x.demo.differ("%s", x.account.Name+": "+fmt.Sprintf(format, args...))
}

// firstPaid is the order of the first payment that is to be applied: it will be created late.
func firstPaid(recordings []recording) string {
	for _, rec := range recordings {
		if rec.Expect.Effect == "apply" && strings.HasPrefix(rec.Expect.Event, "payment.") {
			return rec.Expect.OrderID
		}
	}
	return ""
}

// openShop creates the orders, all but the late one, and books what the shop brings along from before.
func (x *act) openShop(ctx context.Context) error {
	orders, err := x.readOrders()
	if err != nil {
		return err
	}
	x.orders = orders
	if _, err := x.book.ImportOrders(ctx, x.theOrders(func(o models.Order) bool { return o.OrderID != x.late })); err != nil {
		return err
	}
	if err := x.bookSeeds(ctx); err != nil {
		return err
	}
	ids := make([]string, len(orders))
	for i, o := range orders {
		ids[i] = o.OrderID
	}
	known, err := x.book.Orders(ctx, ids)
	for id, o := range known {
		x.states[id] = o.Status
	}
	return err
}

func (x *act) theOrders(which func(models.Order) bool) iter.Seq2[models.Order, error] {
	return func(yield func(models.Order, error) bool) {
		for _, o := range x.orders {
			if which(o) && !yield(o, nil) {
				return
			}
		}
	}
}

func (x *act) readOrders() (orders []models.Order, err error) {
	rows, closeFile, err := x.a.openRows(x.file("orders.json"), orderColumns)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	reader := &orderReader{file: x.file("orders.json"), rows: rows}
	_, err = importAll(x.a, reader.read, rows, func(seq iter.Seq2[models.Order, error]) (int, error) {
		for o, err := range seq {
			if err != nil {
				return 0, err
			}
			orders = append(orders, o)
		}
		return len(orders), nil
	})
	return orders, err
}

func (x *act) bookSeeds(ctx context.Context) error {
	file := x.file("seed_transactions.json")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	rows, closeFile, err := x.a.openRows(file, transactionColumns)
	if err != nil {
		return err
	}
	defer closeFile()
	reader, err := newTransactionReader(x.conf, x.account.Name, file, rows)
	if err != nil {
		return err
	}
	result, err := importAll(x.a, reader.read, rows, func(seq iter.Seq2[ledger.Import, error]) (int, error) {
		_, err := x.book.ImportTransactions(ctx, reader.reversalsLast(seq))
		return 0, err
	})
	x.seeds = result.Rows
	return err
}

// deliver sends one callback and looks at what became of it and of its order.
func (x *act) deliver(ctx context.Context, rec recording) error {
	got, err := x.send(ctx, rec)
	if err != nil {
		return err
	}
	l := line{name: wordsOf(rec.file)}
	if got.inside != nil && len(got.inside.Outcomes) > 0 && x.late != "" && rec.Expect.OrderID == x.late {
		if err := x.orderComes(ctx, &l, &got, rec); err != nil {
			return err
		}
	}
	l.got = compare(rec, got)
	for _, diff := range l.got.Diff {
		x.differ("%s: %s", filepath.Base(rec.file), diff)
	}
	x.count(l.got)
	if got.inside != nil && len(got.inside.Events) > 0 {
		if l.order, err = x.orderOf(ctx, got.inside.Events[0]); err != nil {
			return err
		}
	}
	if l.order != "" {
		l.from = x.states[l.order]
		known, err := x.book.Orders(ctx, []string{l.order})
		if err != nil {
			return err
		}
		l.to = known[l.order].Status
		x.states[l.order] = l.to
	}
	x.lines = append(x.lines, l)
	return nil
}

// orderComes is the shop's database being slower than the provider: the callback was kept and answered with success, and when its
// order is created it is applied without being sent again.
func (x *act) orderComes(ctx context.Context, l *line, got *answer, rec recording) error {
	late := x.late
	x.late = ""
	if first := got.inside.Outcomes[0]; first != models.OutcomeNoOrder {
		x.differ("%s: came before its order: got %q, want %q", filepath.Base(rec.file), first, models.OutcomeNoOrder)
		return nil
	}
	if _, err := x.book.ImportOrders(ctx, x.theOrders(func(o models.Order) bool { return o.OrderID == late })); err != nil {
		return err
	}
	found, err := x.book.FindTransactions(ctx, namesFor(x.account, models.Payment, got.inside.Events[0].TransactionID))
	if err != nil {
		return err
	}
	l.early = true
	x.states[late] = models.Unpaid
	for _, t := range found {
		got.inside.Outcomes[0], got.inside.Outcome = t.Outcome, t.Outcome
	}
	return nil
}

// orderOf finds the order that an event is about, which the message itself need not name.
func (x *act) orderOf(ctx context.Context, ev models.Event) (string, error) {
	if ev.OrderID != "" {
		return ev.OrderID, nil
	}
	names := namesFor(x.account, models.Payment, ev.ParentID)
	maps.Copy(names, namesFor(x.account, models.Refund, ev.TransactionID))
	maps.Copy(names, namesFor(x.account, models.Chargeback, ev.TransactionID))
	found, err := x.book.FindTransactions(ctx, names)
	for _, t := range found {
		if t.OrderID != "" {
			return t.OrderID, err
		}
	}
	return "", err
}

func namesFor(a *Account, kind models.TransactionKind, ids ...string) map[ledger.Name]bool {
	names := make(map[ledger.Name]bool, len(ids))
	for _, id := range ids {
		if id != "" {
			names[ledger.Name{Account: a.Name, Kind: kind, ID: id}] = true
		}
	}
	return names
}

func (d *demo) count(r replayed) {
	d.callbacks++
	if r.Verified {
		d.became[r.outcome]++
	} else {
		d.refused++
	}
}

// wordsOf makes "02_duplicate_delivery.json" say "duplicate delivery".
func wordsOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	return strings.ReplaceAll(strings.TrimLeft(name, "0123456789_"), "_", " ")
}
