package ledger_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// A shop that keeps its orders elsewhere must be able to tell which order a refund, its failure or a dispute is about, although the
// provider's message names the payment only.
func TestMessagesOfOrdersElsewhereNameTheOrder(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		for _, line := range []string{
			"payment.succeeded t1 19.99 USD order=X1 account=elsewhere",
			"refund.succeeded r1 5.00 USD parent=t1 account=elsewhere",
			"refund.failed r1 5.00 USD parent=t1 at=15:00 account=elsewhere",
			"refund.total t1 8.00 USD account=elsewhere",
			"dispute.opened d1 9.00 USD parent=t1 account=elsewhere",
		} {
			account, ev := event(strings.Fields(line))
			if _, err := record(t.Context(), book, account, ev); err != nil {
				t.Fatal(line, err)
			}
		}
		messages, err := book.Messages(t.Context(), "X1")
		if err != nil {
			t.Fatal(err)
		}
		var topics []string
		for _, m := range messages {
			topics = append(topics, m.Topic)
			if m.Topic != "payment.succeeded" && m.Topic != "refund.total" && !strings.Contains(m.Payload, `"parent_id":"t1"`) {
				t.Errorf("%s does not name its payment: %s", m.Topic, m.Payload)
			}
		}
		if got, want := strings.Join(topics, " "), "payment.succeeded refund.succeeded refund.failed refund.total dispute.opened"; got != want {
			t.Errorf("told of order X1: %s\nwant %s", got, want)
		}
	}, ledger.Options{Elsewhere: []string{"elsewhere"}})
}

// A callback that was parked says what became of it, whoever brought what it waited for.
func TestParkedCallbackSaysWhatBecameOfIt(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		if _, err := record(t.Context(), book, "a", refund("re1", "ch1", "5.00")); err != nil {
			t.Fatal(err)
		}
		if _, err := record(t.Context(), book, "a", payment("ch1", "O1", "29.99")); err != nil {
			t.Fatal(err)
		}
		if _, err := record(t.Context(), book, "a", payment("ch2", "O2", "19.99")); err != nil {
			t.Fatal(err)
		}
		ledgertest.Order(t, book, "O1", "19.99", "USD")
		ledgertest.Order(t, book, "O2", "19.99", "USD")
		if _, err := book.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]models.Outcome{}
		for _, cb := range list {
			got[cb.TransactionID] = cb.Outcome
		}
		for id, want := range map[string]models.Outcome{"re1": models.OutcomeApplied, "ch1": models.OutcomeAmountMismatch, "ch2": models.OutcomeApplied} {
			if got[id] != want {
				t.Errorf("callback of %s says %s, want %s", id, got[id], want)
			}
		}
	})
}

// One file must not ask for two different orders under one number, however far apart its rows stand.
func TestContradictingOrderRows(t *testing.T) {
	later := day.Add(48 * time.Hour)
	first := models.Order{OrderID: "A", AmountMinor: 100, Currency: "CNY"}
	closed, expiring, dearer := first, first, first
	closed.Status, expiring.ExpiresAt, dearer.AmountMinor = models.Closed, &later, 200
	for name, second := range map[string]models.Order{"status": closed, "expires_at": expiring, "amount": dearer} {
		for distance, rows := range map[string]int{"near": 3, "far": 2500} {
			t.Run(name+" "+distance, func(t *testing.T) {
				ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
					_, err := book.ImportOrders(t.Context(), func(yield func(models.Order, error) bool) {
						if !yield(first, nil) {
							return
						}
						for i := range rows {
							if !yield(models.Order{OrderID: "B" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + time.Duration(i).String(), AmountMinor: 1, Currency: "CNY"}, nil) {
								return
							}
						}
						yield(second, nil)
					})
					var conflict *ledger.OrderConflict
					if !errors.As(err, &conflict) {
						t.Errorf("taken: %v", err)
					}
					if found, err := book.Orders(t.Context(), []string{"A"}); err != nil || len(found) != 0 {
						t.Errorf("something of the file is there: %v %v", found, err)
					}
				})
			})
		}
	}
}

// Where the book has nothing to say of a callback, it shows what the message says itself: a subject in UTF-8, whatever charset it came in.
func TestCallbackShowsTheMessagesOwnWords(t *testing.T) {
	const subject = "测试订单-退换"
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		ledgertest.Order(t, book, "O1", "19.99", "USD")
		ledgertest.Order(t, book, "O2", "19.99", "USD")
		for i, c := range []struct{ order, amount, want string }{
			{"O1", "19.99", subject},
			{"O2", "18.99", "18.99"}, // the book's words go first
		} {
			ev := payment("ch"+c.order, c.order, c.amount)
			ev.Detail = subject
			if _, err := record(t.Context(), book, "a", ev); err != nil {
				t.Fatal(err)
			}
			list, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{})
			if err != nil || len(list) != i+1 {
				t.Fatal(len(list), err)
			}
			for _, cb := range list {
				if cb.OrderID == c.order && !strings.Contains(cb.Detail, c.want) {
					t.Errorf("%s: detail %q, want %q", c.order, cb.Detail, c.want)
				}
			}
		}
	})
}

// A callback that has found what it waited for no longer says what it lacks, whoever brought it: the order, a repeat, or the sweep.
func TestHealedCallbackSaysNoMoreWhatItLacked(t *testing.T) {
	brought := map[string]func(*testing.T, *ledger.Ledger, models.Event){
		"order": func(t *testing.T, book *ledger.Ledger, _ models.Event) {
			ledgertest.Order(t, book, "K9", "19.99", "USD")
		},
		"repeat": func(t *testing.T, book *ledger.Ledger, ev models.Event) {
			ledgertest.Order(t, book, "K9", "19.99", "USD")
			if _, err := record(t.Context(), book, "a", ev); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, bring := range brought {
		t.Run(name, func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
				ev := payment("ch1", "K9", "19.99")
				if _, err := record(t.Context(), book, "a", ev); err != nil {
					t.Fatal(err)
				}
				bring(t, book, ev)
				list, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{})
				if err != nil || len(list) != 1 || list[0].Outcome != models.OutcomeApplied || list[0].Detail != "" {
					t.Errorf("%+v %v, want one, applied, without a detail", list, err)
				}
			})
		})
	}
}

// A refund that comes before its payment is told to a shop that keeps its orders elsewhere when its payment says the order.
func TestRefundElsewhereIsToldWithItsOrder(t *testing.T) {
	lines := []string{
		"refund.succeeded r1 5.00 USD parent=t1 account=elsewhere",
		"refund.failed r1 5.00 USD parent=t1 at=15:00 account=elsewhere",
		"payment.succeeded t1 19.99 USD order=X1 account=elsewhere",
		"dispute.opened d1 9.00 USD parent=t1 account=elsewhere",
	}
	for i, order := range permutations(len(lines)) {
		if raced && i%11 != 0 {
			continue
		}
		dsn := "sqlite:" + filepath.Join(t.TempDir(), "app.db")
		tellElsewhere(t, ledgertest.Open(t, dsn, ledger.Options{Elsewhere: []string{"elsewhere"}}), lines, order)
	}
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) { tellElsewhere(t, book, lines, []int{0, 3, 1, 2}) },
		ledger.Options{Elsewhere: []string{"elsewhere"}})
}

func tellElsewhere(t *testing.T, book *ledger.Ledger, lines []string, order []int) {
	t.Helper()
	for _, i := range order {
		account, ev := event(strings.Fields(lines[i]))
		if _, err := record(t.Context(), book, account, ev); err != nil {
			t.Fatal(lines[i], err)
		}
	}
	for id, want := range map[string]string{"": "", "X1": "dispute.opened payment.succeeded refund.failed refund.succeeded"} {
		messages, err := book.Messages(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var topics []string
		for _, m := range messages {
			topics = append(topics, m.Topic)
		}
		slices.Sort(topics)
		topics = slices.Compact(topics) // the failure is told, and once more when it turns out to follow a success
		if got := strings.Join(topics, " "); got != want {
			t.Errorf("%v: told of order %q: %s; want %s", order, id, got, want)
		}
	}
}
