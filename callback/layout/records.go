package layout

import (
	"slices"
	"strconv"
	"strings"

	"paybook/callback/parse"
)

// records tells the rows that count from the other lines of a file, which may have other cells (PayPal: only SB).
type records struct {
	column string
	equals []string
	ignore []string // the words of the other lines; nil: any
}

func readRecords(s *parse.Section) *records {
	o := s.Object("records")
	if o == nil {
		return nil
	}
	r := &records{column: columnName(o, "column"), equals: o.Texts("equals"), ignore: o.Texts("ignore")}
	if r.column == "" {
		o.Fail("column", "missing")
	}
	if len(r.equals) == 0 || slices.Contains(r.equals, "") {
		o.Fail("equals", "missing: the word of the rows that count")
	}
	o.Close()
	return r
}

// otherRecord is true for a line that is no record. rowErr is what is wrong with its cells, which is only then no matter.
func (r *rowReader) otherRecord(rowErr error) (bool, error) {
	word := r.Get(r.records.column)
	switch {
	case slices.Contains(r.records.equals, word):
		return false, rowErr
	case word == "":
		if rowErr != nil {
			return false, rowErr
		}
		return false, r.Fail(r.records.column, "empty: is the row a record or not?")
	case r.records.ignore != nil && !slices.Contains(r.records.ignore, word):
		return false, r.Fail(r.records.column, "%q is neither among %s.records.equals nor ignore", clip(word), r.path)
	}
	return true, nil
}

// rowKey is a name for rows that have no id of their own, made of their cells and their number: {Batch}-{row}.
type rowKey []rowKeyPart

type rowKeyPart struct{ literal, column string }

const rowNumber = "row"

func readRowKey(s *parse.Section) rowKey {
	text := s.Text("row_key", "")
	var key rowKey
	for rest := text; rest != ""; {
		literal, after, open := strings.Cut(rest, "{")
		if literal != "" {
			key = append(key, rowKeyPart{literal: literal})
		}
		if !open {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		if name = squeezed(name); !closed || name == "" {
			s.Fail("row_key", "%q: {COLUMN} or {row} expected", text)
			return nil
		}
		key, rest = append(key, rowKeyPart{column: name}), behind
	}
	if text != "" && !slices.ContainsFunc(key, func(p rowKeyPart) bool { return p.column != "" }) {
		s.Fail("row_key", "%q has no placeholder: every row would have the same name", text)
	}
	return key
}

func (k rowKey) columns() (names []string) {
	for _, p := range k {
		if p.column != rowNumber {
			names = append(names, p.column)
		}
	}
	return names
}

func (k rowKey) of(r *rowReader) string {
	var b strings.Builder
	for _, p := range k {
		switch p.column {
		case "":
			b.WriteString(p.literal)
		case rowNumber:
			b.WriteString(strconv.Itoa(r.number))
		default:
			b.WriteString(r.Get(p.column))
		}
	}
	return b.String()
}
