package generic_test

import (
	"testing"

	"paybook/models"
)

// What a row is part of, and what it moved in the balance, is read where the settings name the columns; payout_id before batch, and in the
// default layout by its name, as a fee is.
func TestPayoutColumns(t *testing.T) {
	columns := func(more object) object {
		all := object{"transaction_id": "id", "kind": "kind", "amount": "amount", "fee": "fee", "currency": "currency", "occurred_at": "at"}
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	const head, at = "id,kind,amount,fee,currency,at,payout,batch,debit,credit\n", ",CNY,2026-11-29 10:00:00"
	cny := func(minor int64) models.Money { return models.Money{Minor: minor, Currency: "CNY"} }
	for _, c := range []struct {
		what    string
		columns object
		row     string
		payout  string
		gross   models.Money
		moved   int64
		fee     models.Money
	}{
		{"payout_id", object{"payout_id": "payout", "batch": "batch"}, "p1,payment,10.00,0.10" + at + ",po_1,B1,,", "po_1", models.Money{}, 1000, cny(10)},
		{"batch", object{"batch": "batch"}, "p1,payment,10.00," + at + ",po_1,B1,,", "B1", models.Money{}, 1000, cny(0)},
		{"none", nil, "p1,refund,10.00,0" + at + ",po_1,B1,,", "", models.Money{}, -1000, cny(0)},
		{"an adjustment's way", object{"net_debit": "debit", "net_credit": "credit"}, "a1,adjustment,5.00,0" + at + ",,,5.00,0.00", "", cny(-500), -500, cny(0)},
		{"a reserve's way", object{"net_debit": "debit", "net_credit": "credit"}, "a1,reserve,5.00,0" + at + ",,,,5.00", "", models.Money{}, 500, cny(0)},
		{"net of its fee", object{"net_debit": "debit", "net_credit": "credit"}, "p1,payment,10.00,0.10" + at + ",,,,9.90", "", models.Money{}, 1000, cny(10)},
	} {
		p := mustNew(t, settings(func(s object) { s["statement"] = object{"columns": columns(c.columns)} }))
		entries, _, err := readStatement(p, head+c.row+"\n")
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: %d entries, %v", c.what, len(entries), err)
			continue
		}
		if e := entries[0]; e.PayoutID != c.payout || e.Gross != c.gross || e.Moved() != cny(c.moved) || e.Fee != c.fee {
			t.Errorf("%s: %+v moved %s", c.what, e, e.Moved())
		}
	}
	p := mustNew(t, settings(func(s object) {
		s["statement"] = object{"columns": columns(object{"net_debit": "debit", "net_credit": "credit"})}
	}))
	_, _, err := readStatement(p, head+"p1,payment,10.00,0.10"+at+",,,1.00,9.90\n")
	checkFileError(t, err, 2, "debit has a sum too")
	const usual = "transaction_id,order_id,type,amount,currency,status,occurred_at,payout_id"
	for _, c := range []struct {
		more, cell string
		fee        models.Money
	}{{"", "", models.Money{}}, {",fee", ",0.01", cny(1)}, {",fee", ",-0.01", cny(-1)}, {",fee", ",", cny(0)}} {
		entries, _, err := readStatement(mustNew(t, settings(nil)), usual+c.more+"\nT1,O1,payment,1.00,CNY,paid,2026-11-29 10:00:00,po_9"+c.cell+"\n")
		if err != nil || len(entries) != 1 || entries[0].PayoutID != "po_9" || entries[0].Fee != c.fee {
			t.Errorf("the default layout with %q: %+v, %v", c.more+c.cell, entries, err)
		}
	}
	_, _, err = readStatement(mustNew(t, settings(nil)), usual+",fee\nT1,O1,payment,1.00,CNY,paid,2026-11-29 10:00:00,po_9,0.6%\n")
	checkFileError(t, err, 2, "fee")
}
