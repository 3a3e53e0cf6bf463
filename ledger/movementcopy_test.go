package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// copyStream is what PostgreSQL sends of two rows. A nil field is NULL.
func copyStream(rows ...[movementFields][]byte) []byte {
	b := append(slices.Clone(copySignature), 0, 0, 0, 0, 0, 0, 0, 3, 'x', 'y', 'z') // with a header's extension
	for _, fields := range rows {
		b = binary.BigEndian.AppendUint16(b, movementFields)
		for _, f := range fields {
			if f == nil {
				b = binary.BigEndian.AppendUint32(b, 1<<32-1)
				continue
			}
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(f))), f...)
		}
	}
	return binary.BigEndian.AppendUint16(b, 1<<16-1)
}

// list is a text[].
func list(texts ...string) []byte {
	var b []byte
	for _, n := range []int{1, 0, 25, len(texts), 1} {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for _, text := range texts {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
	}
	return b
}

func number(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// TestCopyDecoder: rows are the same wherever the stream is cut, and no beginning of it is taken for all.
func TestCopyDecoder(t *testing.T) {
	stream := copyStream([movementFields][]byte{[]byte("id1"), number(0), number(-1), []byte("CNY")},
		[movementFields][]byte{[]byte("id2"), number(-1), number(1 << 40), []byte("JPY"), list("refund", "failed", "no_order", "p", "ch")})
	const want = "payment id1   -0.01 CNY succeeded applied 2000-01-01 00:00:00 +0000 UTC\nrefund id2 p ch 1099511627776 JPY failed no_order 1999-12-31 23:59:59.999999 +0000 UTC\n"
	decode := func(stream []byte, size int) (got string, err error) {
		d := copyDecoder{each: func(m *Movement) error {
			got += fmt.Sprintln(m.Kind, m.ID, m.ProviderID, m.ParentID, m.Money, m.Status, m.Outcome, m.OccurredAt)
			return nil
		}}
		for piece := range slices.Chunk(stream, size) {
			if n, err := d.Write(piece); err != nil || n != len(piece) {
				return got, errors.Join(err, d.end())
			}
		}
		return got, d.end()
	}
	for size := 1; size <= len(stream); size++ {
		if got, err := decode(stream, size); err != nil || got != want {
			t.Errorf("cut into pieces of %d bytes: %v\n%s", size, err, got)
		}
	}
	for n := range stream {
		if _, err := decode(stream[:n], 16); !errors.Is(err, errCopy) {
			t.Errorf("after %d of %d bytes: %v", n, len(stream), err)
		}
	}
	for what, broken := range map[string][]byte{
		"another header":   append([]byte("PGCOPZ"), stream[6:]...),
		"fewer fields":     append(slices.Clone(stream[:22]), 0, 3),
		"a time of a byte": copyStream([movementFields][]byte{[]byte("id"), {1}, number(1), []byte("CNY")}),
		"fewer texts":      copyStream([movementFields][]byte{[]byte("id"), number(1), number(1), []byte("CNY"), list("refund", "failed", "applied", "")}),
		"a text cut short": copyStream([movementFields][]byte{[]byte("id"), number(1), number(1), []byte("CNY"), list("refund", "failed", "applied", "", "ch")[:58]}),
		"no list":          copyStream([movementFields][]byte{[]byte("id"), number(1), number(1), []byte("CNY"), []byte("refund")}),
		"no amount":        copyStream([movementFields][]byte{[]byte("id"), number(1), nil, []byte("CNY")}),
	} {
		if _, err := decode(broken, 64); !errors.Is(err, errCopy) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
