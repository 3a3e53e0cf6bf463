package reconcile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"paybook/ledger"
	"paybook/models"
)

// finding is a gap before it is written down.
type finding struct {
	verdict
	entry *held               // nil: not in the statement
	row   *models.Transaction // nil: not in the book
	rows  []*held             // rows that repeat or contradict one another
	waits []string            // days that may still explain it
	of    *models.Gap         // of another day, decided by this run
}

func (r *run) found(f finding) {
	r.findings = append(r.findings, f)
	r.clues.add(&f)
}

// gapID names a difference, whatever kind it turns out to be: a missing payment that comes in with another amount is the same gap
// with new evidence. Only a repeated row stands beside the gap its movement may have.
func gapID(account, date string, n name, kind models.GapKind) string {
	h := sha256.New()
	for _, part := range []string{account, date, string(n.kind), n.id} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	if kind == models.GapDuplicateEntry {
		h.Write([]byte(kind))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// writeFindings turns what was found into gaps, with their orders, once it is so much that a look into the book is worth it: the rows behind
// findings take far more room than their gaps.
func (r *run) writeFindings(ctx context.Context, least int) error {
	if len(r.findings) < least {
		return nil
	}
	err := eachChunk(r.findings, bookChunk, func(chunk []finding) error {
		if err := r.nameParents(ctx, chunk); err != nil {
			return err
		}
		orders, err := r.ordersOf(ctx, chunk)
		if err == nil {
			r.writeGaps(chunk, orders)
		}
		return err
	})
	clear(r.findings)
	r.findings = r.findings[:0]
	return err
}

// finishGaps writes what is left, and adds the hints that only all gaps together give.
func (r *run) finishGaps(ctx context.Context) error {
	if err := r.writeFindings(ctx, 0); err != nil {
		return err
	}
	for _, g := range r.gaps {
		g.Reason += r.clues.of(g)
	}
	r.findings, r.seen, r.clues, r.used, r.words = nil, nil, clues{}, nil, interner{}
	return nil
}

// bookChunk is how many rows of the book are asked for at once: what is known of them is in memory until they are settled.
const bookChunk = 1000

func eachChunk[T any](list []T, size int, f func([]T) error) error {
	for chunk := range slices.Chunk(list, size) {
		if err := f(chunk); err != nil {
			return err
		}
	}
	return nil
}

// nameParents finds the order of a refund or chargeback whose row names only its payment, by whatever name.
func (r *run) nameParents(ctx context.Context, findings []finding) error {
	names := map[ledger.Name]bool{}
	parent := func(f *finding) (n ledger.Name, wanted bool) {
		if f.entry == nil || f.entry.ParentID == "" || f.orderID() != "" {
			return n, false
		}
		return ledger.Name{Account: r.account.Name, Kind: models.Payment, ID: f.entry.ParentID}, true
	}
	for i := range findings {
		if n, wanted := parent(&findings[i]); wanted {
			names[n] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	payments, err := r.book.FindTransactions(ctx, names)
	if err != nil {
		return err
	}
	for i := range findings {
		if n, wanted := parent(&findings[i]); wanted {
			if p, known := payments[n]; known {
				findings[i].entry.OrderID, findings[i].entry.ParentID = p.OrderID, p.TransactionID
			}
		}
	}
	return nil
}

func (r *run) ordersOf(ctx context.Context, findings []finding) (map[string]models.Order, error) {
	ids := map[string]bool{}
	for i := range findings {
		ids[findings[i].orderID()] = true
	}
	delete(ids, "")
	return r.book.Orders(ctx, slices.Collect(maps.Keys(ids)))
}

func (r *run) writeGaps(findings []finding, orders map[string]models.Order) {
	for _, f := range findings {
		g := r.gap(f)
		for n := 2; r.seen[g.ID]; n++ { // two differences of one name, against all rules: both are told
			g.ID = gapID(g.Account, g.Date, name{g.EntryKind, fmt.Sprintf("%s#%d", g.TransactionID, n)}, g.Kind)
		}
		r.seen[g.ID] = true
		if o, known := orders[g.OrderID]; known {
			side := bookedOrder(&o)
			g.Order = &side
		}
		g.Reason, g.Next = r.reason(&f, &g), r.words.word(r.next(&f, &g))
		r.gaps = append(r.gaps, &g)
		if r.row != nil && f.entry != nil {
			r.row(g, f.entry.Entry)
		}
	}
}

func (f *finding) orderID() string {
	switch {
	case f.entry != nil && f.entry.OrderID != "":
		return f.entry.OrderID
	case f.row != nil:
		return f.row.OrderID
	}
	return ""
}

// gap is a finding's row, but for its words.
func (r *run) gap(f finding) models.Gap {
	g := models.Gap{Account: r.account.Name, Date: r.day.String(), Kind: f.kind, Differs: f.differs, State: models.GapOpen, OrderID: f.orderID()}
	var of name
	if t := f.row; t != nil {
		of = name{t.Kind, t.ShownID()}
		g.ParentID, g.RefundOrderID = t.ParentID, t.RefundOrderID
		g.Ledger = &models.Side{Amount: t.Money().Text(), Currency: t.Currency, Status: string(t.Status)}
	}
	if e := f.entry; e != nil {
		of = identity(&e.Entry)
		if g.Ledger != nil && e.FeeDue.Currency != "" {
			g.Ledger.Fee = feeText(e.FeeDue, g.Ledger.Currency)
		}
		g.ParentID, g.RefundOrderID = cmp.Or(e.ParentID, g.ParentID), cmp.Or(e.RefundOrderID, g.RefundOrderID)
		if f.of == nil {
			g.Statement = r.side(e)
		} else {
			g.Statement = f.of.Statement
		}
	}
	g.EntryKind, g.TransactionID = of.kind, of.id
	if r.waits(f.waits, of.kind) {
		g.State = models.GapCarried
		slices.Sort(f.waits)
		g.WaitsFor = slices.Compact(f.waits)
	}
	g.ID = gapID(g.Account, g.Date, of, g.Kind)
	if f.of != nil {
		g.ID, g.Date, g.WaitsFor, g.DecidedOn = f.of.ID, f.of.Date, f.of.WaitsFor, r.day.String()
		g.TransactionID = f.of.TransactionID
	}
	return g
}

func bookedOrder(o *models.Order) models.Side {
	return models.Side{Amount: o.Money().Text(), Currency: o.Currency, Status: string(o.Status)}
}

func (r *run) side(e *held) *models.Side {
	s := &models.Side{Amount: e.Money.Text(), Currency: e.Money.Currency, Status: string(e.Status),
		File: r.inputs[e.place.file].label, Line: e.Line}
	if e.FeeDue.Currency != "" {
		s.Fee = feeText(e.Fee, s.Currency)
	}
	return s
}

// gapKinds is the order in which kinds are listed.
var gapKinds = []models.GapKind{
	models.GapMissingLocal, models.GapMissingProvider, models.GapConflict, models.GapCurrency, models.GapAmount, models.GapStatus,
	models.GapUnknownStatus, models.GapDuplicateEntry, models.GapWrongDay, models.GapUnknownOrder, models.GapPaidAfterClose,
	models.GapDuplicatePayment, models.GapNotAllowed, models.GapFee, models.GapPayout,
}

// SortedKinds are the kinds that a map has something of, in the order in which they are listed.
func SortedKinds[T any](of map[models.GapKind]T) []models.GapKind {
	place := func(k models.GapKind) int {
		if i := slices.Index(gapKinds, k); i >= 0 {
			return i
		}
		return len(gapKinds)
	}
	return slices.SortedFunc(maps.Keys(of), func(a, b models.GapKind) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
}

func sortGaps(gaps []*models.Gap) {
	slices.SortFunc(gaps, func(a, b *models.Gap) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(slices.Index(gapKinds, a.Kind), slices.Index(gapKinds, b.Kind)),
			cmp.Compare(slices.Index(kindOrder, a.EntryKind), slices.Index(kindOrder, b.EntryKind)),
			cmp.Compare(a.TransactionID, b.TransactionID), cmp.Compare(a.ID, b.ID))
	})
}
