package reconcile_test

import (
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// permutations are all orders of a list.
func permutations[T any](list []T) [][]T {
	if len(list) < 2 {
		return [][]T{list}
	}
	var all [][]T
	for i := range list {
		rest := append(append([]T{}, list[:i]...), list[i+1:]...)
		for _, p := range permutations(rest) {
			all = append(all, append([]T{list[i]}, p...))
		}
	}
	return all
}

// wantInAnyOrder runs the entries in every order of theirs; each comes to the same.
func wantInAnyOrder(t *testing.T, b *ledger.Ledger, entries []models.Entry, counts string, want ...string) {
	t.Helper()
	for _, order := range permutations(entries) {
		a := reconcile.Account{Name: "shop", Provider: script{models.Statement{Compared: true}, order}}
		r, err := reconcile.Run(t.Context(), b, a, reconcile.Files(file(t, "s.csv", []byte("x"))), day(t, "2026-11-28"), reconcile.Options{DryRun: true, Now: noon})
		if err != nil {
			t.Fatal(err)
		}
		wantRun(t, r, counts, want...)
	}
}

func at(e models.Entry, clock string) models.Entry {
	local, err := time.ParseInLocation(time.DateTime, "2026-11-28 "+clock, shanghai)
	if err != nil {
		panic(err)
	}
	e.OccurredAt = local.UTC()
	return e
}

// TestNearestName: several rows of a statement know one row of the book, each by another of its names. It goes to the one whose own
// id it has, whatever the order of the rows and whatever the book stored it under.
func TestNearestName(t *testing.T) {
	older := at(alias(entry("ch_old", "20.00", models.StatusSucceeded), "pi_1"), "09:00:00")
	newer := at(alias(entry("ch_new", "20.00", models.StatusSucceeded), "pi_1"), "10:00:00")
	other := at(entry("p2", "20.00", models.StatusSucceeded), "11:00:00")
	for _, c := range []struct {
		name    string
		id      string
		aliases []string
		entries []models.Entry
		counts  string
		want    []string
	}{
		{"stored under the charge", "ch_new", []string{"ch_new", "pi_1"}, []models.Entry{older, newer, other}, "3 2", []string{"missing_local payment ch_old"}},
		{"stored under the intent", "pi_1", []string{"pi_1", "ch_new"}, []models.Entry{older, newer, other}, "3 2", []string{"missing_local payment ch_old"}},
		{"the older one is booked", "pi_1", []string{"pi_1", "ch_old"}, []models.Entry{older, newer, other}, "3 2", []string{"missing_local payment ch_new"}},
		{"the intent alone is booked: the attempt that worked", "pi_1", nil, []models.Entry{older, newer, other}, "3 2", []string{"missing_local payment ch_old"}},
		{"the amount tells", "pi_1", nil, []models.Entry{older, at(alias(entry("ch_new", "30.00", models.StatusSucceeded), "pi_1"), "10:00:00"), other},
			"3 2", []string{"missing_local payment ch_new"}},
		{"a failed attempt", "pi_1", nil, []models.Entry{older, at(alias(entry("ch_new", "20.00", models.StatusFailed), "pi_1"), "10:00:00"), other}, "3 2", nil},
		{"the own id differs, an alias would agree", "ch_new", []string{"ch_new", "pi_1"},
			[]models.Entry{older, at(alias(entry("ch_new", "30.00", models.StatusSucceeded), "pi_1"), "10:00:00"), other}, "3 1",
			[]string{"amount_mismatch payment ch_new", "missing_local payment ch_old"}},
		{"another's name is the own id of a third", "ch_new", []string{"ch_new", "pi_1"},
			[]models.Entry{at(alias(entry("x", "20.00", models.StatusSucceeded), "p2", "ch_new"), "08:00:00"), newer, other}, "3 2",
			[]string{"missing_local payment x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sqlite(t)
			ledgertest.Order(t, b, "O-"+c.id, "20.00", "CNY")
			book(t, b, "shop", movement{Kind: models.Payment, TransactionID: c.id, Aliases: c.aliases, OrderID: "O-" + c.id, Amount: "20.00",
				Currency: "CNY", Status: "succeeded", OccurredAt: "2026-11-28T10:00:00+08:00"})
			paid(t, b, "p2 2026-11-28 11:00:00")
			wantInAnyOrder(t, b, c.entries, c.counts, c.want...)
		})
	}
}

// TestTakenBackInAnyOrder: rows of one id that say succeeded and taken back come to the same in any order.
func TestTakenBackInAnyOrder(t *testing.T) {
	succeeded, reversed := entry("p1", "20.00", models.StatusSucceeded), entry("p1", "20.00", models.StatusReversed)
	for _, c := range []struct {
		name    string
		book    []string
		entries []models.Entry
		counts  string
		want    []string
	}{
		{"booked", []string{"p1 2026-11-28 10:00:00"}, []models.Entry{succeeded, reversed}, "1 0", []string{"status_mismatch payment p1"}},
		{"not booked", nil, []models.Entry{succeeded, reversed}, "1 0", nil},
		{"beside others", []string{"p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00"},
			[]models.Entry{succeeded, reversed, entry("p2", "20.00", models.StatusSucceeded)}, "2 1", []string{"status_mismatch payment p1"}},
		{"repeated as well", []string{"p1 2026-11-28 10:00:00"}, []models.Entry{succeeded, reversed, succeeded}, "1 0",
			[]string{"status_mismatch payment p1", "duplicate_entry payment p1"}},
		{"another amount contradicts", []string{"p1 2026-11-28 10:00:00"}, []models.Entry{succeeded, entry("p1", "21.00", models.StatusReversed)}, "2 0",
			[]string{"conflict payment p1"}},
		{"failed contradicts", []string{"p1 2026-11-28 10:00:00"}, []models.Entry{succeeded, entry("p1", "20.00", models.StatusFailed)}, "2 0",
			[]string{"conflict payment p1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sqlite(t)
			paid(t, b, c.book...)
			wantInAnyOrder(t, b, c.entries, c.counts, c.want...)
		})
	}
}

// TestRefundByItsNumber: the book knows a refund by its payment and the shop's number, the statement by its own id and the number.
func TestRefundByItsNumber(t *testing.T) {
	row := func(id, number, amount string) models.Entry {
		e := entry(id, amount, models.StatusSucceeded)
		e.Kind, e.RefundOrderID, e.OrderID = models.Refund, number, ""
		return e
	}
	for _, c := range []struct {
		name    string
		booked  []movement
		entries []models.Entry
		counts  string
		want    []string
	}{
		{"one of that number", []movement{refund("", "p1", "R1", "5.00")}, []models.Entry{row("re_1", "R1", "5.00")}, "1 1", nil},
		{"two numbers", []movement{refund("", "p1", "R1", "5.00"), refund("", "p1", "R2", "3.00")},
			[]models.Entry{row("re_2", "R2", "3.00"), row("re_1", "R1", "5.00")}, "2 2", nil},
		{"another amount", []movement{refund("", "p1", "R1", "5.00")}, []models.Entry{row("re_1", "R1", "4.00")}, "1 0", []string{"amount_mismatch refund re_1"}},
		{"another number", []movement{refund("", "p1", "R1", "5.00")}, []models.Entry{row("re_1", "1", "5.00")}, "1 0",
			[]string{"missing_local refund re_1", "missing_provider refund p1:R1"}},
		{"two rows claim it", []movement{refund("", "p1", "R1", "5.00")}, []models.Entry{row("re_1", "R1", "5.00"), row("re_2", "R1", "5.00")}, "2 1",
			[]string{"missing_local refund re_2"}},
		{"two of that number are neither", []movement{refund("", "p1", "R1", "5.00"), refund("", "p2", "R1", "5.00")},
			[]models.Entry{row("re_1", "R1", "5.00")}, "1 0",
			[]string{"missing_local refund re_1", "missing_provider refund p1:R1", "missing_provider refund p2:R1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sqlite(t)
			paid(t, b, "p1 2026-11-27 10:00:00", "p2 2026-11-27 10:00:00")
			book(t, b, "shop", c.booked...)
			wantInAnyOrder(t, b, c.entries, c.counts, c.want...)
		})
	}
}
