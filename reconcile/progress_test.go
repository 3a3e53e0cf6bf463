package reconcile_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"paybook/reconcile"
)

// TestProgress: a run tells how many rows of all its files are read, and how many bytes of how many, which only grow.
func TestProgress(t *testing.T) {
	const rows = 25_000
	var text strings.Builder
	text.WriteString(header)
	for i := range rows {
		fmt.Fprintf(&text, "fee%d,,fee,0.01,CNY,succeeded,2026-11-28 10:00:00,,\n", i)
	}
	one, two := file(t, "one.csv", []byte(text.String())), file(t, "two.csv", []byte(strings.ReplaceAll(text.String(), "\nfee", "\nother")))
	var size int64
	for _, path := range []string{one, two} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	var told []reconcile.Progress
	_, err := reconcile.Run(t.Context(), sqlite(t), plainAccount(t), reconcile.Files(one, two), day(t, "2026-11-28"),
		reconcile.Options{Now: noon, Progress: func(p reconcile.Progress) { told = append(told, p) }})
	if err != nil {
		t.Fatal(err)
	}
	want := []int64{10_000, 20_000, rows + 10_000, rows + 20_000, 2 * rows}
	if len(told) != len(want) || told[len(told)-1].Done != size {
		t.Fatalf("told %d times: %+v", len(told), told)
	}
	for i, p := range told {
		if p.Rows != want[i] || p.Total != size || p.Done <= 0 || p.Done > size || i > 0 && p.Done < told[i-1].Done {
			t.Errorf("told %+v, of %d bytes", told, size)
			break
		}
	}
}
