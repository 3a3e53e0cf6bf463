package reconcile

import (
	"context"
	"io"

	"paybook/ledger"
	"paybook/models"
)

// stream joins the two sides. Each is read beside the joining, a few batches ahead.
func (r *run) stream(ctx context.Context) error {
	book := startPump(func(give func(*timed) error) error { return r.readBook(ctx, give) }, pumpBatch, pumpBatches)
	defer book.close()
	next := func() (*timed, error) {
		t, err := book.next()
		if t == nil {
			return nil, err
		}
		r.transactions++
		if t.status == models.StatusSucceeded {
			r.booked.local(&t.local)
		}
		return t, nil
	}
	r.match = newMatcher(next, r.from, r.to, r.account.OrdersElsewhere)
	r.match.sorting = r.sorting
	r.read = Progress{Total: sizes(r.inputs)}
	if err := r.readFiles(ctx); err != nil {
		return err
	}
	r.read.Done = r.read.Total
	r.tellProgress()
	r.progress = nil // who reads a file once more is not asked how far he is
	return r.match.finish()
}

// readBook gives the day's transactions of the kinds that are compared.
func (r *run) readBook(ctx context.Context, give func(*timed) error) error {
	var t timed
	return r.book.Movements(ctx, r.account.Name, r.from, r.to, func(m *ledger.Movement) error {
		if !m.Kind.Compared() {
			return nil
		}
		t = timed{localOfMovement(m), m.OccurredAt}
		return give(&t)
	})
}

// scan reads one file through the provider. Each entry is good until each returns.
func (r *run) scan(ctx context.Context, i int, each func(*models.Entry, place) error) error {
	rows := startPump(func(give func(*models.Entry) error) error { return r.readInput(ctx, r.inputs[i], give) }, pumpBatch, pumpBatches)
	defer rows.close()
	for n := int64(1); ; n++ {
		e, err := rows.next()
		if e == nil || err != nil {
			return err
		}
		if err := each(e, place{i, n}); err != nil {
			return err
		}
	}
}

// readInput gives the rows of one file.
func (r *run) readInput(ctx context.Context, in *input, give func(*models.Entry) error) error {
	var row int64
	var e models.Entry // the current one
	take := func(next models.Entry) error {
		row++
		r.read.Rows++
		if row%progressEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.tellProgress()
		}
		e = next
		if err := checkText(in, &e); err != nil {
			return err
		}
		return give(&e)
	}
	return in.read(r.account.Provider, func(src io.Reader) (err error) {
		in.statement, err = r.account.Provider.ReadStatement(in.name, &counted{src, &r.read.Done}, r.account.Zone, take)
		return err
	})
}

// interner keeps one copy of words that every row repeats.
type interner map[string]string

func (in interner) word(w string) string {
	if known, ok := in[w]; ok {
		return known
	}
	in[w] = w
	return w
}
