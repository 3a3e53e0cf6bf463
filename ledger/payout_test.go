package ledger_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

var paidAt = time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)

// calledBack books what a callback says of a payout.
func calledBack(t *testing.T, b *ledger.Ledger, kind models.EventKind, id string, minor int64, at time.Time) {
	t.Helper()
	cb := models.Callback{Account: "shop", Method: "POST", ReceivedAt: at, Body: fmt.Appendf(nil, "%s %s %d %s", kind, id, minor, at)}
	events := []models.Event{{Kind: kind, TransactionID: id, Money: models.Money{Minor: minor, Currency: "USD"}, OccurredAt: at}}
	if _, err := b.Record(t.Context(), cb, events, func(models.Outcome) int { return 200 }); err != nil {
		t.Fatal(err)
	}
}

// stated is a payout as a statement tells it.
func stated(id string, minor int64, status models.TransactionStatus) ledger.Payout {
	return ledger.Payout{PayoutID: id, Money: models.Money{Minor: minor, Currency: "USD"}, Status: status, OccurredAt: paidAt, File: "payouts.csv"}
}

// wantPayouts checks all payouts, in short: "po_1 100 succeeded payouts.csv 2026-11-29".
func wantPayouts(t *testing.T, b *ledger.Ledger, want ...string) {
	t.Helper()
	list, _, err := b.Payouts(t.Context(), ledger.PayoutFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		got = append(got, strings.TrimSpace(fmt.Sprintln(p.PayoutID, p.Money.Minor, p.Status, p.File, p.Date)))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("payouts are %q, want %q", got, want)
	}
}

// A payout is one row, whoever tells of it and in which order.
func TestPayoutsAreToldByStatementsAndCallbacks(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		const d = "2026-11-29"
		save := func(date string, list ...ledger.Payout) {
			t.Helper()
			saveRun(t, b, runDay, date, ledger.Findings{Payouts: list, Healed: []string{fmt.Sprint(list)}})
		}
		calledBack(t, b, models.PayoutPending, "po_1", 100, paidAt)
		wantPayouts(t, b, "po_1 100 pending")
		calledBack(t, b, models.PayoutPaid, "po_1", 100, paidAt)
		wantPayouts(t, b, "po_1 100 succeeded")
		save(d, stated("po_1", 90, models.StatusPending), stated("po_2", 50, models.StatusSucceeded))
		wantPayouts(t, b, "po_1 90 succeeded payouts.csv "+d, "po_2 50 succeeded payouts.csv "+d)
		calledBack(t, b, models.PayoutPaid, "po_2", 51, paidAt) // the statement's sum stays
		wantPayouts(t, b, "po_1 90 succeeded payouts.csv "+d, "po_2 50 succeeded payouts.csv "+d)
		calledBack(t, b, models.PayoutFailed, "po_2", 51, paidAt.Add(time.Hour)) // it has bounced
		save(d, stated("po_1", 90, models.StatusPending), stated("po_2", 50, models.StatusSucceeded), stated("po_3", 7, models.StatusSucceeded))
		wantPayouts(t, b, "po_1 90 succeeded payouts.csv "+d, "po_2 50 failed payouts.csv "+d, "po_3 7 succeeded payouts.csv "+d)

		save("2026-11-30", stated("po_3", 8, models.StatusSucceeded)) // a later statement knows better than an older one read again
		save(d, stated("po_3", 7, models.StatusSucceeded))
		wantPayouts(t, b, "po_1 100 succeeded", "po_2 51 failed", "po_3 8 succeeded payouts.csv 2026-11-30")
		save("2026-11-30")
		wantPayouts(t, b, "po_1 100 succeeded", "po_2 51 failed")
	})
}

// A run whose files can hold payments only says nothing of payouts.
func TestPayoutsOfARunOfOtherKindsStay(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		saveRun(t, b, runDay, "2026-11-29", ledger.Findings{Payouts: []ledger.Payout{stated("po_1", 90, models.StatusSucceeded)}})
		saveRun(t, b, runDay, "2026-11-29", ledger.Findings{Kinds: []models.TransactionKind{models.Payment}})
		wantPayouts(t, b, "po_1 90 succeeded payouts.csv 2026-11-29")
	})
}

func TestPayoutsFilterAndPage(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		var list []ledger.Payout
		for i := range 7 {
			p := stated(fmt.Sprint("po_", i), int64(i+1), models.StatusSucceeded)
			p.OccurredAt = paidAt.Add(time.Duration(i/2) * time.Hour) // some of one moment
			list = append(list, p)
		}
		list[3].Batch, list[4].BankReference, list[5].Status = "42", "REF 4", models.StatusFailed
		saveRun(t, b, runDay, "2026-11-29", ledger.Findings{Payouts: list})
		count := func(want int, f ledger.PayoutFilter) {
			t.Helper()
			if got, _, err := b.Payouts(t.Context(), f); err != nil || len(got) != want {
				t.Errorf("%+v: %d payouts (%v), want %d", f, len(got), err, want)
			}
		}
		count(7, ledger.PayoutFilter{Account: "shop"})
		count(0, ledger.PayoutFilter{Account: "other"})
		count(2, ledger.PayoutFilter{IDs: []string{"42", "po_1", "po_9"}})
		count(1, ledger.PayoutFilter{Status: models.StatusFailed})
		count(3, ledger.PayoutFilter{From: paidAt.Add(2 * time.Hour)})
		count(4, ledger.PayoutFilter{To: paidAt.Add(2 * time.Hour)})
		var ids []string
		for f := (ledger.PayoutFilter{Page: ledger.Page{Limit: 2}}); ; {
			page, next, err := b.Payouts(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range page {
				ids = append(ids, p.PayoutID)
			}
			if f.After = next; next == "" {
				break
			}
		}
		if want := []string{"po_6", "po_5", "po_4", "po_3", "po_2", "po_1", "po_0"}; !slices.Equal(ids, want) {
			t.Errorf("in pages %q, want %q", ids, want)
		}
		got, _, err := b.Payouts(t.Context(), ledger.PayoutFilter{IDs: []string{"42"}})
		if err != nil || len(got) != 1 || got[0].RowsID() != "42" || got[0].PayoutID != "po_3" || !got[0].OccurredAt.Equal(paidAt.Add(time.Hour)) {
			t.Errorf("batch 42 is %+v, %v", got, err)
		}
	})
}

// The steps of a date are replaced by its next run, of the kinds that it has looked at; sums of any size come back as they were.
func TestPayoutStepsAreReplaced(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		huge, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
		step := func(kind models.TransactionKind, amount *big.Int) ledger.PayoutStep {
			return ledger.PayoutStep{PayoutID: "po_1", Kind: kind, Currency: "USD", Count: 2, Amount: amount, Fee: big.NewInt(-3), Whole: kind == models.EntryFee}
		}
		save := func(date string, kinds []models.TransactionKind, list ...ledger.PayoutStep) {
			t.Helper()
			saveRun(t, b, runDay, date, ledger.Findings{Kinds: kinds, Steps: list, Healed: []string{fmt.Sprint(list)}})
		}
		save("2026-11-28", nil, step(models.Payment, big.NewInt(100)), step(models.Refund, huge))
		save("2026-11-29", nil, step(models.Payment, big.NewInt(5)))
		save("2026-11-28", []models.TransactionKind{models.Payment}, step(models.Payment, big.NewInt(101)), step(models.EntryFee, big.NewInt(-1)))
		list, err := b.PayoutSteps(t.Context(), "shop", []string{"po_1", "po_2"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range list {
			got = append(got, fmt.Sprint(s.Date, " ", s.Kind, " ", s.Count, " ", s.Amount, " ", s.Fee, " ", s.Whole))
		}
		want := []string{"2026-11-28 fee 2 -1 -3 true", "2026-11-28 payment 2 101 -3 false", "2026-11-28 refund 2 " + huge.String() + " -3 false",
			"2026-11-29 payment 2 5 -3 false"}
		if !slices.Equal(got, want) {
			t.Errorf("steps are %q, want %q", got, want)
		}
		save("2026-11-28", nil)
		if list, err = b.PayoutSteps(t.Context(), "shop", []string{"po_1"}); err != nil || len(list) != 1 || list[0].Date != "2026-11-29" {
			t.Errorf("after the date's next run %+v, %v", list, err)
		}
		if other, err := b.PayoutSteps(t.Context(), "other", []string{"po_1"}); err != nil || len(other) != 0 {
			t.Errorf("another account has %+v, %v", other, err)
		}
	})
}
