package ledger_test

import (
	"errors"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// TestResolveDuringSave: what a person says of a gap while a run that has found it again is being written is not written over.
func TestResolveDuringSave(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		sayDuringSave(t, b, models.GapCarried, func() error { _, err := b.ResolveGap(t.Context(), "a1", "refunded by hand"); return err })
		if g := read(t, b, "a1"); g.State != models.GapResolved || g.Resolution != "refunded by hand" || g.HealedRun != "" {
			t.Errorf("resolved meanwhile, it is %+v", g)
		}
		sayDuringSave(t, b, models.GapOpen, func() error { _, err := b.ReopenGap(t.Context(), "a1", "found again"); return err })
		if g := read(t, b, "a1"); g.State != models.GapOpen || g.Resolution != "" {
			t.Errorf("reopened meanwhile, it is %+v", g)
		}
	})
}

// sayDuringSave saves a run that finds one gap, in this state, and lets a person speak when the run has read what gaps there are.
func sayDuringSave(t *testing.T, b *ledger.Ledger, found models.GapState, say func() error) {
	t.Helper()
	one := gapOf("a1", leaseDay, "1.00")
	if turn, err := b.Turn(t.Context(), "shop"); err != nil || turn == 0 {
		saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: []models.Gap{one}})
	}
	turn, err := b.Turn(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	one.State = found
	said := make(chan error, 1)
	early := errors.New("not asked to wait")
	run := models.Run{Account: "shop", Date: leaseDay, CreatedAt: runDay.Add(time.Hour)}
	_, err = b.SaveRun(t.Context(), &run, ledger.Findings{Turn: turn, Gaps: []models.Gap{one}}, func(r *models.Run, _ ledger.Saved) error {
		go func() { said <- say() }()
		r.Result, r.Fingerprint = models.Gapped, string(found)
		select {
		case err := <-said:
			return errors.Join(early, err)
		case <-time.After(600 * time.Millisecond): // longer than one statement waits for a row
			return nil
		}
	})
	if err == nil {
		err = <-said
	}
	if err != nil {
		t.Fatal(err)
	}
}
