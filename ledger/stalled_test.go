package ledger_test

import (
	"errors"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// A process that is stalled in the middle of a transaction holds up the buyers of its article only until the database ends the
// transaction; then its order is neither lost nor made twice.
func TestStalledReplica(t *testing.T) {
	dsn := ledgertest.Postgres(t)
	stalled := ledgertest.Open(t, dsn+"&idle_in_transaction_session_timeout=500")
	other := ledgertest.Open(t, dsn)
	own(t, other, units("A", 2))
	inside, goOn := make(chan struct{}, 1), make(chan struct{})
	first, ended := true, make(chan struct{})
	go func() {
		defer close(ended) // how it ends is of no account: the next try finds out
		_, _ = stalled.CreateOrderOnceAnd(t.Context(), keyOf("k1", "O1"), newOrder("O1", units("A", 1)), func() error {
			if first {
				first = false
				inside <- struct{}{}
				<-goOn
			}
			return nil
		}, say)
	}()
	<-inside
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if _, err = other.CreateOrder(t.Context(), newOrder("O2", units("A", 1))); err == nil || errors.As(err, new(*ledger.OrderExists)) {
			break
		}
	}
	if err != nil {
		t.Errorf("the other buyer waits for ever: %v", err)
	}
	close(goOn)
	<-ended
	if _, err := other.CreateOrderOnce(t.Context(), keyOf("k1", "O1"), newOrder("O1", units("A", 1)), say); errors.As(err, new(*ledger.TokenBusy)) {
		t.Log("the key is held until its hold ends")
	} else if err != nil {
		t.Error(err)
	}
	s, err := other.Stock(t.Context(), "A")
	if err != nil || s.Available() < 0 || s.Reserved > 2 {
		t.Errorf("%+v, %v", s, err)
	}
	checkBooks(t, other)
}

// Without a word in its address the database ends what is silent for half a minute.
func TestSilenceEnds(t *testing.T) {
	dsn := ledgertest.Postgres(t)
	if got := ledgertest.Open(t, dsn).Setting(t.Context(), "idle_in_transaction_session_timeout"); got != "30s" {
		t.Errorf("it is %q", got)
	}
}
