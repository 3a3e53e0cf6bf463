package ledger_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

func running(order, parent, number, total, at string) models.Event {
	return models.Event{ID: "evt", Kind: models.RefundSucceeded, RunningTotal: true, ParentID: parent, OrderID: order, RefundOrderID: number,
		Money: sum(total, "CNY"), OccurredAt: clockTime(at)}
}

// Twenty refunds of one payment through two replicas at once: each is worth its own sum in the end, and no moment shows more than the
// highest total.
func TestRunningTotalsAtOnce(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		ledgertest.Order(t, books[0], "O1", "200.00", "CNY")
		paid := models.Event{Kind: models.PaymentSucceeded, TransactionID: "t1", OrderID: "O1", Money: sum("200.00", "CNY"), OccurredAt: clockTime("12:00")}
		if _, err := record(t.Context(), books[0], "a", paid); err != nil {
			t.Fatal(err)
		}
		inParallel(20, func(i int) {
			total := fmt.Sprintf("%d.00", 10*(i+1))
			if _, err := record(t.Context(), books[i%2], "a", running("O1", "t1", fmt.Sprintf("R%d", i), total, fmt.Sprintf("13:%02d", i))); err != nil {
				t.Error(err)
			}
		})
		wantTens(t, books[0], "a", 20)
		if err := wantOrder(t.Context(), books[0], "O1", "refunded", pairs([]string{"refunded=200.00"})); err != nil {
			t.Error(err)
		}
		checkBooks(t, books[0])
	})
}

// The same where no order is here to be locked.
func TestRunningTotalsAtOnceElsewhere(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		o := ledger.Options{Elsewhere: []string{"elsewhere"}}
		books := [2]*ledger.Ledger{ledgertest.Open(t, dsn, o), ledgertest.Open(t, dsn, o)}
		paid := models.Event{Kind: models.PaymentSucceeded, TransactionID: "t1", OrderID: "X1", Money: sum("200.00", "CNY"), OccurredAt: clockTime("12:00")}
		if _, err := record(t.Context(), books[0], "elsewhere", paid); err != nil {
			t.Fatal(err)
		}
		inParallel(20, func(i int) {
			total := fmt.Sprintf("%d.00", 10*(i+1))
			if _, err := record(t.Context(), books[i%2], "elsewhere", running("X1", "t1", fmt.Sprintf("R%d", i), total, fmt.Sprintf("13:%02d", i))); err != nil {
				t.Error(err)
			}
		})
		wantTens(t, books[0], "elsewhere", 20)
	})
}

func wantTens(t *testing.T, book *ledger.Ledger, account string, want int) {
	t.Helper()
	n := 0
	err := book.Transactions(t.Context(), account, day.AddDate(0, 0, -1), day.AddDate(0, 0, 2), func(tx models.Transaction) error {
		if tx.Kind == models.Refund {
			if n++; tx.AmountMinor != 1000 || tx.Outcome != models.OutcomeApplied {
				t.Errorf("refund %s: %s %s, want 10.00 applied", tx.TransactionID, tx.Money(), tx.Outcome)
			}
		}
		return nil
	})
	if err != nil || n != want {
		t.Errorf("%d refunds, %v; want %d", n, err, want)
	}
}

// The shop is told each refund's own sum, and told again when it turns out smaller; a callback shows what its message names.
func TestRunningTotalsAreToldAsRefunds(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		paid := models.Event{Kind: models.PaymentSucceeded, TransactionID: "t1", OrderID: "X1", Money: sum("200.00", "CNY"), OccurredAt: clockTime("12:00")}
		for _, ev := range []models.Event{paid, running("X1", "t1", "R2", "80.00", "12:20"), running("X1", "t1", "R1", "50.00", "12:10")} {
			if _, err := record(t.Context(), book, "elsewhere", ev); err != nil {
				t.Fatal(err)
			}
		}
		messages, err := book.Messages(t.Context(), "X1")
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, m := range messages {
			var n struct {
				Transaction struct {
					ID     string `json:"transaction_id"`
					Amount string `json:"amount"`
				} `json:"transaction"`
			}
			if err := json.Unmarshal([]byte(m.Payload), &n); err != nil {
				t.Fatal(err)
			}
			told = append(told, n.Transaction.ID+" "+n.Transaction.Amount)
		}
		if got, want := strings.Join(told, ", "), "t1 200.00, t1:R2 80.00, t1:R2 30.00, t1:R1 50.00"; got != want {
			t.Errorf("told %s\nwant %s", got, want)
		}
		list, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{Event: models.RefundSucceeded})
		if err != nil || len(list) != 2 || list[0].TransactionID != "t1" {
			t.Errorf("callbacks %+v, %v; want two that name t1", list, err)
		}
	}, ledger.Options{Elsewhere: []string{"elsewhere"}})
}

// A file with an attempt that failed and the one that did not, of one payment, tells nothing new the second time.
func TestImportOfAFailedAttemptAgain(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		ledgertest.Order(t, book, "O1", "19.99", "USD")
		failed, paid := payment("ch1", "O1", "19.99"), payment("ch1", "O1", "19.99")
		failed.Kind, failed.OccurredAt = models.PaymentFailed, clockTime("11:50")
		for _, want := range []string{"map[applied:2]", "map[duplicate:2]"} {
			counts, err := book.ImportTransactions(t.Context(), imports(failed, paid))
			if err != nil || fmt.Sprint(counts) != want {
				t.Errorf("%v %v, want %s", counts, err, want)
			}
		}
		late := failed
		late.OccurredAt = clockTime("12:30")
		if counts, err := book.ImportTransactions(t.Context(), imports(late)); err != nil || counts[models.OutcomeNotAllowed] != 1 {
			t.Errorf("a failure after the success: %v %v, want not_allowed", counts, err)
		}
	})
}
