package wechatpay

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"paybook/models"
)

func TestRefundIsThisRefundAlone(t *testing.T) {
	p := mustNew(t, nil)
	got, err := tell(t, p, sealed(t, p, "REFUND.SUCCESS", refund(nil), nil))
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != models.RefundSucceeded || got.Money != (models.Money{Minor: 500, Currency: "CNY"}) || got.PayerMinor != 400 ||
		got.TransactionID != "50302902992026112900000000001" || got.ParentID != "4200002999202611290000000001" ||
		got.OrderID != "CNW20261129001" || got.RefundOrderID != "CNWR20261129001" || got.OccurredAt != time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC) {
		t.Errorf("event = %+v", got)
	}
}

func TestMessageIsDatedByTheBestTimeItHas(t *testing.T) {
	p := mustNew(t, nil)
	closed := refund(fields{"refund_status": "CLOSED", "success_time": nil})
	cases := []struct {
		name, created string
		want          time.Time
	}{
		{"create_time", "2026-11-29T10:00:01+08:00", now.Add(-2 * time.Second)},
		{"create_time as some pages show it", "20261129100001", now.Add(-2 * time.Second)},
		{"create_time of another offset", "2026-11-29T02:00:01Z", now.Add(-2 * time.Second)},
		{"create_time nobody understands: when it was signed", "Sun Nov 29", now},
		{"no create_time: when it was signed", "", now},
	}
	for _, c := range cases {
		got, err := tell(t, p, sealed(t, p, "REFUND.CLOSED", closed, fields{"create_time": c.created}))
		if err != nil || got.Kind != models.RefundClosed || !got.OccurredAt.Equal(c.want) {
			t.Errorf("%s: %s at %s (%v), want refund.closed at %s", c.name, got.Kind, got.OccurredAt, err, c.want)
		}
	}
}

// Genuine and ours, but a needed field is missing or contradicts: kept for a person, never applied.
func TestUnparsable(t *testing.T) {
	p := mustNew(t, nil)
	amount := func(change fields) fields {
		return fields{"amount": with(fields{"total": 2000, "refund": 500, "currency": "CNY"}, change)}
	}
	cases := []struct {
		name, kind string
		plain      fields
		want       string
	}{
		{"no transaction id", "TRANSACTION.SUCCESS", payment(fields{"transaction_id": nil}), "transaction_id"},
		{"transaction id as number", "TRANSACTION.SUCCESS", payment(fields{"transaction_id": 42}), "transaction_id"},
		{"no order", "TRANSACTION.SUCCESS", payment(fields{"out_trade_no": ""}), "out_trade_no is missing"},
		{"control character in an id", "TRANSACTION.SUCCESS", payment(fields{"out_trade_no": "a\nb"}), `out_trade_no "a\nb" holds a control character`},
		{"an order longer than the book's", "TRANSACTION.SUCCESS", payment(fields{"out_trade_no": strings.Repeat("9", 256)}), "out_trade_no has 256 bytes, at most 255 are kept"},
		{"blank in the provider's id", "TRANSACTION.SUCCESS", payment(fields{"transaction_id": "4 2"}), `transaction_id "4 2" holds a blank`},
		{"not paid", "TRANSACTION.SUCCESS", payment(fields{"trade_state": "NOTPAY"}), `trade_state is "NOTPAY"`},
		{"no state", "TRANSACTION.SUCCESS", payment(fields{"trade_state": nil}), "trade_state"},
		{"no time", "TRANSACTION.SUCCESS", payment(fields{"success_time": nil}), "success_time"},
		{"odd time", "TRANSACTION.SUCCESS", payment(fields{"success_time": "yesterday"}), "success_time"},
		{"no amount", "TRANSACTION.SUCCESS", payment(fields{"amount": nil}), "amount.total"},
		{"amount as text", "TRANSACTION.SUCCESS", payment(amount(fields{"total": "2000"})), "amount.total"},
		{"amount with a point", "TRANSACTION.SUCCESS", payment(amount(fields{"total": 20.5})), "amount.total"},
		{"amount zero", "TRANSACTION.SUCCESS", payment(amount(fields{"total": 0})), "amount.total"},
		{"amount negative", "TRANSACTION.SUCCESS", payment(amount(fields{"total": -1})), "amount.total"},
		{"unknown currency", "TRANSACTION.SUCCESS", payment(amount(fields{"currency": "RMB"})), "amount.currency"},
		{"refund in another state", "REFUND.SUCCESS", refund(fields{"refund_status": "PROCESSING"}), `refund_status is "PROCESSING"`},
		{"no refund id", "REFUND.SUCCESS", refund(fields{"refund_id": nil}), "refund_id"},
		{"no payment id", "REFUND.SUCCESS", refund(fields{"transaction_id": nil}), "transaction_id"},
		{"no refund number", "REFUND.ABNORMAL", refund(fields{"refund_status": "ABNORMAL", "out_refund_no": nil}), "out_refund_no"},
		{"no refund amount", "REFUND.SUCCESS", refund(amount(fields{"refund": nil})), "amount.refund"},
		{"no event type", "", refund(nil), "event_type"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := tell(t, p, sealed(t, p, c.kind, c.plain, nil))
			if err != nil || got.Kind != models.EventUnparsable || !strings.Contains(got.Detail, c.want) {
				t.Errorf("event %s %q, %v; want unparsable for %s", got.Kind, got.Detail, err, c.want)
			}
		})
	}
}

// A payment must not be lost because the shop's own number is an odd one.
func TestOddNumbersOfTheShop(t *testing.T) {
	p := mustNew(t, nil)
	for _, number := range []string{"a b", "订单 7/8", " x", strings.Repeat("9", 65), strings.Repeat("9", 255)} {
		paid, err := tell(t, p, sealed(t, p, "TRANSACTION.SUCCESS", payment(fields{"out_trade_no": number}), nil))
		if err != nil || paid.Kind != models.PaymentSucceeded || paid.OrderID != number {
			t.Errorf("out_trade_no %q: %+v, %v", number, paid, err)
		}
		back, err := tell(t, p, sealed(t, p, "REFUND.SUCCESS", refund(fields{"out_trade_no": number, "out_refund_no": number}), nil))
		if err != nil || back.Kind != models.RefundSucceeded || back.RefundOrderID != number {
			t.Errorf("out_refund_no %q: %+v, %v", number, back, err)
		}
	}
}

// A huge number must cost nothing.
func TestHugeAmountIsUnparsable(t *testing.T) {
	p := mustNew(t, nil)
	for _, digits := range []string{"1e1000000000", "1E400", "1e-1000000000", strings.Repeat("9", 10_000)} {
		text := strings.Replace(string(mustJSON(t, payment(nil))), `"total":2000`, `"total":`+digits, 1)
		got, err := tell(t, p, sealed(t, p, "TRANSACTION.SUCCESS", text, nil))
		if err != nil || got.Kind != models.EventUnparsable || len(got.Detail) > 200 {
			t.Errorf("%.20s…: %s %q, %v", digits, got.Kind, got.Detail, err)
		}
	}
}

func TestAnotherCurrencyIsBookedAsItIs(t *testing.T) {
	p := mustNew(t, nil)
	got, err := tell(t, p, sealed(t, p, "TRANSACTION.SUCCESS", payment(fields{"amount": fields{"total": 100, "currency": "VND"}}), nil))
	if err != nil || got.Kind != models.PaymentSucceeded || got.Money != (models.Money{Minor: 100, Currency: "VND"}) {
		t.Errorf("event %+v, %v", got, err)
	}
}

// Each refund event must carry its own state; any other is a contradiction, and no state is no state.
func TestRefundStates(t *testing.T) {
	p := mustNew(t, nil)
	states := map[string]models.EventKind{
		"SUCCESS": models.RefundSucceeded, "CLOSED": models.RefundClosed, "ABNORMAL": models.RefundAbnormal, "PROCESSING": models.RefundPending,
	}
	for event, kind := range states {
		for _, state := range []string{"SUCCESS", "CLOSED", "ABNORMAL", "PROCESSING", "success", "CHANGE", ""} {
			want := models.EventUnparsable
			if state == event {
				want = kind
			}
			got, err := tell(t, p, sealed(t, p, "REFUND."+event, refund(fields{"refund_status": state}), nil))
			if err != nil || got.Kind != want {
				t.Errorf("REFUND.%s of state %q = %s (%s), %v; want %s", event, state, got.Kind, got.Detail, err, want)
			}
		}
	}
	asQueried := refund(fields{"refund_status": nil, "status": "SUCCESS"}) // the name that the query API has for it
	if got, err := tell(t, p, sealed(t, p, "REFUND.SUCCESS", asQueried, nil)); err != nil || got.Kind != models.EventUnparsable {
		t.Errorf("a refund as the query API tells it: %+v, %v; want unparsable", got, err)
	}
}

// A refund notification is no payment notification with other words, and the reverse.
func TestShapesAreNotMixed(t *testing.T) {
	p := mustNew(t, nil)
	for kind, plain := range map[string]fields{
		"REFUND.SUCCESS": payment(nil), "TRANSACTION.SUCCESS": refund(fields{"appid": "wx0000000000000001"}), "COMPLAINT.CREATE": payment(nil),
	} {
		if got, err := tell(t, p, sealed(t, p, kind, plain, nil)); err != nil || got.Kind != models.EventUnparsable {
			t.Errorf("%s: %+v, %v; want unparsable", kind, got, err)
		}
	}
}

// What the payer paid is told in the order's currency or not at all.
func TestPayerInAnotherCurrency(t *testing.T) {
	p := mustNew(t, nil)
	for currency, want := range map[string]int64{"CNY": 1500, "HKD": 0, "": 1500} {
		amount := fields{"total": 2000, "payer_total": 1500, "currency": "CNY", "payer_currency": currency}
		got, err := tell(t, p, sealed(t, p, "TRANSACTION.SUCCESS", payment(fields{"amount": amount}), nil))
		if err != nil || got.Kind != models.PaymentSucceeded || got.PayerMinor != want {
			t.Errorf("payer_currency %q: %+v, %v; want payer %d", currency, got, err, want)
		}
	}
}

func TestComplaintsAndOtherProducts(t *testing.T) {
	p := mustNew(t, nil)
	cases := []struct {
		kind, action string
		want         models.EventKind
	}{
		{"COMPLAINT.CREATE", "CREATE_COMPLAINT", models.DisputeCreated},
		{"COMPLAINT.STATE_CHANGE", "CONTINUE_COMPLAINT", models.DisputeUpdated},
		{"COMPLAINT.STATE_CHANGE", "USER_RESPONSE", models.DisputeUpdated},
		{"COMPLAINT.STATE_CHANGE", "RESPONSE_BY_PLATFORM", models.DisputeUpdated},
		{"COMPLAINT.STATE_CHANGE", "SELLER_REFUND", models.DisputeUpdated},
		{"COMPLAINT.STATE_CHANGE", "MERCHANT_RESPONSE", models.DisputeUpdated},
		{"COMPLAINT.STATE_CHANGE", "MERCHANT_CONFIRM_COMPLETE", models.DisputeUpdated},
		{"COMPLAINT.STATE_CHANGE", "NEW_ACTION_2027", models.DisputeUpdated},
		{"COMPLAINT.SOMETHING_NEW", "", models.DisputeUpdated},
		{"TRANSACTION.FAIL", "", models.EventUnknown},
		{"PAYSCORE.USER_PAID", "", models.EventUnknown},
		{"COUPON.USE", "", models.EventUnknown},
		{"ENTRUST.CONTRACT", "", models.EventUnknown},
		{"MCHTRANSFER.BATCH.FINISHED", "", models.EventUnknown},
		{"REFUND.SOMETHING_NEW", "", models.EventUnknown},
		{"transaction.success", "", models.EventUnknown},
	}
	for _, c := range cases {
		complaint := fields{"complaint_id": "200201820200101080076610000", "action_type": c.action}
		got, err := tell(t, p, sealed(t, p, c.kind, complaint, fields{"create_time": "2026-11-29T10:00:01+08:00"}))
		if err != nil || got.Kind != c.want || got.Money != (models.Money{}) || got.OrderID != "" || got.ParentID != "" {
			t.Errorf("%s = %+v, %v; want %s without money", c.kind, got, err, c.want)
		}
		if c.want != models.EventUnknown && (!strings.Contains(got.Detail, c.action) || got.TransactionID != complaint["complaint_id"]) {
			t.Errorf("%s = %+v, want complaint and action named", c.kind, got)
		}
	}
	for _, id := range []any{nil, "", " ", 42, "a\nb", strings.Repeat("1", 65)} {
		got, err := tell(t, p, sealed(t, p, "COMPLAINT.CREATE", with(fields{"action_type": "CREATE_COMPLAINT"}, fields{"complaint_id": id}), nil))
		if err != nil || got.Kind != models.EventUnparsable || got.TransactionID != "" || !strings.Contains(got.Detail, "complaint_id") {
			t.Errorf("complaint_id %v: %+v, %v; want unparsable", id, got, err)
		}
	}
}

// A name of any length and script must leave a line that every database takes.
func TestLongNamesAreCutAtACharacter(t *testing.T) {
	p := mustNew(t, nil)
	got, err := tell(t, p, sealed(t, p, "X"+strings.Repeat("支", 100), fields{}, nil))
	if err != nil || !utf8.ValidString(got.Detail) || len(got.Detail) > 80 {
		t.Errorf("detail %q, %v", got.Detail, err)
	}
}
