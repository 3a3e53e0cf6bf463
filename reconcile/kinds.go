package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"paybook/models"
	"paybook/reconcile/lang"
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
		s.unknown = append(s.unknown, &unknownKind{strings.Clone(e.UnknownKind), 1, e.Line})
	}
}

// judgeKinds tells of rows that could not be compared because nobody knows what they are, and of payouts that are there twice. A file of nothing else was not read at all.
func (r *run) judgeKinds(in *input, s *sheet) error {
	if s.unknowns > 0 && s.unknowns == s.entries {
		first := s.unknown[0]
		return &models.FileError{File: in.name, Line: first.line, What: fmt.Sprintf("%q is no kind of row we know, and none of the %d rows is of a kind we know",
			first.word, s.entries), Next: "is it this account's statement, and are its kinds configured (kinds in its settings)?"}
	}
	for _, u := range s.unknown {
		unknown := UnknownKind{File: in.label, Word: u.word, Rows: u.count, FirstRow: u.line}
		r.unknown = append(r.unknown, unknown)
		r.note("%s", unknown)
	}
	if s.copies > 0 {
		r.note("%s: payouts told twice: %s, the first is row %d; paid once", in.label, lang.English.Count(s.copies, "row"), s.firstCopy)
	}
	return nil
}

// checkText refuses what no database holds and ids that no provider gives, before anything is made of it.
func checkText(in *input, e *models.Entry) error {
	for _, cell := range [...]struct{ what, text string }{
		{"transaction id", e.TransactionID}, {"parent id", e.ParentID}, {"order id", e.OrderID}, {"refund number", e.RefundOrderID},
		{"status", e.StatusText}, {"kind", e.UnknownKind}, {"payout", e.PayoutID},
	} {
		if !isText(cell.text) {
			return noText(in, e, cell.what)
		}
	}
	for _, alias := range e.Aliases {
		if !isText(alias) {
			return noText(in, e, "further name")
		}
	}
	for _, id := range [...]string{e.TransactionID, e.ParentID} {
		if why := edited(id); why != "" {
			return &models.FileError{File: in.name, Line: e.Line, What: fmt.Sprintf("id %q %s: the file was edited", id, why), Next: "download it again"}
		}
	}
	return nil
}

// edited says what an id has that no provider gives it, only a program in which the file was opened; "" for nothing. Such a row would be
// missing on both sides, to the eye under the same id.
func edited(id string) string {
	switch {
	case id == "":
		return ""
	case id[0] == '\'':
		return "begins with an apostrophe, a spreadsheet's mark of text"
	case strings.HasPrefix(id, `="`):
		return "is a formula"
	}
	for i := range len(id) {
		if id[i] >= utf8.RuneSelf {
			if strings.ContainsFunc(id[i:], hidden) {
				return "holds a character that cannot be seen"
			}
			break
		}
	}
	return ""
}

// hidden are blanks beyond ASCII and characters without a shape, such as U+00A0 and U+200B.
func hidden(c rune) bool {
	return c >= utf8.RuneSelf && (unicode.IsSpace(c) || unicode.Is(unicode.Cf, c))
}

func isText(s string) bool { return s == "" || utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func noText(in *input, e *models.Entry, what string) error {
	return &models.FileError{File: in.name, Line: e.Line, What: what + ": holds bytes that are no text",
		Next: "is the file damaged, or in another encoding than configured?"}
}

// kinds are the only kinds of rows that the day's files can hold; nil is any. Declared to have no statement, the day has all kinds, none
// of them with a row.
func (r *run) kinds() []models.TransactionKind {
	var kinds []models.TransactionKind
	for _, in := range slices.Concat(r.inputs, r.left) {
		switch {
		case in.twin != nil || !in.statement.Compared && in.ownedBy == "":
		case in.statement.Only == "":
			return nil
		default:
			kinds = append(kinds, in.statement.Only)
		}
	}
	return kinds
}

// covers says whether the day's files can hold rows of this kind at all.
func (r *run) covers(kind models.TransactionKind) bool {
	kinds := r.kinds()
	return kinds == nil || slices.Contains(kinds, kind)
}

// noteUncovered tells of the book's rows that no file of the day could have.
func (r *run) noteUncovered(counts map[models.TransactionKind]int) {
	for _, kind := range kindOrder {
		if n := counts[kind]; n > 0 {
			r.note("the files given hold no %ss by their nature: %s of the book not looked for", kindWords[kind], lang.English.Count(n, kindWords[kind]))
		}
	}
}

// leftNotes tells of what earlier runs of the day have found of kinds that this one did not look at.
func leftNotes(left []models.Gap) []string {
	counts := map[models.TransactionKind]int{}
	for i := range left {
		counts[left[i].EntryKind]++
	}
	var notes []string
	for _, kind := range kindOrder {
		if n := counts[kind]; n > 0 {
			notes = append(notes, fmt.Sprintf("the files given hold no %ss by their nature: %s of earlier runs of this day left as %s",
				kindWords[kind], lang.English.Count(n, "gap"), map[bool]string{true: "it is", false: "they are"}[n == 1]))
		}
	}
	return notes
}

// withArticle is a title as a sentence says it: "a trade bill", "an account bill".
func withArticle(title string) string {
	if title != "" && strings.ContainsRune("aeiouAEIO", rune(title[0])) {
		return "an " + title
	}
	return "a " + title
}
