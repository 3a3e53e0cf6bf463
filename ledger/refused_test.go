package ledger_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// Forged traffic must not fill the disk, and must not use up the evidence of what is genuine but not ours.
func TestRefusedTrafficIsBounded(t *testing.T) {
	clock := day.Add(12 * time.Hour)
	options := ledger.Options{Now: func() time.Time { return clock }, RefusedRows: 20, RefusedBytes: 100_000, RefusedTotal: 60_000}
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		reject := func(n, size int, reason models.Reason) bool {
			cb := models.Callback{Account: "a", Body: append(bytes.Repeat([]byte("x"), size), fmt.Sprint(n)...), ReceivedAt: clock.Add(time.Duration(n) * time.Second)}
			kept, err := book.Reject(t.Context(), cb, &models.Rejection{Reason: reason}, 401)
			if err != nil {
				t.Fatal(err)
			}
			return kept
		}
		kept := 0
		for i := range 100 {
			if reject(i, 5000, models.ReasonSignature) {
				kept++
			}
		}
		if kept < 10 || kept > 20 {
			t.Errorf("%d of 100 forged bodies of 5 kB were kept in a minute that has room for 100 kB", kept)
		}
		if !reject(1000, 100, models.ReasonMerchant) {
			t.Error("a genuine message of another account was not kept, because of forged ones")
		}
		if _, err := book.Tend(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{})
		bytes := 0
		for _, cb := range list {
			bytes += len(cb.Body)
		}
		if err != nil || len(list) == 0 || len(list) > 20 || bytes > 60_000 {
			t.Errorf("%d refused callbacks with %d bytes are kept, want at most 20 and 60 kB (%v)", len(list), bytes, err)
		}
		if list[0].Reason != models.ReasonMerchant {
			t.Errorf("the newest kept is a %s", list[0].Reason)
		}
	}, options)
}

// The same forged body again and again is one row.
func TestSameForgeryIsOneRow(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		inParallel(30, func(i int) {
			cb := models.Callback{Account: "a", Body: []byte("forged"), ReceivedAt: day.Add(time.Duration(i) * time.Second)}
			if _, err := book.Reject(t.Context(), cb, &models.Rejection{Reason: models.ReasonSignature, Detail: "no"}, 401); err != nil {
				t.Error(err)
			}
		})
		list, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{Reason: models.ReasonSignature})
		if err != nil || len(list) != 1 || list[0].Deliveries != 30 || !list[0].LastReceivedAt.Equal(day.Add(29*time.Second)) {
			t.Errorf("%+v %v", list, err)
		}
	})
}
