package generic

import (
	"slices"
	"strconv"
	"strings"
)

// records tells the rows that count from the other lines of a file, which may have other cells (PayPal: only SB).
type records struct {
	column string
	equals []string
	ignore []string // the words of the other lines; nil: any
}

func readRecords(s *section) *records {
	o := s.object("records")
	if o == nil {
		return nil
	}
	r := &records{column: columnName(o, "column"), equals: o.texts("equals"), ignore: o.texts("ignore")}
	if r.column == "" {
		o.fail("column", "missing")
	}
	if len(r.equals) == 0 || slices.Contains(r.equals, "") {
		o.fail("equals", "missing: the word of the rows that count")
	}
	o.close()
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
		return false, r.Fail(r.records.column, "%q is neither among settings.statement.records.equals nor ignore", clip(word))
	}
	return true, nil
}

// rowKey is a name for rows that have no id of their own, made of their cells and their number: {Batch}-{row}.
type rowKey []rowKeyPart

type rowKeyPart struct{ literal, column string }

const rowNumber = "row"

func readRowKey(s *section) rowKey {
	text := s.text("row_key", "")
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
			s.fail("row_key", "%q: {COLUMN} or {row} expected", text)
			return nil
		}
		key, rest = append(key, rowKeyPart{column: name}), behind
	}
	if text != "" && !slices.ContainsFunc(key, func(p rowKeyPart) bool { return p.column != "" }) {
		s.fail("row_key", "%q has no placeholder: every row would have the same name", text)
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
