package models

import (
	"bytes"
	"fmt"
	"testing"
)

// TestArena: texts stay as they were, whatever comes after them, also those longer than a piece.
func TestArena(t *testing.T) {
	var a Arena
	var kept, want []string
	for i := range 3000 {
		text := fmt.Appendf(nil, "text %d", i)
		if i%1000 == 500 {
			text = bytes.Repeat(text, arenaPiece/4)
		}
		kept, want = append(kept, a.Text(text)), append(want, string(text))
		clear(text) // it was the caller's
	}
	for i := range kept {
		if kept[i] != want[i] {
			t.Fatalf("text %d is %.20q", i, kept[i])
		}
	}
	if a.Text(nil) != "" {
		t.Error("nothing is not empty")
	}
}
