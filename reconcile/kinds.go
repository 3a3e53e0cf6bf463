package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"paybook/models"
)

// unknownKind is a word for a kind that the reader of a file does not know, with its rows.
type unknownKind struct {
	word  string
	count int64
	line  int // of the first
}

// unknownMax bounds the words that are told; a file that has more of them has another layout.
const unknownMax = 20

func (s *sheet) noteKind(e *models.Entry) {
	if e.UnknownKind == "" {
		return
	}
	s.unknowns++
	i := slices.IndexFunc(s.unknown, func(u *unknownKind) bool { return u.word == e.UnknownKind })
	switch {
	case i >= 0:
		s.unknown[i].count++
	case len(s.unknown) < unknownMax:
		s.unknown = append(s.unknown, &unknownKind{e.UnknownKind, 1, e.Line})
	}
}

// judgeKinds tells of rows that could not be compared because nobody knows what they are. A file of nothing else was not read at all.
func (r *run) judgeKinds(in *input, s *sheet) error {
	if s.unknowns > 0 && s.unknowns == s.entries {
		first := s.unknown[0]
		return &models.FileError{File: in.name, Line: first.line, What: fmt.Sprintf("%q is no kind of row we know, and none of the %d rows is of a kind we know",
			first.word, s.entries), Next: "is it this account's statement, and are its kinds configured (settings.statement.kinds)?"}
	}
	for _, u := range s.unknown {
		r.note("%s: kind %q is a word we do not know: %s, the first is row %d; counted as an adjustment, not compared", in.label, u.word,
			plural(int(u.count), "row"), u.line)
	}
	return nil
}

// checkText refuses what no database holds, before anything is made of it.
func checkText(in *input, e *models.Entry) error {
	for _, cell := range [...]struct{ what, text string }{
		{"transaction id", e.TransactionID}, {"parent id", e.ParentID}, {"order id", e.OrderID}, {"refund number", e.RefundOrderID},
		{"status", e.StatusText}, {"kind", e.UnknownKind}, {"further name", strings.Join(e.Aliases, "")},
	} {
		if !utf8.ValidString(cell.text) || strings.IndexByte(cell.text, 0) >= 0 {
			return &models.FileError{File: in.name, Line: e.Line, What: cell.what + ": holds bytes that are no text",
				Next: "is the file damaged, or in another encoding than configured?"}
		}
	}
	return nil
}

// covers says whether the day's files can hold rows of this kind at all. Declared to have no statement, the day is covered.
func (r *run) covers(kind models.TransactionKind) bool {
	if len(r.inputs) == 0 {
		return true
	}
	return slices.ContainsFunc(r.inputs, func(in *input) bool {
		return in.twin == nil && in.statement.Compared && (in.statement.Only == "" || in.statement.Only == kind)
	})
}

// noteUncovered tells of the book's rows that no file of the day could have.
func (r *run) noteUncovered(counts map[models.TransactionKind]int) {
	for _, kind := range kindOrder {
		if n := counts[kind]; n > 0 {
			r.note("the files given hold no %ss by their nature: %s of the book not looked for", kindWords[kind], plural(n, kindWords[kind]))
		}
	}
}
