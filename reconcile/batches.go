package reconcile

import (
	"context"
	"fmt"
	"slices"
)

// A settlement batch is numbered instead of dated, so the pattern that finds it today finds it tomorrow too. It belongs to the run that
// read it first: another day's run would tell its gaps once more, under another date.

// leaveOutBatches sets aside what the runs of other dates have read.
func (r *run) leaveOutBatches(ctx context.Context) error {
	contents := make([]string, 0, len(r.inputs))
	for _, in := range r.inputs {
		contents = append(contents, in.content)
	}
	batches, err := r.book.BatchesElsewhere(ctx, r.account.Name, r.day.String(), contents)
	if err != nil {
		return err
	}
	r.inputs = slices.DeleteFunc(r.inputs, func(in *input) bool {
		b, elsewhere := batches[in.content]
		if elsewhere {
			in.ownedBy, in.statement.Only = b.Date, b.Only
			r.left = append(r.left, in)
			r.note("%s: a batch read by the run of %s, left out", in.label, b.Date)
		}
		return elsewhere
	})
	r.files = slices.DeleteFunc(r.files, func(f *outer) bool {
		return !slices.ContainsFunc(r.inputs, func(in *input) bool { return in.outer == f }) &&
			slices.ContainsFunc(r.left, func(in *input) bool { return in.outer == f })
	})
	for _, in := range r.inputs {
		if in.twin != nil {
			r.note("%s: the same statement as %s, read once", in.label, in.twin.label)
		}
	}
	return nil
}

// nothingNew is about a day whose files have all been read by the runs of other days. Where the files were found by a pattern that is
// no error: a batch settler has days without a batch.
func (r *run) nothingNew() error {
	for _, in := range r.left {
		if in.file.Named {
			return fmt.Errorf("%s is a batch that belongs to the run of %s, which has read it; run %s again for it, or give the batch of %s",
				in.label, in.ownedBy, in.ownedBy, r.day)
		}
	}
	return nil
}

// leftOut lists them for the report.
func (r *run) leftOut() []LeftOut {
	var list []LeftOut
	for _, in := range r.left {
		list = append(list, LeftOut{Name: in.label, Date: in.ownedBy})
	}
	return list
}
