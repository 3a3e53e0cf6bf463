package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// TestMovements: the quick way to read a day tells the same as the one that reads whole rows, in the same order, whatever the account is
// called.
func TestMovements(t *testing.T) {
	accounts := []string{"shop", `o'shop \' " ; DROP`, "空"}
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		for i, account := range accounts {
			pay := func(id, order, amount string) models.Event {
				ev := payment(fmt.Sprint(id, i), fmt.Sprint(order, i), amount)
				ev.TransactionID += "-号"
				return ev
			}
			half := refund("", fmt.Sprint("ch1", i)+"-号", "5.00")
			half.RefundOrderID = fmt.Sprint("R", i)
			told := half
			told.TransactionID = fmt.Sprint("re", i)
			failed := pay("ch3", "O3", "7.00")
			failed.Kind = models.PaymentFailed
			for _, ev := range []models.Event{pay("ch1", "O1", "29.99"), half, told, pay("ch2", "O2", "0.01"), failed} {
				if _, err := record(t.Context(), book, account, ev); err != nil {
					t.Fatal(err)
				}
			}
		}
		from, to := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, account := range accounts {
			want := wholeRows(t, book, account, from, to)
			got := movementsOf(t, book, account, from, to)
			if len(want) < 4 || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("account %s:\n%s\nwhole rows:\n%s", account, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if got := movementsOf(t, book, "nobody's", from, to); len(got) != 0 {
			t.Errorf("an account without any: %q", got)
		}
		enough := errors.New("enough")
		if err := book.Movements(t.Context(), "shop", from, to, func(*ledger.Movement) error { return enough }); !errors.Is(err, enough) {
			t.Errorf("stopped by the reader: %v", err)
		}
		if got := movementsOf(t, book, "shop", from, to); len(got) < 4 {
			t.Errorf("after one that was stopped: %q", got)
		}
	})
}

func wholeRows(t *testing.T, book *ledger.Ledger, account string, from, to time.Time) (list []string) {
	t.Helper()
	if err := book.Transactions(t.Context(), account, from, to, func(m models.Transaction) error {
		list = append(list, fmt.Sprint(m.Kind, m.TransactionID, m.ProviderID, m.ParentID, m.Money(), m.Status, m.Outcome, m.OccurredAt))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

func movementsOf(t *testing.T, book *ledger.Ledger, account string, from, to time.Time) (list []string) {
	t.Helper()
	if err := book.Movements(t.Context(), account, from, to, func(m *ledger.Movement) error {
		list = append(list, fmt.Sprint(m.Kind, m.ID, m.ProviderID, m.ParentID, m.Money, m.Status, m.Outcome, m.OccurredAt))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestLateChanges: what changes the book of a day that is long over is counted for that day and account, and nothing else is.
func TestLateChanges(t *testing.T) {
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -20)
	at := func(ev models.Event, days int) models.Event {
		ev.OccurredAt = day.AddDate(0, 0, days).Add(12 * time.Hour)
		return ev
	}
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		changes := func() string {
			var counts []string
			for _, account := range []string{"a", "b"} {
				for days := range 3 {
					n, err := book.LateChanges(t.Context(), account, day.AddDate(0, 0, days), day.AddDate(0, 0, days).Add(time.Hour))
					if err != nil {
						t.Fatal(err)
					}
					counts = append(counts, fmt.Sprint(n))
				}
			}
			return strings.Join(counts, " ")
		}
		for _, step := range []struct {
			what    string
			account string
			event   models.Event
			want    string
		}{
			{"a payment of today", "a", at(payment("ch0", "O0", "1.00"), 20), "0 0 0 0 0 0"},
			{"a late payment", "a", at(payment("ch1", "O1", "29.99"), 1), "0 1 0 0 0 0"},
			{"one of another account", "b", at(payment("ch2", "O2", "29.99"), 2), "0 1 0 0 0 1"},
			{"a late refund of a payment of another day", "a", at(refund("re1", "ch1", "5.00"), 2), "0 1 1 0 0 1"},
			{"another sum under the same id", "a", at(payment("ch1", "O1", "30.99"), 1), "0 2 1 0 0 1"},
		} {
			if _, err := record(t.Context(), book, step.account, step.event); err != nil {
				t.Fatal(err)
			}
			if got := changes(); got != step.want {
				t.Errorf("%s: %s, want %s", step.what, got, step.want)
			}
		}
	})
}

// TestAnswersAreKept one a date, the last.
func TestAnswersAreKept(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		for i, want := range []string{"", "first", "second"} {
			if i > 0 {
				if err := book.KeepAnswer(t.Context(), "a", leaseDay, "key of "+want, want); err != nil {
					t.Fatal(err)
				}
			}
			key, got, err := book.Answer(t.Context(), "a", leaseDay)
			if err != nil || got != want || want != "" && key != "key of "+want {
				t.Errorf("answer %q under %q, %v; want %q", got, key, err, want)
			}
		}
		if _, got, err := book.Answer(t.Context(), "b", leaseDay); got != "" || err != nil {
			t.Errorf("of another account: %q, %v", got, err)
		}
	})
}
