package reconcile

import (
	"encoding/binary"
	"errors"
	"time"

	"paybook/models"
)

// codec writes rows for the disk and reads them back, for the one run that made it. Words that every row repeats are written as numbers.
type codec struct {
	words   []string
	numbers map[string]uint64
}

var errSpilled = errors.New("a temporary file does not hold what was written to it: the disk is damaged")

// The flags of an entry.
const (
	flagAdjusts = 1 << iota
	flagPart
	flagFinal
)

func (c *codec) appendEntry(b []byte, e *models.Entry, at place) []byte {
	b = appendNumbers(b, int64(at.file), at.row, int64(e.Line), e.OccurredAt.Unix(), int64(e.OccurredAt.Nanosecond()), e.Money.Minor, e.Fee.Minor,
		e.FeeDue.Minor, e.Gross.Minor,
		flagOf(e.Adjusts, flagAdjusts)|flagOf(e.Part, flagPart)|flagOf(e.Final, flagFinal), int64(len(e.Aliases)))
	b = c.appendWords(b, string(e.Kind), string(e.Status), e.Money.Currency, e.Fee.Currency, e.FeeDue.Currency, e.Gross.Currency)
	b = appendTexts(b, e.TransactionID, e.ParentID, e.OrderID, e.RefundOrderID, e.PayoutID, e.StatusText, e.UnknownKind)
	return appendTexts(b, e.Aliases...)
}

func (c *codec) entry(row string, e *models.Entry, at *place) error {
	r := reader{rest: row, words: c.words}
	at.file, at.row = int(r.number()), r.number()
	e.Line = int(r.number())
	seconds := r.number()
	e.OccurredAt = time.Unix(seconds, r.number()).UTC()
	e.Money.Minor, e.Fee.Minor, e.FeeDue.Minor, e.Gross.Minor = r.number(), r.number(), r.number(), r.number()
	flags := r.number()
	e.Adjusts, e.Part, e.Final = flags&flagAdjusts != 0, flags&flagPart != 0, flags&flagFinal != 0
	aliases := r.number()
	e.Kind, e.Status = models.TransactionKind(r.word()), models.TransactionStatus(r.word())
	e.Money.Currency, e.Fee.Currency, e.FeeDue.Currency, e.Gross.Currency = r.word(), r.word(), r.word(), r.word()
	for _, text := range []*string{&e.TransactionID, &e.ParentID, &e.OrderID, &e.RefundOrderID, &e.PayoutID, &e.StatusText, &e.UnknownKind} {
		*text = r.text()
	}
	e.Aliases = nil
	for ; aliases > 0 && !r.bad; aliases-- {
		e.Aliases = append(e.Aliases, r.text())
	}
	return r.err()
}

func (c *codec) appendLocal(b []byte, l *local) []byte {
	b = appendNumbers(b, l.money.Minor)
	b = c.appendWords(b, string(l.kind), string(l.status), string(l.outcome), l.money.Currency)
	return appendTexts(b, l.id, l.providerID, l.parent)
}

func (c *codec) local(row string, l *local) error {
	r := reader{rest: row, words: c.words}
	l.money.Minor = r.number()
	l.kind, l.status, l.outcome = models.TransactionKind(r.word()), models.TransactionStatus(r.word()), models.Outcome(r.word())
	l.money.Currency = r.word()
	l.id, l.providerID, l.parent = r.text(), r.text(), r.text()
	return r.err()
}

func (c *codec) appendWords(b []byte, words ...string) []byte {
	for _, w := range words {
		n, known := c.numbers[w]
		if !known {
			if c.numbers == nil {
				c.numbers = map[string]uint64{}
			}
			n = uint64(len(c.words))
			c.words, c.numbers[w] = append(c.words, w), n
		}
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func appendNumbers(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = binary.AppendVarint(b, n)
	}
	return b
}

func appendTexts(b []byte, texts ...string) []byte {
	for _, t := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
	}
	return b
}

func flagOf(set bool, flag int64) int64 {
	if set {
		return flag
	}
	return 0
}

// reader takes a row apart. Texts are parts of it.
type reader struct {
	rest  string
	words []string
	bad   bool
}

func (r *reader) uvarint() (n uint64) {
	for i := range min(len(r.rest), binary.MaxVarintLen64) {
		c := r.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.bad = true
	return 0
}

// number undoes the zigzag of AppendVarint.
func (r *reader) number() int64 {
	n := r.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

func (r *reader) word() string {
	if n := r.uvarint(); n < uint64(len(r.words)) {
		return r.words[n]
	}
	r.bad = true
	return ""
}

func (r *reader) text() string {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.bad = true
		return ""
	}
	text := r.rest[:n]
	r.rest = r.rest[n:]
	return text
}

func (r *reader) err() error {
	if r.bad {
		return errSpilled
	}
	return nil
}
