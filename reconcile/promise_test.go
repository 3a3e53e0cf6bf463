package reconcile_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"testing"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

func sha256Of(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// promising reads statements as the default layout does, and besides them a summary: the word and its figures.
type promising struct {
	reconcile.Provider
	promises []models.Promise
}

func (p promising) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return models.Statement{}, err
	}
	if strings.HasPrefix(string(raw), "summary") {
		return models.Statement{Title: "summary", Promises: p.promises}, nil
	}
	return p.Provider.ReadStatement(name, strings.NewReader(string(raw)), zone, each)
}

// TestPromises: what a summary says is held against the rows of all files together.
func TestPromises(t *testing.T) {
	cny := func(kind models.TransactionKind, count, minor int64) models.Promise {
		return models.Promise{Kind: kind, Count: count, Money: models.Money{Minor: minor, Currency: "CNY"}}
	}
	const refunds = header + "re_1,O-p1,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,p1,R1\nre_2,O-p1,refund,3.00,CNY,failed,2026-11-28 11:00:00,p1,R2\n"
	for _, c := range []struct {
		name     string
		promises []models.Promise
		totals   string // what the report says of control totals; "": refused
		words    []string
	}{
		{"all agree", []models.Promise{cny(models.Payment, 2, 4000), cny(models.Refund, 2, 800)}, "agree", nil},
		{"with a sign", []models.Promise{cny(models.Payment, 2, 4000), cny(models.Refund, 2, -800)}, "agree", nil},
		{"none of a kind there is not", []models.Promise{cny(models.Payment, 2, 4000), cny(models.Refund, 2, 800), cny(models.Chargeback, 0, 0)}, "agree", nil},
		{"of one kind only", []models.Promise{cny(models.Payment, 2, 4000)}, "none", nil},
		{"nothing promised", nil, "none", nil},
		{"counts alone", []models.Promise{{Kind: models.Payment, Count: 2}, {Kind: models.Refund, Count: 2}}, "none", nil},
		{"all together", []models.Promise{{Count: 4, Money: models.Money{Minor: 3200, Currency: "CNY"}}}, "agree", nil},
		{"all together, the other way", []models.Promise{{Count: 4, Money: models.Money{Minor: -3200, Currency: "CNY"}}}, "", []string{"4 rows of -32.00 CNY (payments less all others)", "4 rows of 32.00 CNY"}},
		{"another count alone", []models.Promise{{Kind: models.Payment, Count: 1}}, "", []string{"it promises 1 payment, the day's files have 2 payments"}},
		{"another count of all", []models.Promise{{Count: 5}}, "", []string{"5 rows", "4 rows"}},
		{"another number", []models.Promise{cny(models.Payment, 3, 4000)}, "", []string{"x.zip/summary.csv", "3 payments of 40.00 CNY", "2 payments of 40.00 CNY", "all files"}},
		{"another sum", []models.Promise{cny(models.Payment, 2, 4000), cny(models.Refund, 2, 801)}, "", []string{"x.zip/summary.csv", "2 refunds of 8.01 CNY", "2 refunds of 8.00 CNY"}},
		{"one that is missing", []models.Promise{cny(models.Chargeback, 1, 100)}, "", []string{"1 chargeback of 1.00 CNY", "0 chargebacks of 0.00 CNY"}},
		{"another currency", []models.Promise{{Kind: models.Payment, Count: 2, Money: models.Money{Minor: 4000, Currency: "JPY"}}}, "", []string{"2 payments of 4000 JPY", "0 payments of 0 JPY"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sqlite(t)
			paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 20:00:00")
			book(t, b, "shop", refund("re_1", "p1", "R1", "5.00"))
			a := plainAccount(t)
			a.Provider = promising{a.Provider, c.promises}
			files := []string{file(t, "x.zip", []byte(zipped(t, packedMember{"summary.csv", "summary"}, packedMember{"a.csv", morning}, packedMember{"b.csv", evening}))),
				file(t, "r.csv", []byte(refunds))}
			r, err := tryRun(t.Context(), b, a, day(t, "2026-11-28"), files...)
			if c.totals == "" {
				wantFileError(t, err, c.words...)
				wantNothingWritten(t, b)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantRun(t, r, "4 3") // a refund that failed is no pair
			if r.Statement.ControlTotals != c.totals {
				t.Errorf("control totals: %s, want %s", r.Statement.ControlTotals, c.totals)
			}
		})
	}
}

// TestPeriod: a file that says which days it is of is held to it, also when it has no rows.
func TestPeriod(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 11, day, 0, 0, 0, 0, shanghai).UTC() }
	for _, c := range []struct {
		from, to time.Time
		words    []string // nil: taken
	}{
		{at(28), at(29), nil},
		{at(1), at(30), nil},
		{time.Time{}, time.Time{}, nil},
		{at(28).Add(-time.Hour), at(28).Add(time.Second), nil},
		{at(27), at(28), []string{"says it is of 2026-11-27, the run is for 2026-11-28"}},
		{at(29), at(30), []string{"of 2026-11-29,"}},
		{at(20), at(28), []string{"of 2026-11-20 to 2026-11-27,"}},
	} {
		for _, compared := range []bool{true, false} {
			b := sqlite(t)
			a := reconcile.Account{Name: "shop", Zone: shanghai, Provider: script{statement: models.Statement{Compared: compared, Title: "summary", From: c.from, To: c.to}}}
			r, err := tryRun(t.Context(), b, a, day(t, "2026-11-28"), file(t, "s.csv", []byte("x")))
			switch {
			case c.words != nil:
				wantFileError(t, err, append(c.words, "s.csv")...)
				wantNothingWritten(t, b)
			case compared && err != nil:
				t.Errorf("from %s to %s: %v", c.from, c.to, err)
			case compared:
				wantRun(t, r, "0 0")
			}
		}
	}
}
