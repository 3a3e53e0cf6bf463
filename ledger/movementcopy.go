package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"paybook/models"
)

// copyDecoder reads PostgreSQL's binary COPY format (the manual, COPY, "Binary Format"): a header, rows of counted fields, a trailer.
// What it is written to may be cut anywhere, though a server sends row by row.
type copyDecoder struct {
	each  func(*Movement) error
	rest  []byte // the beginning of what has not come whole
	began bool   // the header is read
	ended bool   // the trailer is read
	row   Movement
	words map[string]string // one copy of words that every row repeats
	arena models.Arena      // of the ids
}

// copySignature begins the stream, before two 32-bit fields: flags, and the length of what else the header holds.
var copySignature = []byte("PGCOPY\n\xff\r\n\x00")

var errCopy = errors.New("the database's answer to COPY is not understood")

// Write implements io.Writer.
func (d *copyDecoder) Write(p []byte) (int, error) {
	data := p
	if len(d.rest) > 0 {
		d.rest = append(d.rest, p...)
		data = d.rest
	}
	for !d.ended && len(data) > 0 {
		n, err := d.next(data)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			break
		}
		data = data[n:]
	}
	d.rest = append(d.rest[:0], data...)
	return len(p), nil
}

// end fails when the stream has not come to its end.
func (d *copyDecoder) end() error {
	if !d.ended {
		return fmt.Errorf("%w: it ends too early", errCopy)
	}
	return nil
}

// next reads the header, a row or the trailer, and says how many bytes it had; 0: it is not all there.
func (d *copyDecoder) next(data []byte) (int, error) {
	if !d.began {
		return d.header(data)
	}
	if len(data) < 2 {
		return 0, nil
	}
	switch int16(binary.BigEndian.Uint16(data)) {
	case -1:
		d.ended = true
		return 2, nil
	case movementFields:
		return d.movement(data)
	}
	return 0, fmt.Errorf("%w: a row of %d fields", errCopy, int16(binary.BigEndian.Uint16(data)))
}

func (d *copyDecoder) header(data []byte) (int, error) {
	fixed := len(copySignature) + 8
	if len(data) < fixed {
		return 0, nil
	}
	if !bytes.HasPrefix(data, copySignature) {
		return 0, fmt.Errorf("%w: no header", errCopy)
	}
	n := fixed + int(binary.BigEndian.Uint32(data[fixed-4:]))
	if len(data) < n {
		return 0, nil
	}
	d.began = true
	return n, nil
}

const (
	movementFields = 5 // of movementCopied
	movementOthers = 5 // in the last of them
)

// movement reads a row: fields with their length before them, -1 for NULL.
func (d *copyDecoder) movement(data []byte) (int, error) {
	var fields [movementFields][]byte
	at := 2
	for i := range fields {
		if len(data) < at+4 {
			return 0, nil
		}
		size := int(int32(binary.BigEndian.Uint32(data[at:])))
		if at += 4; size < 0 {
			continue
		}
		if len(data) < at+size {
			return 0, nil
		}
		fields[i] = data[at : at+size]
		at += size
	}
	if len(fields[1]) != 8 || len(fields[2]) != 8 {
		return 0, fmt.Errorf("%w: a time of %d bytes, an amount of %d", errCopy, len(fields[1]), len(fields[2]))
	}
	m := &d.row
	m.ID, m.OccurredAt = d.arena.Text(fields[0]), sinceEpoch(fields[1])
	m.Money = models.Money{Minor: int64(binary.BigEndian.Uint64(fields[2])), Currency: d.word(fields[3])}
	if fields[4] == nil {
		m.Kind, m.Status, m.Outcome, m.ProviderID, m.ParentID = models.Payment, models.StatusSucceeded, models.OutcomeApplied, "", ""
		return at, d.each(m)
	}
	var others [movementOthers][]byte
	if err := texts(fields[4], others[:]); err != nil {
		return 0, err
	}
	m.Kind, m.Status, m.Outcome = models.TransactionKind(d.word(others[0])), models.TransactionStatus(d.word(others[1])), models.Outcome(d.word(others[2]))
	m.ProviderID, m.ParentID = d.arena.Text(others[3]), d.arena.Text(others[4])
	return at, d.each(m)
}

// texts reads a text[] without NULLs of as many elements as into has: one dimension, the type, the length and where it begins, then each
// with its length before it.
func texts(field []byte, into [][]byte) error {
	const head = 20 // 32 bits each: dimensions, whether there are NULLs, type, length, lower bound
	if len(field) < head || binary.BigEndian.Uint32(field) != 1 || binary.BigEndian.Uint32(field[12:]) != uint32(len(into)) {
		return fmt.Errorf("%w: no list of %d texts", errCopy, len(into))
	}
	at := head
	for i := range into {
		size := 0
		if len(field) >= at+4 {
			size = int(int32(binary.BigEndian.Uint32(field[at:])))
		}
		if at += 4; size < 0 || len(field) < at+size {
			return fmt.Errorf("%w: a list of %d texts that is cut, or has a NULL", errCopy, len(into))
		}
		into[i] = field[at : at+size]
		at += size
	}
	return nil
}

// epoch is the moment from which PostgreSQL counts microseconds.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

func sinceEpoch(field []byte) time.Time {
	return time.UnixMicro(epoch + int64(binary.BigEndian.Uint64(field))).UTC()
}

// word is a field's word.
func (d *copyDecoder) word(field []byte) string {
	known, ok := d.words[string(field)]
	if !ok {
		if d.words == nil {
			d.words = map[string]string{}
		}
		known = string(field)
		d.words[known] = known
	}
	return known
}
