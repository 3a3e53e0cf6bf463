package models

import "strings"

// Arena keeps many short texts in few pieces of memory: a row of a statement is looked at and forgotten, and a piece of its own for each
// costs more than reading it. A text of it holds on to its whole piece, so what is kept of a row is cloned (strings.Clone). The zero
// value is ready.
type Arena struct{ piece strings.Builder }

const arenaPiece = 64 << 10 // bytes

// Text is a copy of b.
func (a *Arena) Text(b []byte) string {
	if a.piece.Cap()-a.piece.Len() < len(b) {
		a.piece = strings.Builder{}
		a.piece.Grow(max(arenaPiece, len(b)))
	}
	at := a.piece.Len()
	a.piece.Write(b)
	return a.piece.String()[at:]
}
