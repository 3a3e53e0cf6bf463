package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// crowded has every kind of difference many times.
func crowded(dir string) *options {
	o := &options{n: 5000, seed: 3, out: dir, date: "2026-11-29", zone: "+08:00", wechat: true}
	for k := missingLocal; k < kinds; k++ {
		o.shares[k] = 0.03
	}
	return o
}

// TestExpectedGapsAreTheDifferences finds the differences again, by nothing but the two files.
func TestExpectedGapsAreTheDifferences(t *testing.T) {
	dir := t.TempDir()
	if err := run(crowded(dir)); err != nil {
		t.Fatal(err)
	}
	book, twice := byKey(read(t, dir, "transactions.csv")[1:])
	statement, listedTwice := byKey(read(t, dir, "statement.csv")[1:])
	if len(twice) > 0 {
		t.Fatalf("the book has rows twice: %v", twice)
	}
	want := read(t, dir, "expected-gaps.csv")[1:]
	for _, w := range want {
		key := w[1] + " " + w[0]
		got := difference(book[key], statement[key], listedTwice[key])
		if got != w[2] && (w[2] != "carried" || !slices.Contains([]string{"", "missing_provider"}, got)) {
			t.Errorf("%s: found %q, want %q", key, got, w[2])
		}
		delete(book, key)
		delete(statement, key)
	}
	for key, row := range book {
		if d := difference(row, statement[key], listedTwice[key]); d != "" {
			t.Errorf("%s: %s is not expected", key, d)
		}
		delete(statement, key)
	}
	if len(statement) > 0 {
		t.Errorf("%d rows only on the statement are not expected", len(statement))
	}
	if len(want) < 1000 {
		t.Errorf("only %d differences were planted", len(want))
	}
}

func difference(book, statement []string, twice bool) string {
	switch {
	case book == nil:
		return "missing_local"
	case statement == nil:
		return "missing_provider"
	case twice:
		return "duplicate_entry"
	case book[4] != statement[4]:
		return "currency_mismatch"
	case book[3] != statement[3]:
		return "amount_mismatch"
	case book[5] != statement[5]:
		return "status_mismatch"
	}
	return ""
}

func byKey(rows [][]string) (unique map[string][]string, twice map[string]bool) {
	unique, twice = map[string][]string{}, map[string]bool{}
	for _, r := range rows {
		key := r[2] + " " + r[0]
		if unique[key] != nil {
			twice[key] = true
		}
		unique[key] = r
	}
	return unique, twice
}

func TestSameFlagsSameBytes(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		if err := run(crowded(dir)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"orders.csv", "transactions.csv", "statement.csv", "statement-wechat.csv", "expected-gaps.csv", "expected.json"} {
		a, err := os.ReadFile(filepath.Join(one, name))
		if err != nil || len(a) == 0 {
			t.Fatalf("%s: %d bytes, %v", name, len(a), err)
		}
		if b, err := os.ReadFile(filepath.Join(two, name)); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs between two runs (%v)", name, err)
		}
	}
}

func TestBillHasItsShape(t *testing.T) {
	dir := t.TempDir()
	if err := run(crowded(dir)); err != nil {
		t.Fatal(err)
	}
	rows := read(t, dir, "statement-wechat.csv")
	statement := read(t, dir, "statement.csv")
	if len(rows) != len(statement)+2 { // two summary lines
		t.Fatalf("%d lines, want %d", len(rows), len(statement)+2)
	}
	for i, row := range rows[:len(rows)-2] {
		if len(row) != 27 || (i > 0 && !strings.HasPrefix(row[0], "`2026-11-")) {
			t.Fatalf("line %d: %d cells: %v", i+1, len(row), row)
		}
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, o := range []options{{n: 0, date: "2026-11-29", zone: "Z"}, {n: 1, date: "29.11.2026", zone: "Z"}, {n: 1, date: "2026-11-29", zone: "CST"}} {
		if _, err := newDay(&o); err == nil {
			t.Errorf("%+v: accepted", o)
		}
	}
}

func read(t *testing.T, dir, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows
}
