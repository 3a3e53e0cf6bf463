package redisgate

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"paybook/ledger"
	"paybook/models"
)

// Flash is the way into the book for orders of articles that many want at one moment. Redis, in one step, knows repeats and takes units;
// who gets none is told so and costs the database nothing, or, with a key that is to be good for no other order, one line of a shared
// statement. Who gets some is accepted by the database
// (ledger.AcceptOrder), which counts them itself: so however wrong Redis is, no unit is sold twice, and when Redis is away orders go the
// usual way.
type Flash struct {
	book *ledger.Ledger
	gate *Gate
	skus map[string]bool
	log  *slog.Logger
}

// NewFlash makes it for these SKUs. log may be nil.
func NewFlash(book *ledger.Ledger, gate *Gate, skus []string, log *slog.Logger) *Flash {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	f := &Flash{book: book, gate: gate, skus: map[string]bool{}, log: log}
	for _, sku := range skus {
		f.skus[sku] = true
	}
	return f
}

// SKUs are those of the flash sale, sorted.
func (f *Flash) SKUs() []string { return slices.Sorted(maps.Keys(f.skus)) }

// say words an answer.
type say = func(models.Order, error) (status int, body []byte)

// Take accepts an order whose items are all of the flash sale, counted once under its key; a refusal that is an answer comes as one. taken
// is false when the order must go the usual way: other items, or Redis is away.
func (f *Flash) Take(ctx context.Context, k ledger.Key, o ledger.NewOrder, say say) (answer ledger.Answer, taken bool, err error) {
	items := f.items(o)
	if items == nil {
		return ledger.Answer{}, false, nil
	}
	t := f.gate.ticket(uuid.NewString(), k, o.Order.OrderID, items)
	for range 1 + 2*len(items) { // each SKU may have to be loaded, and be forgotten again
		got, ok := f.ask(ctx, t)
		if !ok {
			break
		}
		switch got.what {
		case "taken", "seen":
			answer, err = f.accept(ctx, t, got, k, o, say)
			return answer, true, err
		case "late":
			answer, err = f.again(ctx, t, got, k, o, say)
			return answer, true, err
		case "out":
			answer, err = f.tooLate(ctx, t, got, k, o, say)
			return answer, true, err
		case "load":
			if !f.loaded(ctx, items[got.item].sku) {
				return ledger.Answer{}, false, nil
			}
		}
	}
	return ledger.Answer{}, false, nil
}

// loaded is false when Redis cannot be given a figure: then the order goes the usual way.
func (f *Flash) loaded(ctx context.Context, sku string) bool { return f.load(ctx, sku) == nil }

// ask is false when Redis does not answer, or not sensibly.
func (f *Flash) ask(ctx context.Context, t *ticket) (took, bool) {
	got, err := f.gate.take(ctx, t)
	return got, err == nil
}

// load gives Redis a figure of the SKU, unless somebody else has meanwhile; the next question tells.
func (f *Flash) load(ctx context.Context, sku string) error {
	_, err := f.gate.load(ctx, sku, func(ctx context.Context) (int64, error) { return f.available(ctx, sku) })
	return err
}

// items are the order's, summed by SKU and sorted; nil when the order is not for this way.
func (f *Flash) items(o ledger.NewOrder) (items []ledgerItem) {
	units := map[string]int64{}
	for _, i := range o.Items {
		if !f.skus[i.SKU] || i.Quantity < 1 || i.Quantity > unitsMost {
			return nil
		}
		units[i.SKU] += i.Quantity
	}
	for _, sku := range slices.Sorted(maps.Keys(units)) {
		items = append(items, ledgerItem{sku, units[sku]})
	}
	return items
}

// unitsMost is far below what a script's numbers hold exactly.
const unitsMost = 1 << 40

// available is what the database has of an SKU.
func (f *Flash) available(ctx context.Context, sku string) (int64, error) {
	n, _, err := f.book.StockBeside(ctx, sku, nil)
	return min(n, figureMost), err
}

// accept hands the order to the database, and tells Redis what became of it.
func (f *Flash) accept(ctx context.Context, t *ticket, got took, k ledger.Key, o ledger.NewOrder, say say) (ledger.Answer, error) {
	var refusal error
	answer, err := f.book.AcceptOrder(ctx, k, o, func(made models.Order, err error) (int, []byte) {
		refusal = err
		return say(made, err)
	})
	if got.what != "taken" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return answer, err // it has no units, or nobody knows: then they count as lost after a while, and settle finds them
	}
	how := endDone
	switch {
	case errors.As(refusal, new(*ledger.OutOfStock)) && err == nil && !answer.Replayed:
		how = endDrop
	case err != nil || refusal != nil || answer.Replayed:
		how = endGive
	}
	_ = f.gate.finish(context.WithoutCancel(ctx), t, how) // when Redis does not hear it: as above
	return answer, err
}

// again tells a repeat of one that came too late what that was told. If that got no answer the database decides.
func (f *Flash) again(ctx context.Context, t *ticket, got took, k ledger.Key, o ledger.NewOrder, say say) (ledger.Answer, error) {
	if known, ok, err := f.book.Answered(ctx, k); ok || err != nil {
		return known, err
	}
	return f.accept(ctx, t, got, k, o, say)
}

// tooLate tells that there is no more, unless the database knows the request: it may have got its units before Redis forgot it. A token of
// ours is spent by an order, not by a refusal.
func (f *Flash) tooLate(ctx context.Context, t *ticket, got took, k ledger.Key, o ledger.NewOrder, say say) (ledger.Answer, error) {
	if k.Issued() {
		if known, ok, err := f.book.Answered(ctx, k); ok || err != nil {
			return known, err
		}
	}
	item := t.items[got.item]
	status, body := say(models.Order{}, &ledger.OutOfStock{SKU: item.sku, Wanted: item.units, Available: got.left})
	answer := ledger.Answer{Status: status, Body: body}
	if k.Token == "" || k.Issued() {
		return answer, nil
	}
	return f.book.RefuseOrder(ctx, k, o, answer)
}

// alignEvery is how often Redis's figures are held against the database's: units come back when orders close, and the usual way takes some.
const alignEvery = 2 * time.Second

// Run keeps Redis's figures what the database says, until ctx ends. Every replica may.
func (f *Flash) Run(ctx context.Context) {
	tick := time.NewTicker(alignEvery)
	defer tick.Stop()
	for {
		for _, sku := range f.SKUs() {
			if err := f.align(ctx, sku); err != nil {
				f.log.Debug("flash sale: not compared", "sku", sku, "error", err.Error())
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// align sets an SKU's figure to the database's, also while requests are under way. One that nobody has asked for yet stays away.
func (f *Flash) align(ctx context.Context, sku string) error {
	have, err := f.gate.look(ctx, sku)
	if err != nil || have.state == figureNone {
		return err
	}
	_, err = f.settle(ctx, sku)
	return err
}

const settleTries = 5

// settle makes an SKU's figure what it should be, and is false when orders were taken at each moment at which it tried.
func (f *Flash) settle(ctx context.Context, sku string) (bool, error) {
	for range settleTries {
		have, err := f.gate.look(ctx, sku)
		if err != nil {
			return false, err
		}
		want, err := f.want(ctx, sku, have)
		if err != nil {
			return false, err
		}
		if have.state == figureOurs && have.left == want.left && have.lost == 0 && len(want.counted) == len(have.flying) {
			return true, nil
		}
		done, err := f.gate.put(ctx, sku, have.version, want.left, want.counted)
		if done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// wanted is what an SKU's figure should be.
type wanted struct {
	left      int64
	available int64    // what the database has
	held      int64    // units of it for orders that are under way to it
	counted   []string // the requests of these
}

// want asks the database. Units of an order that it knows are counted there already; those of the others are held for them for a while.
func (f *Flash) want(ctx context.Context, sku string, have figure) (wanted, error) {
	var orders []string
	for _, r := range have.flying {
		orders = append(orders, r.order)
	}
	n, known, err := f.book.StockBeside(ctx, sku, orders)
	w := wanted{available: min(n, figureMost)}
	for _, r := range have.flying {
		if !known[r.order] {
			w.held += r.units
			w.counted = append(w.counted, r.id)
		}
	}
	w.left = max(0, w.available-w.held)
	return w, err
}
