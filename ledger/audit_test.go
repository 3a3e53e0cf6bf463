package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// TestAuditIsOneChain: writers at once make one chain, each of their transactions lies in it as a whole.
func TestAuditIsOneChain(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn)
		const writers, each = 8, 5
		inParallel(writers, func(i int) {
			for n := range each {
				subject := fmt.Sprintf("test/%d-%d", i, n)
				err := b.Audit(t.Context(), ledger.AuditEntry{Actor: "li", Action: "a", Subject: subject, Detail: map[string]string{"text": "<一>"}},
					ledger.AuditEntry{Actor: "li", Action: "b", Subject: subject})
				if err != nil {
					t.Error(err)
				}
			}
		})
		db := openSQL(t, dsn)
		rows, err := db.Query("SELECT seq, action, subject, detail, previous, hash FROM audit ORDER BY seq")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		n, last, before := int64(0), "", ""
		for rows.Next() {
			var seq int64
			var action, subject, detail, previous, hash string
			if err := rows.Scan(&seq, &action, &subject, &detail, &previous, &hash); err != nil {
				t.Fatal(err)
			}
			n++
			if seq != n || previous != last || len(hash) != 64 || action == "b" && subject != before || action == "a" && detail != `{"text":"<一>"}` {
				t.Errorf("row %d: seq %d, previous %s after %s, %s of %s, %s", n, seq, previous, last, action, subject, detail)
			}
			last, before = hash, subject
		}
		var head, hash string
		if err := db.QueryRow("SELECT seq, hash FROM audit_head").Scan(&head, &hash); err != nil || rows.Err() != nil {
			t.Fatal(err, rows.Err())
		}
		if want := fmt.Sprint(writers * each * 2); head != want || hash != last {
			t.Errorf("head %s:%s, want %s:%s", head, hash, want, last)
		}
	})
}

// TestNoChangeWithoutTheLog: what the log cannot tell of does not happen.
func TestNoChangeWithoutTheLog(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn)
		if _, err := openSQL(t, dsn).Exec("DELETE FROM audit_head"); err != nil {
			t.Fatal(err)
		}
		err := b.Audit(t.Context(), ledger.AuditEntry{Actor: "li", Action: "a", Subject: "test/1"})
		if err == nil || !strings.Contains(err.Error(), "app audit verify") {
			t.Errorf("error %v, want one that says what to do", err)
		}
	})
}
