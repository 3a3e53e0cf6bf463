package callback_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/callback"
	"paybook/ledger"
	"paybook/models"
)

// oracle is a provider that can be asked.
type oracle struct {
	shop
	asked []models.Query
	says  func(q models.Query) (models.Callback, []models.Event, error)
}

func (o *oracle) Query(_ context.Context, _ *http.Client, q models.Query) (models.Callback, []models.Event, error) {
	o.asked = append(o.asked, q)
	return o.says(q)
}

// knows is the answer of a provider that has the money.
func knows(q models.Query) (models.Callback, []models.Event, error) {
	ev := models.Event{Kind: models.PaymentSucceeded, TransactionID: "tx-" + q.OrderID, OrderID: q.OrderID, Money: models.Money{Minor: 2000, Currency: "CNY"}, OccurredAt: q.Asked}
	return models.Callback{Method: "QUERY", Path: "/v3/pay", Headers: http.Header{"Date": {"now"}}, Body: []byte(`{"order":"` + q.OrderID + `"}`)}, []models.Event{ev}, nil
}

func nothing(models.Query) (models.Callback, []models.Event, error) {
	return models.Callback{Method: "QUERY", Body: []byte("{}")}, nil, nil
}

// watched is a book with a clock, orders of 20.00 CNY in paying, and one provider to ask.
type watched struct {
	*testing.T
	book *ledger.Ledger
	now  time.Time
	who  *oracle
	q    *callback.Inquirer
}

func newWatched(t *testing.T, says func(models.Query) (models.Callback, []models.Event, error), orders ...string) *watched {
	t.Helper()
	w := &watched{T: t, now: time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC), who: &oracle{says: says}}
	var err error
	w.book, err = ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "book.db"), ledger.Options{AskAfter: 10 * time.Minute, Now: func() time.Time { return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.book.Close() })
	w.q = &callback.Inquirer{Book: w.book, Now: func() time.Time { return w.now }, PerSecond: 1000, Client: func([]string) *http.Client { return nil },
		Accounts: []callback.Account{{Name: "shop", Provider: w.who}, {Name: "deaf", Provider: &shop{}}}}
	for _, id := range orders {
		w.order(id)
		if _, err := w.book.Act(t.Context(), ledger.Act{OrderID: id, On: models.OrderPay}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *watched) order(id string) {
	w.Helper()
	_, err := w.book.ImportOrders(w.Context(), func(yield func(models.Order, error) bool) {
		yield(models.Order{OrderID: id, AmountMinor: 2000, Currency: "CNY"}, nil)
	})
	if err != nil {
		w.Fatal(err)
	}
}

// round asks at a later time, and says how many questions were put by now.
func (w *watched) round(after time.Duration) int {
	w.Helper()
	w.now = w.now.Add(after)
	if err := w.q.Round(w.Context()); err != nil {
		w.Fatal(err)
	}
	return len(w.who.asked)
}

func (w *watched) status(id string) models.OrderStatus {
	w.Helper()
	h, err := w.book.OrderHistory(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	return h.Order.Status
}

func (w *watched) evidence() (list []models.Callback) {
	w.Helper()
	list, _, err := w.book.Callbacks(w.Context(), ledger.CallbackFilter{})
	if err != nil {
		w.Fatal(err)
	}
	return list
}

func TestStuckOrderIsAskedAbout(t *testing.T) {
	w := newWatched(t, knows, "O-1")
	if n := w.round(9 * time.Minute); n != 0 {
		t.Errorf("asked %d times before it was due", n)
	}
	if n := w.round(time.Minute); n != 1 || w.who.asked[0].OrderID != "O-1" || w.who.asked[0].OrderedAt.IsZero() || !w.who.asked[0].Asked.Equal(w.now) {
		t.Errorf("asked %+v", w.who.asked)
	}
	if s := w.status("O-1"); s != models.Paid {
		t.Errorf("the order is %s", s)
	}
	e := w.evidence()
	if len(e) != 1 || e[0].Method != "QUERY" || e[0].Account != "shop" || !e[0].Verified || e[0].Outcome != models.OutcomeApplied || string(e[0].Body) != `{"order":"O-1"}` || !e[0].ReceivedAt.Equal(w.now) {
		t.Errorf("the evidence is %+v", e)
	}
	if n := w.round(48 * time.Hour); n != 1 {
		t.Errorf("asked again about a paid order, %d times", n)
	}
	ev := models.Event{Kind: models.PaymentSucceeded, TransactionID: "tx-O-1", OrderID: "O-1", Money: models.Money{Minor: 2000, Currency: "CNY"}, OccurredAt: w.now}
	got, err := w.book.Record(t.Context(), models.Callback{Account: "shop", Body: []byte("late")}, []models.Event{ev}, func(models.Outcome) int { return 200 })
	if err != nil || got[0] != models.OutcomeDuplicate {
		t.Errorf("the late callback is %v, %v", got, err)
	}
}

// An order that was paid or closed meanwhile is nobody's question.
func TestNobodyAsksAboutWhatHasSettled(t *testing.T) {
	w := newWatched(t, knows, "O-1")
	if err := w.book.CloseOrder(t.Context(), "O-1", string(models.OrderCancel)); err != nil {
		t.Fatal(err)
	}
	if n := w.round(time.Hour); n != 0 {
		t.Errorf("asked %d times", n)
	}
	due, err := w.book.DueInquiries(t.Context(), 10)
	if err != nil || len(due) != 0 {
		t.Errorf("still due: %+v, %v", due, err)
	}
}

func TestQuestionsBackOffAndEnd(t *testing.T) {
	w := newWatched(t, nothing, "O-1")
	w.now = w.now.Add(10 * time.Minute)
	var pauses []time.Duration
	last := w.now
	for range 24*60 + 20 {
		if before := len(w.who.asked); w.round(0) > before {
			pauses = append(pauses, w.now.Sub(last))
			last = w.now
		}
		w.now = w.now.Add(time.Minute)
	}
	if got := fmt.Sprint(pauses[1:8]); got != "[1m0s 2m0s 4m0s 8m0s 16m0s 32m0s 1h0m0s]" || len(pauses) > 31 {
		t.Errorf("pauses %s, %d questions", got, len(pauses))
	}
	i, err := w.book.Inquiry(t.Context(), "order/O-1", "")
	if err != nil || i.NextAt != nil || !strings.Contains(i.Result, "given up after 24h0m0s") {
		t.Errorf("in the end: %+v, %v", i, err)
	}
	if len(w.evidence()) != 0 || w.status("O-1") != models.Paying {
		t.Error("nothing was learnt, and something was booked")
	}
}

// What is not proven genuine is kept as refused, and moves nothing.
func TestUnverifiedAnswerIsNotBooked(t *testing.T) {
	for name, says := range map[string]func(models.Query) (models.Callback, []models.Event, error){
		"forged": func(q models.Query) (models.Callback, []models.Event, error) {
			cb, events, _ := knows(q)
			return cb, events, fmt.Errorf("query: %w", &models.Rejection{Reason: models.ReasonSignature, Detail: "no signature"})
		},
		"of another order": func(q models.Query) (models.Callback, []models.Event, error) {
			q.OrderID = "O-2"
			return knows(q)
		},
	} {
		w := newWatched(t, says, "O-1", "O-2")
		if w.round(10*time.Minute) == 0 {
			t.Fatalf("%s: nobody was asked", name)
		}
		e := w.evidence()
		if w.status("O-1") != models.Paying || name == "forged" && w.status("O-2") != models.Paying {
			t.Errorf("%s: the orders are %s and %s", name, w.status("O-1"), w.status("O-2"))
		}
		if len(e) == 0 || name == "forged" && (e[0].Verified || e[0].Reason != models.ReasonSignature) {
			t.Errorf("%s: the evidence is %+v", name, e)
		}
		h := w.q.Ask(t.Context(), "shop", models.Query{OrderID: "O-1"})
		if h.Refused == nil || h.Events != nil {
			t.Errorf("%s: heard %+v", name, h)
		}
	}
}

// A provider that is away is left alone for a while, and no question is lost by it.
func TestProviderIsAway(t *testing.T) {
	w := newWatched(t, nil)
	w.who.says = func(models.Query) (models.Callback, []models.Event, error) {
		return models.Callback{}, nil, errors.New("connection refused")
	}
	for n := range 12 {
		w.order(fmt.Sprint("O-", n))
		if _, err := w.book.Act(t.Context(), ledger.Act{OrderID: fmt.Sprint("O-", n), On: models.OrderPay}); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.round(10 * time.Minute); n != 5 {
		t.Errorf("asked %d times while it was away", n)
	}
	for subject, want := range map[string]string{"order/O-0": "1 shop: connection refused", "order/O-9": "0 shop: it has not answered lately"} {
		i, err := w.book.Inquiry(t.Context(), subject, "")
		if got := fmt.Sprint(i.Tries, " ", i.Result); err != nil || i.NextAt == nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, %v, want %q", subject, got, err, want)
		}
	}
	panics := newWatched(t, func(models.Query) (models.Callback, []models.Event, error) { panic("unforeseen") }, "O-1")
	if h := panics.q.Ask(t.Context(), "shop", models.Query{OrderID: "O-1"}); h.Err == nil || !strings.Contains(h.Words(), "panicked") {
		t.Errorf("heard %+v", h)
	}
}

// A message that only says where to look is looked up at once, and a payment that stays pending under its own name.
func TestThinMessagesAndPendingPaymentsAreAskedAbout(t *testing.T) {
	w := newWatched(t, knows)
	w.order("O-1")
	w.order("O-2")
	for n, ev := range []models.Event{
		{Kind: models.EventThin, TransactionID: "tr_1", OrderID: "O-1", OccurredAt: w.now},
		{Kind: models.PaymentPending, TransactionID: "tx-O-2", OrderID: "O-2", Money: models.Money{Minor: 2000, Currency: "CNY"}, OccurredAt: w.now},
	} {
		cb := models.Callback{Account: "shop", ReceivedAt: w.now, Body: fmt.Append(nil, n)}
		if _, err := w.book.Record(t.Context(), cb, []models.Event{ev}, func(models.Outcome) int { return 200 }); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.round(time.Second); n != 1 || w.who.asked[0].TransactionID != "tr_1" || w.status("O-1") != models.Paid {
		t.Errorf("looked up %+v: %s", w.who.asked, w.status("O-1"))
	}
	if n := w.round(10 * time.Minute); n != 2 || w.who.asked[1].TransactionID != "tx-O-2" || w.status("O-2") != models.Paid {
		t.Errorf("asked about what is pending %+v: %s", w.who.asked, w.status("O-2"))
	}
	if n := w.round(24 * time.Hour); n != 2 {
		t.Errorf("asked again, %d times", n)
	}
}

func TestOnlyAccountsThatCanBeAsked(t *testing.T) {
	w := newWatched(t, knows, "O-1")
	if !w.q.CanAskAny() {
		t.Error("nobody can be asked")
	}
	var cannot *models.CannotAsk
	if h := w.q.Ask(t.Context(), "deaf", models.Query{OrderID: "O-1"}); !errors.As(h.Err, &cannot) {
		t.Errorf("heard %+v", h)
	}
	w.q = &callback.Inquirer{Book: w.book, Now: w.q.Now, Client: w.q.Client, Accounts: w.q.Accounts, Elsewhere: func(string) bool { return true }}
	if n := w.round(time.Hour); n != 0 {
		t.Errorf("an account whose orders are elsewhere was asked about ours, %d times", n)
	}
}
