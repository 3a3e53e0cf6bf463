package reconcile_test

import (
	"io"
	"testing"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

// script is a provider whose statement is written in the test: what no file of the kits has.
type script struct {
	statement models.Statement
	entries   []models.Entry
}

func (script) Name() string                      { return "script" }
func (script) Calendar() (string, time.Duration) { return "Asia/Shanghai", 0 }

func (s script) ReadStatement(_ string, r io.Reader, _ *time.Location, each func(models.Entry) error) (models.Statement, error) {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return s.statement, err
	}
	for i, e := range s.entries {
		e.Line = i + 2
		if err := each(e); err != nil {
			return s.statement, err
		}
	}
	return s.statement, nil
}

func entry(id, amount string, status models.TransactionStatus) models.Entry {
	m, err := models.ParseMajor(amount, "CNY")
	if err != nil {
		panic(err)
	}
	return models.Entry{Kind: models.Payment, TransactionID: id, OrderID: "O-" + id, Money: m, Status: status,
		OccurredAt: time.Date(2026, 11, 28, 10, 0, 0, 0, shanghai).UTC()}
}

func adjusts(id, amount string) models.Entry {
	e := entry(id, amount, models.StatusSucceeded)
	e.Adjusts = true
	return e
}

// part is a capture of a payment.
func part(id, amount, capture string) models.Entry {
	e := alias(entry(id, amount, models.StatusSucceeded), capture)
	e.Part = true
	return e
}

// TestTakenBack: rows that change another row of their own id.
func TestTakenBack(t *testing.T) {
	at := " 2026-11-28 10:00:00 "
	for _, c := range []struct {
		name    string
		book    []string
		entries []models.Entry
		counts  string
		want    []string
	}{
		{"a partial capture: the whole sum, and what was let go", []string{"p1" + at + "20.00"},
			[]models.Entry{entry("p1", "30.00", models.StatusSucceeded), adjusts("p1", "-10.00")}, "1 1", nil},
		{"the adjusting row first", []string{"p1" + at + "20.00"},
			[]models.Entry{adjusts("p1", "-10.00"), entry("p1", "30.00", models.StatusSucceeded)}, "1 1", nil},
		{"matched before it was adjusted", []string{"p1" + at + "30.00", "p2" + at}, []models.Entry{entry("p1", "30.00", models.StatusSucceeded),
			entry("p2", "20.00", models.StatusSucceeded), adjusts("p1", "-10.00")}, "2 1", []string{"amount_mismatch payment p1"}},
		{"nothing left of it", []string{"p1" + at}, []models.Entry{entry("p1", "20.00", models.StatusSucceeded), adjusts("p1", "-20.00")}, "1 0",
			[]string{"status_mismatch payment p1"}},
		{"of another day's row, all of it", []string{"p0 2026-11-20 10:00:00", "p2" + at}, []models.Entry{entry("p2", "20.00", models.StatusSucceeded),
			adjusts("p0", "-20.00")}, "1 1", []string{"status_mismatch payment p0"}},
		{"of another day's row, a part", []string{"p0 2026-11-20 10:00:00", "p2" + at}, []models.Entry{entry("p2", "20.00", models.StatusSucceeded),
			adjusts("p0", "-5.00")}, "1 1", nil},
		{"of nothing we know", []string{"p2" + at}, []models.Entry{entry("p2", "20.00", models.StatusSucceeded), adjusts("p0", "-5.00")}, "1 1",
			[]string{"missing_local payment p0"}},
		{"captured in two parts", []string{"p1" + at + "50.00", "p2" + at}, []models.Entry{part("p1", "20.00", "c1"), part("p2", "20.00", "c9"),
			part("p1", "30.00", "c2")}, "2 2", nil},
		{"captured in two parts, one of which is the book's", []string{"p1" + at + "20.00"}, []models.Entry{part("p1", "20.00", "c1"),
			part("p1", "30.00", "c2")}, "1 0", []string{"amount_mismatch payment p1"}},
		{"a capture given twice", []string{"p1" + at}, []models.Entry{part("p1", "20.00", "c1"), part("p1", "20.00", "c1")}, "1 1",
			[]string{"duplicate_entry payment p1"}},
		{"two parts of a payment that nobody knows", []string{"p2" + at}, []models.Entry{part("p1", "20.00", "c1"), part("p2", "20.00", "c9"),
			part("p1", "30.00", "c2")}, "2 1", []string{"missing_local payment p1"}},
		{"a bank debit that bounced the same day", []string{"p1" + at}, []models.Entry{entry("p1", "20.00", models.StatusSucceeded),
			entry("p1", "20.00", models.StatusReversed)}, "1 0", []string{"status_mismatch payment p1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sqlite(t)
			paid(t, b, c.book...)
			a := reconcile.Account{Name: "shop", Provider: script{models.Statement{Compared: true}, c.entries}}
			wantRun(t, run(t, b, a, "2026-11-28", file(t, "s.csv", []byte("x"))), c.counts, c.want...)
		})
	}
}

// TestAliases: one movement under several names, on either side.
func TestAliases(t *testing.T) {
	b := sqlite(t)
	m := movement{Kind: models.Payment, TransactionID: "pi_1", Aliases: []string{"pi_1", "ch_1"}, OrderID: "O-1", Amount: "20.00", Currency: "CNY",
		Status: "succeeded", OccurredAt: "2026-11-28T10:00:00+08:00"}
	book(t, b, "shop", m)
	paid(t, b, "ch_2 2026-11-28 10:00:00")
	for _, c := range []struct {
		entries []models.Entry
		counts  string
		want    []string
	}{
		{[]models.Entry{entry("ch_1", "20.00", models.StatusSucceeded), entry("ch_2", "20.00", models.StatusSucceeded)}, "2 1",
			[]string{"unknown_order payment ch_1"}},
		{[]models.Entry{alias(entry("ch_1", "20.00", models.StatusSucceeded), "pi_1"), alias(entry("ch_9", "20.00", models.StatusSucceeded), "pi_1"),
			alias(entry("po_2", "20.00", models.StatusSucceeded), "ch_2")}, "3 1",
			[]string{"unknown_order payment ch_1", "missing_local payment ch_9"}},
	} {
		a := reconcile.Account{Name: "shop", Provider: script{models.Statement{Compared: true}, c.entries}}
		r, err := reconcile.Run(t.Context(), b, a, reconcile.Files(file(t, "s.csv", []byte("x"))), day(t, "2026-11-28"), reconcile.Options{DryRun: true, Now: noon})
		if err != nil {
			t.Fatal(err)
		}
		wantRun(t, r, c.counts, c.want...)
	}
}

func alias(e models.Entry, names ...string) models.Entry {
	e.Aliases = names
	return e
}

// TestBatch: a settlement batch holds rows of many days, and none is of a wrong one.
func TestBatch(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p1 2026-11-20 10:00:00", "p2 2026-11-28 10:00:00")
	first := entry("p1", "20.00", models.StatusSucceeded)
	first.OccurredAt = first.OccurredAt.AddDate(0, 0, -8)
	other := entry("p3", "20.00", models.StatusSucceeded)
	other.OccurredAt = other.OccurredAt.AddDate(0, 0, -3)
	a := reconcile.Account{Name: "shop", Provider: script{models.Statement{Compared: true, Batch: true}, []models.Entry{first, other}}}
	wantRun(t, run(t, b, a, "2026-11-28", file(t, "s.csv", []byte("x"))), "2 1", "missing_local payment p3", "missing_provider payment p2")
	a.Provider = script{statement: models.Statement{Compared: true}}
	wantRun(t, run(t, b, a, "2026-11-20", file(t, "s.csv", []byte("y"))), "0 0")
}

// TestLargeSums: sums beyond 64 bits do not wrap around.
func TestLargeSums(t *testing.T) {
	b := sqlite(t)
	const most = "92233720368547758.07"
	a := reconcile.Account{Name: "shop", Provider: script{models.Statement{Compared: true},
		[]models.Entry{entry("p1", most, models.StatusSucceeded), entry("p2", most, models.StatusSucceeded)}}}
	r := run(t, b, a, "2026-11-28", file(t, "s.csv", []byte("x")))
	if got := r.Statement.Totals[0].Amount; got != "184467440737095516.14" {
		t.Errorf("total is %s", got)
	}
}
