package reconcile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPartsOnDisk: rows come back part by part in their order, those that were written and those that were not yet.
func TestPartsOnDisk(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	p, err := newParts()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	const rows = 3000
	for i := range rows {
		for part := range 2 {
			row := strings.Repeat(string(rune('a'+part)), i%97+1) // some parts take several blocks
			if i == 1500 {
				row = strings.Repeat("x", 3*spillBlock) // longer than a block
			}
			if err := p.add(part, []byte(row)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for part := range 2 {
		n := 0
		err := p.each(part, func(row string) error {
			if want := n%97 + 1; n != 1500 && row != strings.Repeat(string(rune('a'+part)), want) {
				t.Fatalf("part %d, row %d: %q", part, n, row)
			}
			n++
			return nil
		})
		if err != nil || n != rows || p.rows(part) != rows {
			t.Errorf("part %d: %d rows, %d counted, %v", part, n, p.rows(part), err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%d files in the folder while the run is under way, %v", len(left), err)
	}
}

// TestNoRoomOnDisk says where the room is missing and what to do.
func TestNoRoomOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nosuch")
	t.Setenv("TMPDIR", dir)
	_, err := newParts()
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("error is %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	p, err := newParts()
	if err != nil {
		t.Fatal(err)
	}
	p.close() // as if the disk were gone
	for range 3 {
		err = p.add(0, make([]byte, spillBlock))
	}
	if err == nil || !strings.Contains(err.Error(), "make room") {
		t.Errorf("error is %v", err)
	}
}

// TestDamagedPart: a block that does not hold what was written is an error.
func TestDamagedPart(t *testing.T) {
	for _, block := range []string{"\xff", "\x05abc", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if err := (&parts{}).eachRow([]byte(block), func(string) error { return nil }); err == nil {
			t.Errorf("%q: no error", block)
		}
	}
}
