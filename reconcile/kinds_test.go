package reconcile_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"paybook/callback/generic"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// TestUnknownKinds: rows of a kind nobody knows are told, and a file of nothing else was not understood.
func TestUnknownKinds(t *testing.T) {
	p, err := generic.New(json.RawMessage(strings.Replace(plainSettings, "{", `{"statement":{"kinds":{"SALE":"payment"}},`, 1)), ".")
	if err != nil {
		t.Fatal(err)
	}
	a := reconcile.Account{Name: "shop", Provider: p, Zone: shanghai}
	const sale, odd = "p1,O-p1,SALE,20.00,CNY,succeeded,2026-11-28 10:00:00,,", "x1,,PAYMENTO,20.00,CNY,succeeded,2026-11-28 10:00:00,,"
	b := sqlite(t)
	paid(t, b, "p1 2026-11-28 10:00:00")
	_, err = tryRun(t.Context(), b, a, day(t, "2026-11-28"), statement(t, odd, odd))
	wantFileError(t, err, "row 2", "PAYMENTO", "2 rows")
	wantNothingWritten(t, b)

	r := run(t, b, a, "2026-11-28", statement(t, sale, odd, odd))
	wantRun(t, r, "1 1")
	var table bytes.Buffer
	if err := reconcile.WriteTable(&table, []reconcile.Item{{Report: r}}, reconcile.Look{}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{`"PAYMENTO"`, "2 rows", "row 3"} {
		if !strings.Contains(strings.Join(r.Notes, "\n"), w) || !strings.Contains(table.String(), w) {
			t.Errorf("notes %q do not say %q", r.Notes, w)
		}
	}
	if want := []reconcile.UnknownKind{{File: "statement.csv", Word: "PAYMENTO", Rows: 2, FirstRow: 3}}; !slices.Equal(r.Statement.UnknownKinds, want) {
		t.Errorf("unknown kinds %+v, want %+v", r.Statement.UnknownKinds, want)
	}
	var asJSON, asCSV bytes.Buffer
	if err := errors.Join(reconcile.WriteJSON(&asJSON, []reconcile.Item{{Report: r}}), reconcile.WriteCSV(&asCSV, []reconcile.Item{{Report: r}}, lang.English)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asJSON.String(), `"word": "PAYMENTO"`) {
		t.Errorf("JSON does not say it:\n%s", asJSON.String())
	}
	rows, err := csv.NewReader(&asCSV).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][2] != "" || rows[1][3] != "unknown_kind" || rows[1][15] != "statement.csv" || rows[1][16] != "3" ||
		!strings.Contains(rows[1][23], "PAYMENTO") {
		t.Errorf("CSV rows %q, %v", rows, err)
	}
	if r = run(t, b, a, "2026-11-28", statement(t, sale)); r.Notes != nil || r.Statement.UnknownKinds != nil {
		t.Errorf("notes of a known file: %q", r.Notes)
	}
}

// TestTextNoDatabaseHolds: whatever a reader lets through, it comes out the same on both databases: as an error of the file.
func TestTextNoDatabaseHolds(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		for _, bad := range []string{"a\x00b", "a\xffb"} {
			for name, spoil := range map[string]func(*models.Entry){
				"transaction id": func(e *models.Entry) { e.TransactionID = bad }, "order id": func(e *models.Entry) { e.OrderID = bad },
				"parent id": func(e *models.Entry) { e.ParentID = bad }, "refund number": func(e *models.Entry) { e.RefundOrderID = bad },
				"status": func(e *models.Entry) { e.StatusText = bad }, "further name": func(e *models.Entry) { e.Aliases = []string{"x", bad} },
				"kind": func(e *models.Entry) { e.UnknownKind = bad },
			} {
				spoiled := entry("p2", "20.00", models.StatusSucceeded)
				spoil(&spoiled)
				a := reconcile.Account{Name: "shop", Provider: script{models.Statement{Compared: true}, []models.Entry{entry("p1", "20.00", models.StatusSucceeded), spoiled}}}
				_, err := tryRun(t.Context(), b, a, day(t, "2026-11-28"), file(t, "s.csv", []byte("x")))
				wantFileError(t, err, "s.csv", "row 3", name)
			}
		}
		wantNothingWritten(t, b)
	})
}

// TestEditedIDs: what a spreadsheet or an editor leaves on an id would make two gaps of one movement, with ids that look the same.
func TestEditedIDs(t *testing.T) {
	b := sqlite(t)
	for id, says := range map[string]string{
		"'4200000001": "apostrophe", `="4200000001"`: "formula", "\u200b4200000001": "cannot be seen", "42000\ufeff00001": "cannot be seen",
		"42000\u00a000001": "cannot be seen", "4200000001\u2069": "cannot be seen", "42000\u300000001": "cannot be seen",
	} {
		for _, spoil := range []func(*models.Entry){func(e *models.Entry) { e.TransactionID = id }, func(e *models.Entry) { e.ParentID = id }} {
			spoiled := entry("p2", "20.00", models.StatusSucceeded)
			spoil(&spoiled)
			a := reconcile.Account{Name: "shop", Provider: script{models.Statement{Compared: true}, []models.Entry{entry("p1", "20.00", models.StatusSucceeded), spoiled}}}
			_, err := tryRun(t.Context(), b, a, day(t, "2026-11-28"), file(t, "s.csv", []byte("x")))
			wantFileError(t, err, "s.csv", "row 3", says)
		}
	}
	wantNothingWritten(t, b)
	for _, id := range []string{"a'b", "订单-1", "é=\"1\"", "a b", "日本\u0301"} {
		a := reconcile.Account{Name: "shop", Provider: script{models.Statement{Compared: true}, []models.Entry{entry(id, "20.00", models.StatusSucceeded)}}}
		r, err := tryRun(t.Context(), b, a, day(t, "2026-11-28"), file(t, "s.csv", []byte("x")))
		if err != nil || len(r.Gaps) != 1 || r.Gaps[0].TransactionID != id {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestFileOfOneKind: a file that can hold payments only says nothing of refunds.
func TestFileOfOneKind(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00")
	book(t, b, "shop", refund("re_1", "p1", "R1", "5.00"))
	for _, c := range []struct {
		only   models.TransactionKind
		counts string
		want   []string
		note   string
	}{
		{models.Payment, "1 1", []string{"missing_provider payment p2"}, "no refunds by their nature: 1 refund of the book"},
		{models.Refund, "1 1", []string{"missing_provider refund re_1"}, "no payments by their nature: 1 payment of the book"},
		{"", "1 1", []string{"missing_provider payment p2", "missing_provider refund re_1"}, ""},
	} {
		a := reconcile.Account{Name: "shop", Provider: script{models.Statement{Compared: true, Only: c.only}, []models.Entry{entry("p1", "20.00", models.StatusSucceeded)}}}
		r, err := reconcile.Run(t.Context(), b, a, reconcile.Files(file(t, "s.csv", []byte("x"))), day(t, "2026-11-28"), reconcile.Options{DryRun: true, Now: noon})
		if err != nil {
			t.Fatal(err)
		}
		wantRun(t, r, c.counts, c.want...)
		if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
			t.Errorf("notes are %q, want %q", notes, c.note)
		}
	}
}

// TestRefundWithoutItsPayment: the order is there, so it is not the order that is missing.
func TestRefundWithoutItsPayment(t *testing.T) {
	b := sqlite(t)
	ledgertest.Order(t, b, "O-p1", "20.00", "CNY")
	book(t, b, "shop", refund("re_1", "p1", "R1", "5.00"), refund("re_2", "p9", "R2", "5.00"))
	r := run(t, b, plainAccount(t), "2026-11-28", statement(t, "re_1,O-p1,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,p1,R1",
		"re_2,O-p9,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,p9,R2"))
	wantRun(t, r, "2 0", "unknown_order refund re_1", "unknown_order refund re_2")
	known, unknown := r.Gaps[0], r.Gaps[1]
	if !strings.Contains(known.Reason, "the payment p1 of this refund is not booked as paid") || known.Next != "app callbacks list --account shop" {
		t.Errorf("reason %q, next %q; want the payment missed and its callback looked for", known.Reason, known.Next)
	}
	if !strings.Contains(unknown.Reason, "order O-p9 of this refund is not known") || unknown.Next != "app import orders FILE" {
		t.Errorf("reason %q, next %q", unknown.Reason, unknown.Next)
	}
}

// TestUnseenCharacters: what steers a terminal is dropped, and what hides in front of a formula does not hide it.
func TestUnseenCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31mb\x07": "a[31mb", "\u200b=1": "'\u200b=1", "\ufeff@x": "'\ufeff@x", "\u2060\u200d+1": "'\u2060\u200d+1", "\u200e-1": "'\u200e-1",
		"\x1b=1": "'=1", "\t=1": "'=1", "\r\n＝1": "'＝1", "\u00a0=1": "'\u00a0=1", "\u200bab": "\u200bab", "茶": "茶", "": "", "\u009b1m": "1m",
	} {
		r := &reconcile.Report{Gaps: []reconcile.GapReport{{OrderID: in}}}
		var out bytes.Buffer
		if err := reconcile.WriteCSV(&out, []reconcile.Item{{Report: r}}, lang.English); err != nil {
			t.Fatal(err)
		}
		table, err := csv.NewReader(&out).ReadAll()
		if err != nil || table[1][7] != want {
			t.Errorf("%q is written as %q, %v; want %q", in, table[1][7], err, want)
		}
	}
}

// TestCarriedWaitsForAFileOfItsKind: a refund near midnight waits for the next day's statement; one of payments only does not decide it.
func TestCarriedWaitsForAFileOfItsKind(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p1 2026-11-28 10:00:00")
	late := refund("re_1", "p1", "R1", "5.00")
	late.OccurredAt = "2026-11-28T23:59:59+08:00"
	book(t, b, "shop", late)
	wantRun(t, run(t, b, plainAccount(t), "2026-11-28", statement(t, "p1 2026-11-28 10:00:00")), "1 1", "carried: missing_provider refund re_1")
	for _, c := range []struct {
		only models.TransactionKind
		want []string
	}{
		{models.Payment, nil},
		{"", []string{"missing_provider refund re_1 of 2026-11-28"}},
	} {
		a := reconcile.Account{Name: "shop", Zone: shanghai, Provider: script{statement: models.Statement{Compared: true, Only: c.only}}}
		wantRun(t, run(t, b, a, "2026-11-29", file(t, "s.csv", []byte(string(c.only)+"x"))), "0 0", c.want...)
	}
}

// TestRecognised: a file that is not compared is named as a sentence names it.
func TestRecognised(t *testing.T) {
	b := sqlite(t)
	a := reconcile.Account{Name: "shop", Provider: scripts{"a.csv": {models.Statement{Title: "account bill"}, nil}, "b.csv": {models.Statement{Title: "fund-flow bill"}, nil},
		"c.csv": stated("")}}
	r := run(t, b, a, "2026-11-28", scripted(t, "a.csv", "b.csv", "c.csv")...)
	if want := []string{"a.csv: recognised as an account bill, not compared", "b.csv: recognised as a fund-flow bill, not compared"}; !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
	_, err := tryRun(t.Context(), b, a, day(t, "2026-11-29"), scripted(t, "a.csv", "b.csv")...)
	if err == nil || !strings.Contains(err.Error(), "a.csv is an account bill, b.csv is a fund-flow bill") {
		t.Errorf("error %v", err)
	}
}
