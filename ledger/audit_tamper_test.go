package ledger_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

const (
	loggedRows = 10_000
	victim     = 9_777
)

// loggedBook is a book with a log of that many rows, about three gaps among others.
func loggedBook(t *testing.T, dsn string) (*ledger.Ledger, *sql.DB) {
	t.Helper()
	b := ledgertest.Open(t, dsn)
	var entries []ledger.AuditEntry
	for i := range loggedRows - 6 {
		entries = append(entries, ledger.AuditEntry{Actor: "li", Action: "test.done", Subject: fmt.Sprintf("test/%d", i), Detail: map[string]int{"n": i}})
	}
	if err := b.Audit(t.Context(), entries...); err != nil {
		t.Fatal(err)
	}
	one, two, three := gapOf("a1", leaseDay, "1.00"), gapOf("a2", leaseDay, "2.00"), gapOf("a3", leaseDay, "3.00")
	saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: []models.Gap{one, two, three}})
	owner := "wang"
	_, err := b.ChangeGaps(t.Context(), "li", false, ledger.GapChange{ID: "a1", Action: ledger.ResolveGap, Text: "paid by hand"},
		ledger.GapChange{ID: "a2", Action: ledger.AssignGap, Owner: &owner})
	if err != nil {
		t.Fatal(err)
	}
	return b, openSQL(t, dsn)
}

// tampering is what somebody does who can write to the database.
type tampering struct {
	name   string
	do     []string // statements; or
	forge  func(t *testing.T, b *ledger.Ledger) error
	what   string // what is found; "": nothing is without an anchor
	seq    int64  // the first bad row
	anchor bool   // the head was noted before
}

var tamperings = []tampering{
	{name: "actor", do: []string{"UPDATE audit SET actor = 'wang' WHERE seq = 9777"}, what: ledger.AuditChangedRow, seq: victim},
	{name: "action", do: []string{"UPDATE audit SET action = 'test.undone' WHERE seq = 9777"}, what: ledger.AuditChangedRow, seq: victim},
	{name: "subject", do: []string{"UPDATE audit SET subject = 'test/1' WHERE seq = 9777"}, what: ledger.AuditChangedRow, seq: victim},
	{name: "detail", do: []string{`UPDATE audit SET detail = '{"n": 9776}' WHERE seq = 9777`}, what: ledger.AuditChangedRow, seq: victim},
	{name: "time", do: []string{"UPDATE audit SET at = '2020-01-01 00:00:00+00:00' WHERE seq = 9777"}, what: ledger.AuditChangedRow, seq: victim},
	{name: "hash", do: []string{"UPDATE audit SET hash = 'x' WHERE seq = 9777"}, what: ledger.AuditChangedRow, seq: victim},
	{name: "previous", do: []string{"UPDATE audit SET previous = '' WHERE seq = 9777"}, what: ledger.AuditChangedRow, seq: victim},
	{name: "text moved from one column to the next", do: []string{"UPDATE audit SET action = 'test.don', subject = 'e' || subject WHERE seq = 9777"},
		what: ledger.AuditChangedRow, seq: victim},
	{name: "with its hash", do: []string{"UPDATE audit SET actor = 'wang' WHERE seq = 9777"}, what: ledger.AuditChangedRow, seq: victim,
		forge: func(t *testing.T, b *ledger.Ledger) error { return b.ForgeOne(t.Context(), victim) }},
	{name: "the last, with its hash", do: []string{"UPDATE audit SET actor = 'zhao' WHERE seq = 10000"}, what: ledger.AuditChangedRow, seq: loggedRows,
		forge: func(t *testing.T, b *ledger.Ledger) error { return b.ForgeOne(t.Context(), loggedRows) }},
	{name: "deleted", do: []string{"DELETE FROM audit WHERE seq = 9777"}, what: ledger.AuditMissingRow, seq: victim},
	{name: "the first deleted", do: []string{"DELETE FROM audit WHERE seq = 1"}, what: ledger.AuditMissingRow, seq: 1},
	{name: "deleted, the others moved up", do: []string{"DELETE FROM audit WHERE seq = 9777", "UPDATE audit SET seq = -seq WHERE seq > 9777",
		"UPDATE audit SET seq = -seq - 1 WHERE seq < 0"}, what: ledger.AuditChangedRow, seq: victim},
	{name: "reordered", do: []string{"UPDATE audit SET seq = -1 WHERE seq = 9777", "UPDATE audit SET seq = 9777 WHERE seq = 9778",
		"UPDATE audit SET seq = 9778 WHERE seq = -1"}, what: ledger.AuditChangedRow, seq: victim},
	{name: "inserted before the first", do: []string{insertedAs("0", "1")}, what: ledger.AuditInsertedRow, seq: 0},
	{name: "inserted in the middle", do: []string{"UPDATE audit SET seq = -seq WHERE seq >= 9777", "UPDATE audit SET seq = -seq + 1 WHERE seq < 0",
		insertedAs("9777", "9776")}, what: ledger.AuditChangedRow, seq: victim},
	{name: "added behind the head", do: []string{insertedAs("10001", "10000")}, what: ledger.AuditChangedRow, seq: loggedRows + 1},
	{name: "added behind the head, with its hash", do: []string{insertedAs("10001", "10000"),
		"UPDATE audit SET previous = (SELECT hash FROM audit WHERE seq = 10000) WHERE seq = 10001"}, what: ledger.AuditInsertedRow, seq: loggedRows + 1,
		forge: func(t *testing.T, b *ledger.Ledger) error { return b.ForgeOne(t.Context(), loggedRows+1) }},
	{name: "tail cut off", do: []string{"DELETE FROM audit WHERE seq > 9998"}, what: ledger.AuditTail, seq: 9999},
	{name: "emptied", do: []string{"DELETE FROM audit"}, what: ledger.AuditTail, seq: 1},
	{name: "head gone", do: []string{"DELETE FROM audit_head"}, what: ledger.AuditHeadLost, seq: loggedRows},
	{name: "head moved", do: []string{"UPDATE audit_head SET seq = 9999"}, what: ledger.AuditInsertedRow, seq: loggedRows},
	{name: "head of another hash", do: []string{"UPDATE audit_head SET hash = 'x'"}, what: ledger.AuditChangedRow, seq: loggedRows},
	{name: "tail cut off with a head that fits", do: []string{"DELETE FROM audit WHERE seq > 9990",
		"UPDATE audit_head SET seq = 9990, hash = (SELECT hash FROM audit WHERE seq = 9990)"}, what: ledger.AuditAnchorLost, seq: 9991, anchor: true},
	{name: "all written anew", what: ledger.AuditAnchorLost, seq: loggedRows, anchor: true,
		forge: func(t *testing.T, b *ledger.Ledger) error {
			return b.Forge(t.Context(), victim, func(r *ledger.AuditRow) { r.Actor = strings.Replace(r.Actor, "li", "wang", 1) })
		}},
}

func insertedAs(seq, like string) string {
	return "INSERT INTO audit SELECT " + seq + ", at, actor, action, subject, detail, previous, hash FROM audit WHERE seq = " + like
}

// TestTamperedLog: one row of ten thousand.
func TestTamperedLog(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b, db := loggedBook(t, dsn)
		head := verified(t, b, nil).Head
		if head.Seq != loggedRows {
			t.Fatalf("head %s, want row %d", head, loggedRows)
		}
		run(t, db, "CREATE TABLE kept AS SELECT * FROM audit", "CREATE TABLE kept_head AS SELECT * FROM audit_head")
		for i, c := range tamperings {
			if raced && i%5 != 0 {
				continue // one reads and compares as all of them do
			}
			t.Run(c.name, func(t *testing.T) {
				defer run(t, db, "DELETE FROM audit WHERE seq < 1 OR seq >= 9777",
					"INSERT INTO audit SELECT * FROM kept k WHERE NOT EXISTS (SELECT 1 FROM audit a WHERE a.seq = k.seq)", "DELETE FROM audit_head", "INSERT INTO audit_head SELECT * FROM kept_head")
				run(t, db, c.do...)
				if c.forge != nil {
					if err := c.forge(t, b); err != nil {
						t.Fatal(err)
					}
				}
				anchor := &head
				if !c.anchor {
					anchor = nil
				} else if without := verify(t, b, nil); without.Broken != nil {
					t.Errorf("without an anchor: %+v", without.Broken)
				}
				got := verify(t, b, anchor)
				if got.Broken == nil || got.Broken.What != c.what || got.Broken.Seq != c.seq || got.Whole() {
					t.Errorf("found %+v, want row %d %s", got.Broken, c.seq, c.what)
				}
			})
		}
		verified(t, b, &head)
	})
}

func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func verify(t *testing.T, b *ledger.Ledger, anchor *ledger.AuditAnchor) *ledger.AuditCheck {
	t.Helper()
	c, err := b.VerifyAudit(t.Context(), anchor)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// verified checks that nothing is wrong.
func verified(t *testing.T, b *ledger.Ledger, anchor *ledger.AuditAnchor) *ledger.AuditCheck {
	t.Helper()
	c := verify(t, b, anchor)
	if !c.Whole() {
		t.Errorf("the log does not hold: %+v, %+v", c.Broken, c.Differing)
	}
	return c
}

// TestTamperedGaps: what is stored is held against what the log says of it last.
func TestTamperedGaps(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn)
		r, _ := saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: []models.Gap{gapOf("a1", leaseDay, "1.00"), gapOf("a2", leaseDay, "2.00")}})
		if _, err := b.ResolveGap(t.Context(), "a1", "paid by hand"); err != nil {
			t.Fatal(err)
		}
		if c := verified(t, b, nil); c.Gaps != 2 || c.Runs != 1 {
			t.Errorf("%d gaps and %d runs compared", c.Gaps, c.Runs)
		}
		db := openSQL(t, dsn)
		run(t, db, "CREATE TABLE kept_gaps AS SELECT * FROM gaps", "CREATE TABLE kept_runs AS SELECT * FROM runs")
		gapLike := func(id, as string) string {
			return "INSERT INTO gaps SELECT * FROM (SELECT * FROM kept_gaps WHERE id = '" + id + "') AS g WHERE 1=1; UPDATE gaps SET id = '" + as + "' WHERE id = '" + id + "'"
		}
		for statement, subject := range map[string]string{
			"UPDATE gaps SET state = 'open', resolution = '' WHERE id = 'a1'": "gap/a1",
			"UPDATE gaps SET state = 'resolved' WHERE id = 'a2'":              "gap/a2",
			"UPDATE gaps SET resolution = 'paid by wang' WHERE id = 'a1'":     "gap/a1",
			"UPDATE gaps SET owner = 'wang' WHERE id = 'a2'":                  "gap/a2",
			"UPDATE gaps SET due_on = '2027-01-01' WHERE id = 'a2'":           "gap/a2",
			"UPDATE gaps SET kind = 'wrong_day' WHERE id = 'a2'":              "gap/a2",
			"UPDATE gaps SET statement = replace(statement, '2.00', '9.00')":  "gap/a2",
			"UPDATE gaps SET account = 'other' WHERE id = 'a2'":               "gap/a2",
			"UPDATE gaps SET date = '2020-01-01' WHERE id = 'a2'":             "gap/a2",
			"UPDATE gaps SET entry_kind = 'refund' WHERE id = 'a2'":           "gap/a2",
			"UPDATE gaps SET transaction_id = 'other' WHERE id = 'a2'":        "gap/a2",
			"UPDATE gaps SET order_id = 'other' WHERE id = 'a2'":              "gap/a2",
			"UPDATE gaps SET parent_id = 'other' WHERE id = 'a2'":             "gap/a2",
			"UPDATE gaps SET refund_order_id = 'other' WHERE id = 'a2'":       "gap/a2",
			"UPDATE gaps SET first_seen = '2020-01-01 00:00:00+00:00'":        "gap/a1",
			"UPDATE gaps SET healed_run = 'x' WHERE id = 'a1'":                "gap/a1",
			"DELETE FROM gaps WHERE id = 'a2'":                                "gap/a2",
			"UPDATE gaps SET id = 'a3' WHERE id = 'a2'":                       "gap/a3",
			"UPDATE runs SET result = 'balanced'":                             "run/" + r.ID,
			"UPDATE runs SET fingerprint = 'x'":                               "run/" + r.ID,
			`UPDATE runs SET files = '[{"name":"other.csv","sha256":"00"}]'`:  "run/" + r.ID,
			"UPDATE runs SET report = '[]'":                                   "run/" + r.ID,
			"UPDATE runs SET date = '2020-01-01'":                             "run/" + r.ID,
			"DELETE FROM runs":                                                "run/" + r.ID,
			"DELETE FROM gaps WHERE id = 'a1'; " + gapLike("a1", "a4"):        "gap/a4",
		} {
			run(t, db, strings.Split(statement, "; ")...)
			c := verify(t, b, nil)
			if c.Whole() || c.Broken != nil || len(c.Differing) == 0 || c.Differing[0].Subject != subject {
				t.Errorf("%s: found %+v, broken %+v; want %s", statement, c.Differing, c.Broken, subject)
			}
			run(t, db, "DELETE FROM gaps", "INSERT INTO gaps SELECT * FROM kept_gaps", "DELETE FROM runs", "INSERT INTO runs SELECT * FROM kept_runs")
		}
		verified(t, b, nil)
	})
}
