package reconcile

import (
	"cmp"
	"fmt"
	"slices"

	"paybook/models"
)

// A long report comes in several files, of which only the last one says how many rows there are in all. Each of them looks whole by
// itself, so they are held together here.

// checkParts refuses a report of which a file is missing.
func (r *run) checkParts() error {
	var parts []*input
	for _, in := range r.inputs {
		if in.twin == nil && in.statement.Part.Number > 0 {
			parts = append(parts, in)
		}
	}
	slices.SortStableFunc(parts, func(a, b *input) int {
		p, q := a.statement.Part, b.statement.Part
		return cmp.Or(cmp.Compare(p.Of, q.Of), cmp.Compare(p.Number, q.Number))
	})
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && parts[n].statement.Part.Of == parts[0].statement.Part.Of {
			n++
		}
		if err := checkReport(parts[:n]); err != nil {
			return err
		}
		parts = parts[n:]
	}
	return nil
}

// checkReport is about the files of one report, in their order.
func checkReport(files []*input) error {
	refuse := func(in *input, format string, args ...any) error {
		return &models.FileError{File: in.name, What: fmt.Sprintf(format, args...), Next: "give all files of the report, each once, or download them again"}
	}
	var rows int64
	for i, in := range files {
		p, want := in.statement.Part, int64(i)+1
		switch rows += p.Rows; {
		case p.Number < want:
			return refuse(in, "it is file %d of its report, and so is %s", p.Number, files[i-1].label)
		case p.Number > want:
			return refuse(in, "it is file %d of its report, file %d is missing", p.Number, want)
		case p.Last && i < len(files)-1:
			return refuse(files[i+1], "it is file %d of a report that ends with file %d, %s", files[i+1].statement.Part.Number, p.Number, in.label)
		case !p.Last && i == len(files)-1:
			return refuse(in, "it is file %d of its report and does not end it: file %d is missing, or the end of this one", p.Number, want+1)
		case p.Last && p.Total >= 0 && rows != p.Total:
			return refuse(in, "its report has %d rows in all files, those given have %d", p.Total, rows)
		}
	}
	return nil
}
