package generic_test

import (
	"strings"
	"testing"

	"paybook/models"
)

// columnsOf is a layout of these columns besides the usual ones.
func columnsOf(columns object, more object) func(object) {
	return func(s object) {
		all := object{"transaction_id": "Id", "kind": "Type", "currency": "Ccy", "occurred_at": "At"}
		for key, name := range columns {
			all[key] = name
		}
		st := object{"columns": all}
		for key, value := range more {
			st[key] = value
		}
		s["statement"] = st
	}
}

func TestDebitAndCreditColumns(t *testing.T) {
	p := mustNew(t, settings(columnsOf(object{"debit": "Out", "credit": "In", "fee": []any{"Fee", "Tax"}}, nil)))
	const head = "Id,Type,Ccy,At,Out,In,Fee,Tax\n"
	entries, _, err := readStatement(p, head+"A,payment,CNY,2026-11-29 10:00:00,,19.99,0.30,0.05\nB,refund,CNY,2026-11-29 10:00:00,5.00,0.00,,\n"+
		"C,fee,CNY,2026-11-29 10:00:00,1.20,0,0,\nD,payout,CNY,2026-11-29 10:00:00,7,,-0.10,0.30\n")
	if err != nil {
		t.Fatal(err)
	}
	checkLines(t, entries,
		"2 payment A order= parent= refund= 19.99 CNY fee=0.35 succeeded() 2026-11-29T02:00:00Z",
		"3 refund B order= parent= refund= 5.00 CNY fee=0.00 succeeded() 2026-11-29T02:00:00Z",
		"4 fee C order= parent= refund= 1.20 CNY fee=0.00 succeeded() 2026-11-29T02:00:00Z",
		"5 payout D order= parent= refund= 7.00 CNY fee=0.20 succeeded() 2026-11-29T02:00:00Z")
	for row, want := range map[string]string{
		"payment,CNY,2026-11-29 10:00:00,5.00,5.00,,":                                     "column In: 5.00 CNY: Out has a sum too",
		"payment,CNY,2026-11-29 10:00:00,,,,":                                             "column Out, In: both are empty",
		"payment,CNY,2026-11-29 10:00:00,5.00,,,":                                         "column Out, In: -5.00 CNY: a payment cannot be negative",
		"payment,CNY,2026-11-29 10:00:00,,-5.00,,":                                        "column In: -5.00 CNY is negative",
		"refund,CNY,2026-11-29 10:00:00,,5.00,,":                                          "column Out, In: 5.00 CNY: a refund is negative",
		"payment,CNY,2026-11-29 10:00:00,,x,,":                                            "column In:",
		"payment,CNY,2026-11-29 10:00:00,,1.00,x,":                                        "column Fee:",
		"payment,CNY,2026-11-29 10:00:00,,1.00,0.1,0.001":                                 "column Tax:",
		"payment,CNY,2026-11-29 10:00:00,,1.00,90000000000000000.00,90000000000000000.00": "column Tax: the fees of the row add up",
	} {
		_, _, err := readStatement(p, head+"A,"+row+"\n")
		checkFileError(t, err, 2, want)
	}
}

func TestDirectionColumn(t *testing.T) {
	const head = "Id,Type,Ccy,At,Sum,Way\n"
	p := mustNew(t, settings(columnsOf(object{"amount": "Sum", "direction": "Way"}, nil)))
	entries, _, err := readStatement(p, head+"A,payment,CNY,2026-11-29 10:00:00,19.99,CR\nB,refund,CNY,2026-11-29 10:00:00,5.00,dr\n")
	if err != nil || len(entries) != 2 || entries[0].Money.Minor != 1999 || entries[1].Money.Minor != 500 {
		t.Errorf("entries = %+v, %v", entries, err)
	}
	for row, want := range map[string]string{
		"payment,CNY,2026-11-29 10:00:00,19.99,":    `column Way: "" says neither in nor out`,
		"payment,CNY,2026-11-29 10:00:00,19.99,x":   `column Way: "x" says neither`,
		"payment,CNY,2026-11-29 10:00:00,19.99,DR":  "a payment cannot be negative",
		"payment,CNY,2026-11-29 10:00:00,-19.99,CR": "negative beside Way",
		"refund,CNY,2026-11-29 10:00:00,5.00,CR":    "a refund is negative",
	} {
		_, _, err := readStatement(p, head+"A,"+row+"\n")
		checkFileError(t, err, 2, want)
	}
	own := mustNew(t, settings(columnsOf(object{"amount": "Sum", "direction": "Way"}, object{"directions": object{"入": "credit", "出": "debit"}})))
	if entries, _, err := readStatement(own, head+"B,refund,CNY,2026-11-29 10:00:00,5.00,出\n"); err != nil || entries[0].Money.Minor != 500 {
		t.Errorf("own words: %+v, %v", entries, err)
	}
	_, _, err = readStatement(own, head+"B,refund,CNY,2026-11-29 10:00:00,5.00,DR\n")
	checkFileError(t, err, 2, "expected one of 入, 出")
}

// A file in PayPal's manner: other lines around and between the records, each of its own length.
func TestRecords(t *testing.T) {
	build := func(records object) func(object) {
		return columnsOf(object{"amount": "Sum"}, object{"skip_lines": 1, "records": records})
	}
	const file = "RH,2026-11-29\nCH,Id,Type,Ccy,At,Sum\nSB,A,payment,CNY,2026-11-29 10:00:00,19.99\nSF,USD,1\nSB,B,refund,CNY,2026-11-29 10:00:00,5.00\nRF,2\n"
	p := mustNew(t, settings(build(object{"column": "CH", "equals": "SB", "ignore": []any{"SF", "RF"}})))
	entries, _, err := readStatement(p, file)
	if err != nil || len(entries) != 2 || entries[1].Line != 5 {
		t.Errorf("entries = %+v, %v; want two, the second of row 5", entries, err)
	}
	_, _, err = readStatement(p, strings.Replace(file, "SF,", "sb,", 1))
	checkFileError(t, err, 4, `column CH: "sb" is neither`)
	_, _, err = readStatement(p, strings.Replace(file, "SB,B,refund,CNY", "SB,B,refund", 1))
	checkFileError(t, err, 5, "5 cells, the header has 6")
	_, _, err = readStatement(p, strings.Replace(file, "SF,USD,1", `"",USD,1`, 1))
	checkFileError(t, err, 4, "cells")
	_, _, err = readStatement(p, strings.Replace(file, "CH,", "XX,", 1))
	checkFileError(t, err, 2, "column CH: the header has no such column")
	loose := mustNew(t, settings(build(object{"column": "CH", "equals": []any{"SB", "SX"}})))
	if entries, _, err := readStatement(loose, strings.Replace(file, "SF,", "whatever,", 1)); err != nil || len(entries) != 2 {
		t.Errorf("without ignore: %+v, %v", entries, err)
	}
}

func TestZoneColumnAndDay(t *testing.T) {
	p := mustNew(t, settings(columnsOf(object{"amount": "Sum", "zone": "Zone"}, object{
		"zones": object{"IST": "Asia/Kolkata"}, "timezone": "Asia/Tokyo", "day_zone": "America/New_York", "day_cut": "23:00", "batch": true,
	})))
	if zone, cut := p.Calendar(); zone != "America/New_York" || cut.Hours() != -1 {
		t.Errorf("Calendar = %s, %s; want America/New_York, -1h", zone, cut)
	}
	const head = "Id,Type,Ccy,At,Sum,Zone\n"
	for zone, want := range map[string]string{
		"": "01:00", "Asia/Shanghai": "02:00", "+08:00": "02:00", "UTC": "10:00", "UTC+8": "02:00", "GMT-03:00": "13:00", "-0330": "13:30", "IST": "04:30", "+7": "03:00",
	} {
		entries, statement, err := readStatement(p, head+"A,payment,CNY,2026-11-29 10:00:00,1.00,"+zone+"\n")
		if err != nil || entries[0].OccurredAt.Format("15:04") != want || !statement.Batch {
			t.Errorf("zone %q: %+v, %v; want %s UTC in a batch", zone, entries, err, want)
		}
	}
	for _, zone := range []string{"CST", "Local", "Mars/Olympus", "8", "+25:00", "local time"} {
		_, _, err := readStatement(p, head+"A,payment,CNY,2026-11-29 10:00:00,1.00,"+zone+"\n")
		checkFileError(t, err, 2, "column Zone:")
	}
}

func TestRowsWithoutIDs(t *testing.T) {
	p := mustNew(t, settings(func(s object) {
		s["statement"] = object{
			"row_key": "{Lot  No}-{row}", "kind": "payment", "currency": "CNY",
			"columns": object{"transaction_id": []any{"Id", "Other Id"}, "amount": "Sum", "occurred_at": "At"},
		}
	}))
	const head = "Lot No,Id,Other Id,Sum,At\n"
	entries, statement, err := readStatement(p, head+"L7,,,1.00,2026-11-29 10:00:00\nL7,,X2,2.00,2026-11-29 10:00:00\nL7,A3,X3,3.00,2026-11-29 10:00:00\nL7,,,4.00,2026-11-29 10:00:00\n")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"L7-1", "X2", "A3", "L7-4"} {
		if entries[i].TransactionID != want || entries[i].Kind != models.Payment || entries[i].Money.Currency != "CNY" {
			t.Errorf("row %d is %+v, want the id %s", i+1, entries[i], want)
		}
	}
	if statement.Only != models.Payment {
		t.Errorf("Only = %q, want payment", statement.Only)
	}
	_, _, err = readStatement(p, "Id,Other Id,Sum,At\n")
	checkFileError(t, err, 1, "column Lot No")
}

func TestStatementKnobsAreRefused(t *testing.T) {
	columns := func(columns, more object) func(object) { return columnsOf(columns, more) }
	checkRefused(t, []refusal{
		{columns(object{}, nil), "settings.statement.columns.amount: missing"},
		{columns(object{"debit": "Out"}, nil), "settings.statement.columns.credit: missing beside debit"},
		{columns(object{"credit": "In"}, nil), "settings.statement.columns.debit: missing beside credit"},
		{columns(object{"credit": "In", "debit": "Out", "amount": "Sum"}, nil), "settings.statement.columns.debit: give either"},
		{columns(object{"credit": "In", "debit": "Out"}, object{"sign": "signed"}), "settings.statement.sign: the columns say already"},
		{columns(object{"amount": "S", "gross": "G"}, nil), "settings.statement.columns.gross: give either"},
		{columns(object{"amount": "S", "direction": "W"}, object{"directions": object{"in": "plus"}}), "settings.statement.directions.in: \"plus\" is not one of"},
		{columns(object{"amount": "S"}, object{"fee_sign": "minus"}), "settings.statement.fee_sign:"},
		{columns(object{"amount": "S"}, object{"kind": "payment"}), "settings.statement.kind: a column gives it"},
		{columns(object{"amount": "S"}, object{"currency": "CNY"}), "settings.statement.currency: a column gives it"},
		{columns(object{"amount": "S", "currency": ""}, object{"currency": "XQQ"}), "settings.statement.currency:"},
		{columns(object{"amount": "S", "kind": ""}, object{"kind": "sale"}), "settings.statement.kind: \"sale\" is no word"},
		{columns(object{"amount": "S"}, object{"records": object{"column": "T"}}), "settings.statement.records.equals: missing"},
		{columns(object{"amount": "S"}, object{"records": object{"equals": "SB"}}), "settings.statement.records.column: missing"},
		{columns(object{"amount": "S"}, object{"row_key": "row"}), "settings.statement.row_key: \"row\" has no placeholder"},
		{columns(object{"amount": "S"}, object{"row_key": "{row"}), "settings.statement.row_key:"},
		{columns(object{"amount": "S"}, object{"day_cut": "25:00"}), "settings.statement.day_cut:"},
		{columns(object{"amount": "S"}, object{"day_cut": "1:00"}), "settings.statement.day_cut:"},
		{columns(object{"amount": "S"}, object{"day_zone": "Mars"}), "settings.statement.day_zone:"},
		{columns(object{"amount": "S"}, object{"zones": object{"IST": "India"}}), "settings.statement.zones.IST:"},
		{columns(object{"amount": "S"}, object{"batch": "yes"}), "settings.statement.batch:"},
	})
}
