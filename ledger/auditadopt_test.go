package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// TestGapsBeforeTheLog: those of an older database are taken into the log as they stand, and nothing of them is called bad.
func TestGapsBeforeTheLog(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		if strings.HasPrefix(dsn, "postgres") {
			dsn = ledgertest.Postgres(t)
		}
		if err := ledger.SchemaUpTo(t.Context(), dsn, 6); err != nil {
			t.Fatal(err)
		}
		db := openSQL(t, dsn)
		const gaps = 1203
		for from := 0; from < gaps; from += 401 {
			var rows []string
			for i := range 401 {
				state, resolution := "open", ""
				if i%2 == 1 {
					state, resolution = "resolved", "by hand"
				}
				rows = append(rows, fmt.Sprintf(`('%08x', 'shop', '2026-11-20', 'missing_local', 'null', 'payment', 'p', '%s', '{"amount":"1.00","currency":"CNY","status":"succeeded"}',
 'null', 'null', 'why', 'next', 'r1', 'r1', 'null', '%s', '2026-11-21 04:00:00+00:00')`, from+i, state, resolution))
			}
			run(t, db, `INSERT INTO gaps (id, account, date, kind, differs, entry_kind, transaction_id, state, statement, ledger, "order", reason, next, first_run,
 last_run, waits_for, resolution, first_seen) VALUES `+strings.Join(rows, ","))
		}
		run(t, db, `INSERT INTO runs VALUES ('r1', 'shop', 'script', '2026-11-20', 'UTC', 'gaps', '[]', 1, 'none', '{}', 'f', '2026-11-21 04:00:00+00:00')`,
			`INSERT INTO turns VALUES ('shop', 1)`)
		b := ledgertest.Open(t, dsn)
		if c := verified(t, b, nil); c.Gaps != gaps || c.Runs != 1 || c.Entries != gaps+1 {
			t.Errorf("compared %d gaps and %d runs with %d entries", c.Gaps, c.Runs, c.Entries)
		}
		history, err := b.GapHistory(t.Context(), "00000001")
		if err != nil || len(history) != 1 || history[0].Action != ledger.GapAdopted || history[0].Actor != ledger.ActorMigration {
			t.Errorf("history %+v, %v", history, err)
		}
		if _, err := b.ResolveGap(t.Context(), "00000002", "by hand"); err != nil {
			t.Fatal(err)
		}
		saveRun(t, b, runDay, "2026-11-20", ledger.Findings{Gaps: []models.Gap{gapOf("00000004", "2026-11-20", "1.00")}})
		verified(t, b, nil)
		run(t, db, "DELETE FROM audit WHERE subject = 'gap/00000004'")
		if c := verify(t, b, nil); c.Whole() {
			t.Error("a gap that the log tells nothing of is taken for one from before the log")
		}
	})
}
