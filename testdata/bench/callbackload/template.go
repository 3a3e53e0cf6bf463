package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// piece is literal text and the name of the value behind it, "" for none.
type piece struct {
	text string
	name string
}

type values struct {
	txn   string
	order int64
	unix  int64 // seconds
	conn  int
}

func parseTemplate(text string) ([]piece, error) {
	var pieces []piece
	for {
		before, rest, found := strings.Cut(text, "{{")
		if !found {
			return append(pieces, piece{text: text}), nil
		}
		name, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, errors.New("a {{ has no }}")
		}
		name = strings.TrimSpace(name)
		switch name {
		case "txn", "order", "orderno", "ts", "conn":
		default:
			return nil, fmt.Errorf("{{%s}} is none of txn, order, orderno, ts, conn", name)
		}
		pieces = append(pieces, piece{text: before, name: name})
		text = after
	}
}

func fill(b []byte, pieces []piece, v values) []byte {
	for _, p := range pieces {
		b = append(b, p.text...)
		switch p.name {
		case "txn":
			b = append(b, v.txn...)
		case "order":
			b = strconv.AppendInt(b, v.order, 10)
		case "orderno":
			b = appendOrderNumber(b, v.order)
		case "ts":
			b = strconv.AppendInt(b, v.unix, 10)
		case "conn":
			b = strconv.AppendInt(b, int64(v.conn), 10)
		}
	}
	return b
}

// appendOrderNumber writes O and twelve digits.
func appendOrderNumber(b []byte, n int64) []byte {
	digits := strconv.FormatInt(n, 10)
	b = append(b, 'O')
	for range 12 - len(digits) {
		b = append(b, '0')
	}
	return append(b, digits...)
}
