package bank

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// A corrected statement of the day heals what the wrong one said, and a payout told late heals what looked unexpected.
func TestHealing(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		b := euro()
		b.Ours.Patterns = []*regexp.Regexp{regexp.MustCompile("(?i)stripe")}
		pays(t, book, "stripe po_AAAA1111 2026-11-27 100.00")
		wrong := statementText("2026-11-30", "0.00", "2026-11-30 10.00 bank=1 text=stripe po_AAAA1111", "2026-11-30 55.00 bank=2 text=STRIPE")
		right := statementText("2026-11-30", "0.00", "2026-11-30 100.00 bank=1 text=stripe po_AAAA1111", "2026-11-30 55.00 bank=2 text=STRIPE")
		tells(t, runs(t, book, b, "2026-11-30", wrong), "payout_mismatch po_AAAA1111, bank_unexpected 2")
		tells(t, runs(t, book, b, "2026-11-30", right), "reference:po_AAAA1111×1, bank_unexpected 2, +po_AAAA1111")
		pays(t, book, "stripe po_AAAA1112 2026-11-29 55.00")
		tells(t, runs(t, book, b, "2026-12-01", ""), "+2")
		tells(t, runs(t, book, b, "2026-11-30", right), "reference:po_AAAA1111×1, amount:po_AAAA1112×1, +po_AAAA1111, +2")
		if got := strings.Join(matchesOf(t, book, b), ", "); got != "1 reference po_AAAA1111, 2 amount po_AAAA1112" {
			t.Error(got)
		}
		tells(t, runs(t, book, b, "2026-11-30", statementText("2026-11-30", "0.00", "2026-11-30 55.00 bank=2 text=STRIPE")), "amount:po_AAAA1112×1, ~po_AAAA1111, +2")
		if got := strings.Join(matchesOf(t, book, b), ", "); got != "2 amount po_AAAA1112" {
			t.Error(got)
		}
	})
}

// What a person has resolved stays so while it looks the same, and the runs of the payouts' own accounts touch nothing of it.
func TestPersonsWordAndOtherRuns(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		b := euro()
		pays(t, book, "stripe po_AAAA1111 2026-11-27 100.00")
		one := statementText("2026-11-30", "0.00", "2026-11-30 98.00 bank=1 ref=po_AAAA1111")
		r := runs(t, book, b, "2026-11-30", one)
		if _, err := book.ResolveGap(t.Context(), r.Gaps[0].ID, "the bank keeps two euros"); err != nil {
			t.Fatal(err)
		}
		r = runs(t, book, b, "2026-11-30", one)
		tells(t, r, "")
		pays(t, book, "stripe po_AAAA1119 2026-11-30 7.00")
		stands(t, book, "", "resolved po_AAAA1111")
		r = runs(t, book, b, "2026-11-30", strings.ReplaceAll(one, "98.00", "97.00"))
		tells(t, r, "payout_mismatch po_AAAA1111, ~po_AAAA1119")
	})
}

// A line read again in another file, such as that of a week, is the same line; two that say the same in one file are two.
func TestLinesAreUsedOnce(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		b := euro()
		b.Ours.Credits = true
		runs(t, book, b, "2026-11-27", statementText("2026-11-27", "0.00", "2026-11-27 5.00 text=same", "2026-11-27 5.00 text=same"))
		week := camtText(balanceText053("OPBD", "0.00", "2026-11-22") + balanceText053("CLBD", "16.00", "2026-11-30") + entry("2026-11-27 5.00 text=same").camt() +
			entry("2026-11-27 5.00 text=same").camt() + entry("2026-11-30 6.00 bank=B").camt())
		r := runs(t, book, b, "2026-11-30", week)
		tells(t, r, "bank_unexpected B")
		lines, err := book.BankLines(t.Context(), "euro", "2026-01-01", "")
		if err != nil || len(lines) != 3 {
			t.Errorf("%d lines, %v", len(lines), err)
		}
		if open := openOf(t, book); strings.Count(open, "bank_unexpected") != 3 {
			t.Error(open)
		}
	})
}

// Two exports of one day overlap where no balances keep them apart: a line of both came once, and two that one of them has came twice.
func TestFilesThatOverlap(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		b := csvBank(Layout{Date: "Date", Amount: "Amount", Texts: []string{"Purpose"}})
		pays(t, book, "stripe po_AAAA1111 2026-11-30 100.00", "stripe po_AAAA1112 2026-11-30 50.00")
		const head, payout, half, other = "Date,Amount,Purpose\n", "2026-11-30,100.00,po_AAAA1111\n", "2026-11-30,25.00,po_AAAA1112\n", "2026-11-30,7.00,x\n"
		r, err := Run(t.Context(), book, b, reconcile.Files(file(t, "a.csv", head+payout+half+half), file(t, "b.csv", head+other+half+payout)),
			day(t, "2026-11-30"), reconcile.Options{Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		tells(t, r, "reference:po_AAAA1112×2, reference:po_AAAA1111×1")
		if !slices.Equal(r.Notes, []string{"b.csv: 2 of its lines are in another file of the day as well, read once"}) {
			t.Errorf("%q", r.Notes)
		}
	})
}

// A payout lands at one bank; another that might have it, too, does not miss it.
func TestTwoBanks(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		one, two := euro(), euro()
		two.Name = "second"
		pays(t, book, "stripe po_AAAA1111 2026-11-27 100.00")
		tells(t, runs(t, book, one, "2026-11-30", statementText("2026-11-30", "0.00")), "~po_AAAA1111")
		tells(t, runs(t, book, two, "2026-11-30", statementText("2026-11-30", "0.00", "2026-11-30 100.00 ref=po_AAAA1111")), "reference:po_AAAA1111×1")
		tells(t, runs(t, book, one, "2026-12-01", statementText("2026-12-01", "0.00")), "+po_AAAA1111")
		stands(t, book, "bank/second", "")
	})
}

// A refused file leaves the books as they were.
func TestNothingHalfWritten(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		b := euro()
		pays(t, book, "stripe po_AAAA1111 2026-11-27 100.00")
		good := statementText("2026-11-30", "0.00", "2026-11-30 100.00 bank=1 ref=po_AAAA1111", "2026-11-30 5.00 bank=2")
		runs(t, book, b, "2026-11-30", good)
		for _, bad := range []string{good[:len(good)-40], strings.Replace(good, ">5.00<", ">6.00<", 1), strings.ReplaceAll(good, "2026-11-30", "2026-12-01")} {
			if _, err := Run(t.Context(), book, b, reconcile.Files(file(t, "bad.xml", bad)), day(t, "2026-11-30"), reconcile.Options{Now: clock}); err == nil {
				t.Error("not refused")
			}
		}
		if got := strings.Join(matchesOf(t, book, b), ", "); got != "1 reference po_AAAA1111" {
			t.Error(got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Run(ctx, book, b, reconcile.Files(file(t, "x.xml", good)), day(t, "2026-11-30"), reconcile.Options{Now: clock}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		err := book.UnderLease(t.Context(), ledger.RunLease("bank/euro", "2026-11-30"), func(ctx context.Context, _ *ledger.Lease) error {
			_, err := Run(ctx, book, b, reconcile.Files(file(t, "x.xml", good)), day(t, "2026-11-30"), reconcile.Options{Now: clock})
			return err
		})
		if !errors.Is(err, reconcile.ErrBusy) {
			t.Error(err)
		}
	})
}

// Two lines that may be one payout are never chosen from: they are named, and stay so when all days have been read.
func TestAmbiguousStaysAmbiguous(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		pays(t, book, "stripe po_AAAA1111 2026-11-30 100.00")
		b := euro()
		b.Ours.Credits = true
		tells(t, runs(t, book, b, "2026-11-30", statementText("2026-11-30", "0.00", "2026-11-30 100.00 bank=L1", "2026-11-30 100.00 bank=L2")), "~po_AAAA1111")
		r := quietDays(t, book, b, "2026-12-01", "2026-12-02", "2026-12-03", "2026-12-04", "2026-12-07")
		tells(t, r, "bank_missing po_AAAA1111")
		for _, want := range []string{"nothing says which", "L1", "L2"} {
			if !strings.Contains(r.Gaps[0].Reason, want) {
				t.Errorf("%q lacks %q", r.Gaps[0].Reason, want)
			}
		}
		pays(t, book, "stripe po_AAAA1112 2026-11-30 100.00")
		r = runs(t, book, b, "2026-12-07", "")
		tells(t, r, "bank_missing po_AAAA1111, bank_missing po_AAAA1112")
		if !strings.Contains(r.Gaps[0].Reason, "may also be payout po_AAAA1112") {
			t.Error(r.Gaps[0].Reason)
		}
	})
}

// What was matched long ago stays so when a later run looks back to a day between the line and the payout.
func TestOldMatchesStand(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		b := euro()
		b.Ours.Credits = true
		pays(t, book, "stripe po_AAAA1111 2026-05-29 100.00", "stripe po_AAAA1112 2026-05-29 50.00")
		tells(t, runs(t, book, b, "2026-06-01", statementText("2026-06-01", "0.00", "2026-06-01 100.00 bank=1", "2026-06-01 49.00 bank=2 ref=po_AAAA1112")),
			"amount:po_AAAA1111×1, payout_mismatch po_AAAA1112")
		for _, d := range []string{"2026-08-29", "2026-08-31", "2026-09-01", "2026-09-02"} { // about 92 days later
			tells(t, runs(t, book, b, d, ""), "")
		}
		if got := strings.Join(matchesOf(t, book, b), ", "); got != "1 amount po_AAAA1111, 2 reference po_AAAA1112" {
			t.Error(got)
		}
		stands(t, book, "", "open po_AAAA1112")
	})
}

// A statement may come packed, and again plain beside it; a hole between two statements is told.
func TestPackedAndHoles(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"), ledger.Options{Now: clock})
	b := euro()
	b.Ours.Credits = true
	text := statementText("2026-11-30", "0.00", "2026-11-30 5.00 bank=1")
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("a/statement.xml")
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	src := reconcile.Files(file(t, "s.zip", packed.String()), file(t, "s.xml", text))
	r, err := Run(t.Context(), book, b, src, day(t, "2026-11-30"), reconcile.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	tells(t, r, "bank_unexpected 1")
	if len(r.Statement.Files) != 2 || r.Statement.Entries != 1 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "read once") || r.Gaps[0].Statement.File != "s.zip/a/statement.xml" {
		t.Errorf("%+v, notes %q, %+v", r.Statement, r.Notes, r.Gaps[0].Statement)
	}
	r = runs(t, book, b, "2026-12-02", statementText("2026-12-02", "7.00"))
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "opens with 7.00 EUR") || !strings.Contains(r.Notes[0], "of 2026-11-30, closed with 5.00 EUR") {
		t.Errorf("%q", r.Notes)
	}
	_, err = Run(t.Context(), book, b, reconcile.Files(file(t, "s.zip", packed.String()[:packed.Len()-30])), day(t, "2026-11-30"), reconcile.Options{Now: clock})
	refused(t, err, "s.zip")
}

// A payout is also known by what the bank's line shows beside its id, and by its batch where a pattern finds that.
func TestFurtherNames(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		keep := func(date string, payouts ...ledger.Payout) {
			t.Helper()
			turn, err := book.Turn(t.Context(), "adyen")
			if err != nil {
				t.Fatal(err)
			}
			run := models.Run{Account: "adyen", Date: date, CreatedAt: clock()}
			_, err = book.SaveRun(t.Context(), &run, ledger.Findings{Turn: turn, Payouts: payouts}, func(run *models.Run, _ ledger.Saved) error {
				run.Fingerprint = fmt.Sprint(payouts)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		payout := func(id, batch, shown string) ledger.Payout {
			return ledger.Payout{PayoutID: id, Batch: batch, BankReference: shown, Money: models.Money{Minor: 1000, Currency: "EUR"},
				Status: models.StatusSucceeded, OccurredAt: parseDate("2026-11-27")}
		}
		keep("2026-11-27", payout("first-payout", "", "TX99XT shop"), payout("second-payout", "4711", ""))
		b := euro()
		text := statementText("2026-11-30", "0.00", "2026-11-30 10.00 bank=1 text=tx99xt shop", "2026-11-30 10.00 bank=2 text=BATCH 4711")
		tells(t, runs(t, book, b, "2026-11-30", text), "reference:first-payout×1, amount:second-payout×1")
		b.References = map[string]Reference{"adyen": {Pattern: regexp.MustCompile(`BATCH (\d+)`)}}
		tells(t, runs(t, book, b, "2026-11-30", text), "reference:second-payout×1, amount:first-payout×1")
		// the provider's corrected statement knows one of them only
		keep("2026-11-27", payout("second-payout", "4711", ""))
		tells(t, runs(t, book, b, "2026-11-30", text), "reference:second-payout×1")
		if got := strings.Join(matchesOf(t, book, b), ", "); got != "2 reference second-payout" {
			t.Error(got)
		}
	})
}

// What only a callback tells of an account whose statements tell payouts may be money for somebody else: it is found by its name only,
// and nobody misses it. Where no statement tells any, a callback's word is all there is.
func TestPayoutsOfCallbacksOnly(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		b := euro()
		call := func(id string) {
			t.Helper()
			cb := models.Callback{Account: "stripe", Method: "POST", ReceivedAt: clock(), Body: []byte(id)}
			ev := models.Event{Kind: models.PayoutPaid, TransactionID: id, Money: models.Money{Minor: 500, Currency: "EUR"}, OccurredAt: parseDate("2026-11-27")}
			if _, err := book.Record(t.Context(), cb, []models.Event{ev}, func(models.Outcome) int { return 200 }); err != nil {
				t.Fatal(err)
			}
		}
		call("po_CALL0001")
		empty := statementText("2026-11-30", "0.00")
		tells(t, runs(t, book, b, "2026-11-30", empty), "~po_CALL0001")
		pays(t, book, "stripe po_AAAA1111 2026-11-27 7.00")
		tells(t, runs(t, book, b, "2026-11-30", empty), "~po_AAAA1111, +po_CALL0001")
		tells(t, runs(t, book, b, "2026-11-30", statementText("2026-11-30", "0.00", "2026-11-30 5.00 text=x")), "~po_AAAA1111, +po_CALL0001")
		tells(t, runs(t, book, b, "2026-11-30", statementText("2026-11-30", "0.00", "2026-11-30 5.00 text=po_CALL0001")), "reference:po_CALL0001×1, ~po_AAAA1111, +po_CALL0001")
	})
}
