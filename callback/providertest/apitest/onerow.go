package apitest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// Telling is a message about a movement and what it says: a callback, or the answer to a question.
type Telling struct {
	Callback models.Callback
	Events   []models.Event
}

// Movement is one movement, told by a callback and by the answer to a question.
type Movement struct {
	Order  models.Order // OrderID, AmountMinor and Currency count
	Before []Telling    // the payment, where the movement is a refund
	Told   Telling
	Asked  Telling
}

// OneRow records both tellings in each order, and the question alone twice: it must be one row, the same one each time, and the order
// must have come to the same state. Each way is an account of its own, with an order of its own number: opening a book is what takes long.
func OneRow(t *testing.T, m Movement) {
	t.Helper()
	if len(m.Told.Events) != 1 || len(m.Asked.Events) != 1 {
		t.Fatalf("told %d events, asked %d, want one each", len(m.Told.Events), len(m.Asked.Events))
	}
	if m.Asked.Callback.Method != "QUERY" || len(m.Asked.Callback.Body) == 0 || m.Asked.Callback.ReceivedAt.IsZero() {
		t.Errorf("the evidence is %q with %d bytes at %s", m.Asked.Callback.Method, len(m.Asked.Callback.Body), m.Asked.Callback.ReceivedAt)
	}
	book := openBook(t, m.Asked.Callback.ReceivedAt)
	defer book.Close()
	var first *page
	for _, way := range []struct {
		name string
		both []Telling
	}{{"callback-first", []Telling{m.Told, m.Asked}}, {"question-first", []Telling{m.Asked, m.Told}}, {"asked-twice", []Telling{m.Asked, m.Asked}}} {
		got := m.record(t, book, way.name, way.both)
		if first == nil {
			first = got
		}
		if *got != *first {
			t.Errorf("%s:\n%+v\ninstead of\n%+v", way.name, *got, *first)
		}
	}
}

// page is what must come out of it, whatever the order.
type page struct {
	rows                      int
	kind                      models.TransactionKind
	id, parent, order, refund string
	minor                     int64
	currency                  string
	status                    models.TransactionStatus
	at                        time.Time
	orderStatus               models.OrderStatus
	orderRefunded             int64
}

func (m Movement) record(t *testing.T, book *ledger.Ledger, account string, both []Telling) *page {
	t.Helper()
	order := m.Order
	order.OrderID += account
	if _, err := book.CreateOrder(t.Context(), ledger.NewOrder{Order: order}); err != nil {
		t.Fatal(err)
	}
	for i, telling := range append(append([]Telling{}, m.Before...), both...) {
		want := models.OutcomeApplied
		if i > len(m.Before) {
			want = models.OutcomeDuplicate
		}
		if got := tell(t, book, account, telling); got != want {
			t.Errorf("%s: telling %d is %s, want %s", account, i, got, want)
		}
	}
	return m.read(t, book, account, both[0].Events[0].OccurredAt)
}

// emptyBook is the file of a book with its tables and nothing in them: making them takes longer than all that a test writes.
var emptyBook = sync.OnceValues(func() (raw []byte, err error) {
	dir, err := os.MkdirTemp("", "book")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "book.db")
	book, err := ledger.Open(context.Background(), "sqlite:"+path, ledger.Options{})
	if err != nil {
		return nil, err
	}
	if err := book.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func openBook(t *testing.T, now time.Time) *ledger.Ledger {
	t.Helper()
	raw, err := emptyBook()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "book.db")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	book, err := ledger.Open(t.Context(), "sqlite:"+path, ledger.Options{Now: func() time.Time { return now }, NoMigrate: true})
	if err != nil {
		t.Fatal(err)
	}
	return book
}

func tell(t *testing.T, book *ledger.Ledger, account string, telling Telling) models.Outcome {
	t.Helper()
	cb, ev := telling.Callback, telling.Events[0]
	if cb.Account = account; ev.OrderID != "" {
		ev.OrderID += account
	}
	outcomes, err := book.Record(t.Context(), cb, []models.Event{ev}, func(models.Outcome) int { return http.StatusOK })
	if err != nil {
		t.Fatal(err)
	}
	return outcomes[0]
}

func (m Movement) read(t *testing.T, book *ledger.Ledger, account string, at time.Time) *page {
	t.Helper()
	p := &page{}
	err := book.Transactions(t.Context(), account, time.Unix(0, 0), at.AddDate(1, 0, 0), func(tx models.Transaction) error {
		if p.rows++; len(m.Before) > 0 && tx.Kind == models.Payment {
			return nil // the movement is a refund of it
		}
		p.kind, p.id, p.parent, p.order, p.refund = tx.Kind, tx.TransactionID, tx.ParentID, strings.TrimSuffix(tx.OrderID, account), tx.RefundOrderID
		p.minor, p.currency, p.status, p.at = tx.AmountMinor, tx.Currency, tx.Status, tx.OccurredAt
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.rows != len(m.Before)+1 {
		t.Errorf("%s: %d rows, want %d", account, p.rows, len(m.Before)+1)
	}
	orders, err := book.Orders(t.Context(), []string{m.Order.OrderID + account})
	if err != nil {
		t.Fatal(err)
	}
	order := orders[m.Order.OrderID+account]
	p.orderStatus, p.orderRefunded = order.Status, order.RefundedMinor
	return p
}
