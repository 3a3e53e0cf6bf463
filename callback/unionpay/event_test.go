package unionpay

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

func cny(fen int64) models.Money { return models.Money{Minor: fen, Currency: "CNY"} }

func at(text string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04:05", text, beijing)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

func TestEvents(t *testing.T) {
	p := mustNew(t, nil)
	const own, orig, trace = "202611291100000000031", "202611291000000000001", "trace:000031:20261129110000"
	base := models.Event{ID: own, TransactionID: own, FoundBy: []string{trace}, Money: cny(5000), OccurredAt: at("2026-11-29 11:00:00")}
	back := base
	back.ParentID, back.RefundOrderID = orig, "CNUR20261129001"
	first := base
	first.OrderID = "CNUR20261129001"
	of := func(ev models.Event, kind models.EventKind, change func(*models.Event)) models.Event {
		ev.Kind = kind
		if change != nil {
			change(&ev)
		}
		return ev
	}
	failed := func(ev *models.Event) { ev.Detail = "respCode 61: 交易金额超限" }
	defect := func(ev *models.Event) {
		ev.Detail = "respCode A6: success with a defect; look at origRespCode of the query before goods or money are released"
	}
	no := fields{"respCode": "61", "respMsg": "交易金额超限"}
	for _, c := range []struct {
		name   string
		change fields
		want   models.Event
	}{
		{"payment", fields{"txnType": "01", "origQryId": "-"}, of(first, models.PaymentSucceeded, nil)},
		{"payment A6", fields{"txnType": "01", "origQryId": "-", "respCode": "A6"}, of(first, models.PaymentSucceeded, defect)},
		{"payment failed", with(no, fields{"txnType": "01", "origQryId": "-"}), of(first, models.PaymentFailed, failed)},
		{"authorisation", fields{"txnType": "02", "origQryId": "-"}, of(first, models.PaymentAuthorised, nil)},
		{"authorisation failed", with(no, fields{"txnType": "02", "origQryId": "-"}), of(first, models.PaymentFailed, failed)},
		{"completion", fields{"txnType": "03"}, of(base, models.PaymentCaptured, func(ev *models.Event) { ev.ParentID = orig })},
		{"completion that names the order", fields{"txnType": "03", "origOrderId": "O1"}, of(base, models.PaymentCaptured, func(ev *models.Event) {
			ev.ParentID, ev.OrderID = orig, "O1"
		})},
		{"completion without its authorisation", fields{"txnType": "03", "origQryId": "-"}, of(base, models.PaymentCaptured, nil)},
		{"completion failed: the authorisation stands", with(no, fields{"txnType": "03"}), of(base, models.PaymentFailed, func(ev *models.Event) {
			failed(ev)
			ev.ParentID = orig
		})},
		{"refund", nil, of(back, models.RefundSucceeded, nil)},
		{"refund A6", fields{"respCode": "A6"}, of(back, models.RefundSucceeded, defect)},
		{"refund failed", no, of(back, models.RefundFailed, failed)},
		{"refund known by our own number only", fields{"origQryId": ""}, of(back, models.RefundSucceeded, func(ev *models.Event) { ev.ParentID = "" })},
		{"refund that names the order", fields{"origQryId": "-", "origOrderId": "O1"}, of(back, models.RefundSucceeded, func(ev *models.Event) { ev.ParentID, ev.OrderID = "", "O1" })},
		{"void", fields{"txnType": "31"}, of(back, models.PaymentVoided, nil)},
		{"void failed", with(no, fields{"txnType": "31"}), of(back, models.RefundFailed, failed)},
		{"void of a completion", fields{"txnType": "33"}, of(back, models.PaymentVoided, nil)},
		{"void of an authorisation", fields{"txnType": "32"}, of(back, models.PaymentVoided, nil)},
		{"void of an authorisation failed", with(no, fields{"txnType": "32"}), of(back, models.EventUnknown, failed)},
		{"no trace", fields{"traceNo": "-"}, of(back, models.RefundSucceeded, func(ev *models.Event) { ev.FoundBy = nil })},
		{"settlement in another currency", fields{"settleAmt": "700", "settleCurrencyCode": "840", "exchangeRate": "30143"}, of(back, models.RefundSucceeded, nil)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mustTell(t, p, refund(c.change)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("event\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
	for _, txnType := range []string{"00", "05", "11", "12", "13", "21", "72", "76", "79", "94", "99", "1", "x"} {
		if got := mustTell(t, p, payment(fields{"txnType": txnType})); got.Kind != models.EventUnknown || got.Detail != "txnType "+txnType {
			t.Errorf("txnType %s: %+v, want it unknown", txnType, got)
		}
	}
}

func TestMoney(t *testing.T) {
	p := mustNew(t, nil)
	for _, c := range []struct{ amount, currency, want string }{
		{"1", "156", "0.01 CNY"}, {"8800", "156", "88.00 CNY"}, {"000000008800", "156", "88.00 CNY"}, {"999999999999", "156", "9999999999.99 CNY"},
		{"8800", "840", "88.00 USD"}, {"8800", "344", "88.00 HKD"}, {"8800", "392", "8800 JPY"}, {"8800", "036", "88.00 AUD"},
	} {
		if got := mustTell(t, p, payment(fields{"txnAmt": c.amount, "currencyCode": c.currency})); got.Money.String() != c.want || got.Kind != models.PaymentSucceeded {
			t.Errorf("%s of %s: %s (%s %s), want %s", c.amount, c.currency, got.Money, got.Kind, got.Detail, c.want)
		}
	}
}

// Genuine, and yet of no use: kept, acknowledged, and told what is wrong.
func TestUnparsable(t *testing.T) {
	p := mustNew(t, nil)
	for _, c := range []struct {
		change fields
		want   string
	}{
		{fields{"txnType": "-"}, "txnType is missing"}, {fields{"respCode": "-"}, "respCode is missing"}, {fields{"respCode": ""}, "respCode is missing"},
		{fields{"queryId": "-"}, "queryId is missing"}, {fields{"queryId": "2026 1129"}, "queryId is missing or no id"}, {fields{"queryId": "单号"}, "queryId is missing or no id"},
		{fields{"queryId": "1\x00"}, "queryId"}, {fields{"queryId": strings.Repeat("1", 65)}, "queryId"},
		{fields{"orderId": "-"}, "orderId is missing"}, {fields{"origQryId": "a b"}, "origQryId"}, {fields{"txnType": "04", "origOrderId": "a b"}, "origOrderId"},
		{fields{"txnType": "32"}, "origQryId is missing"},
		{fields{"txnAmt": "-"}, "txnAmt"}, {fields{"txnAmt": "0"}, "more than nothing"}, {fields{"txnAmt": "-8800"}, "more than nothing"}, {fields{"txnAmt": "88.00"}, "txnAmt"},
		{fields{"txnAmt": "1e3"}, "txnAmt"}, {fields{"txnAmt": "1e1000000000"}, "txnAmt"}, {fields{"txnAmt": " 8800"}, "txnAmt"}, {fields{"txnAmt": "８８００"}, "txnAmt"},
		{fields{"txnAmt": "0x10"}, "txnAmt"}, {fields{"txnAmt": strings.Repeat("9", 10_000)}, "txnAmt"}, {fields{"txnAmt": "+1"}, "txnAmt"},
		{fields{"currencyCode": "-"}, "currencyCode"}, {fields{"currencyCode": "CNY"}, "currencyCode"}, {fields{"currencyCode": "999"}, "currencyCode"}, {fields{"currencyCode": "36"}, "currencyCode"},
		{fields{"txnTime": "-"}, "txnTime"}, {fields{"txnTime": "2026-11-29 10:00:00"}, "txnTime"}, {fields{"txnTime": "20261329100000"}, "txnTime"}, {fields{"txnTime": "20261129100000.5"}, "txnTime"},
		{fields{"txnTime": "202611291000"}, "txnTime"}, {fields{"txnTime": "00010101000000"}, "txnTime"},
		{fields{"queryId": "2026\xb5\xa5", "encoding": "gb18030"}, "queryId is missing or no id"}, {fields{"txnAmt": "\xa3\xb8", "encoding": "gbk"}, "txnAmt"},
		{fields{"orderId": "O\xe9", "encoding": "ISO-8859-1"}, "orderId is missing or no id"},
	} {
		if got := mustTell(t, p, payment(c.change)); got.Kind != models.EventUnparsable || !strings.Contains(got.Detail, c.want) || len(got.Detail) > 300 {
			t.Errorf("%v: %s %q, want unparsable for %q", c.change, got.Kind, got.Detail, c.want)
		}
	}
}

// F08: the signature is over the bytes of the encoding; what is kept is UTF-8.
func TestGBK(t *testing.T) {
	p := mustNew(t, nil)
	got := mustTell(t, p, payment(fields{"encoding": "GBK", "respCode": "61", "respMsg": "交易金额超限"}))
	if got.Kind != models.PaymentFailed || got.Detail != "respCode 61: 交易金额超限" || got.OrderID != "CNU20261129001" {
		t.Errorf("event = %+v", got)
	}
	if got := mustTell(t, p, payment(fields{"encoding": "-"})); got.Kind != models.PaymentSucceeded {
		t.Errorf("without encoding: %+v", got)
	}
}

// What is booked is ASCII, the same in each encoding, so no text beside it costs a payment: one in another encoding than it names, a name
// of an encoding that nobody knows. Such text is left out.
func TestTextThatCannotBeDecoded(t *testing.T) {
	p := mustNew(t, nil)
	const chinese = "\xb3\xc9\xb9\xa6" // 成功 in GBK
	for _, encoding := range []string{"UTF-8", "gbk", "GB2312", "gb18030", "BIG5", "UTF-16", "ISO-8859-1", "GBK2", "\x00", "单", strings.Repeat("x", 1000), "-"} {
		for name, text := range map[string]string{"reqReserved": chinese, "respMsg": chinese, "subMerName": "caf\xe9", "issInsName": "\x00\xff\xfe"} {
			signed := sign(t, production(t), with(payment(fields{"reqReserved": "a", "respMsg": "ok"}), fields{"encoding": encoding, name: text}))
			events, err := p.Verify(t.Context(), received(encode(signed)))
			if err != nil || len(events) != 1 || events[0].Kind != models.PaymentSucceeded || events[0].Money != cny(8800) || events[0].OrderID != "CNU20261129001" {
				t.Errorf("%.20q, %s: %+v, %v; want the payment", encoding, name, events, err)
			}
		}
	}
	for encoding, want := range map[string]string{"gbk": ": 成功", "gb18030": ": 成功", "GB2312": ": 成功", "UTF-8": "", "BIG5": "", "-": ""} {
		signed := sign(t, production(t), with(payment(fields{"reqReserved": "a"}), fields{"encoding": encoding, "respCode": "61", "respMsg": chinese}))
		events, err := p.Verify(t.Context(), received(encode(signed)))
		if err != nil || events[0].Kind != models.PaymentFailed || events[0].Detail != "respCode 61"+want {
			t.Errorf("%s: %+v, %v; want %q", encoding, events, err, "respCode 61"+want)
		}
	}
}

// The trace's time has no year, and is when the money moved; the settlement day says which time to believe.
func TestOccurredAt(t *testing.T) {
	p := mustNew(t, nil)
	for _, c := range []struct{ name, sent, traced, settled, want string }{
		{"the same", "20261129100000", "1129100000", "1129", "2026-11-29 10:00:00"},
		{"paid later than ordered", "20261129100000", "1129101530", "1129", "2026-11-29 10:15:30"},
		{"ordered before the cut, paid after it", "20261129225500", "1129230500", "1130", "2026-11-29 23:05:00"},
		{"only the order's time fits the day", "20261129100000", "1128100000", "1129", "2026-11-29 10:00:00"},
		{"neither fits the day", "20261129225950", "1129225955", "1130", "2026-11-29 22:59:55"},
		{"no day", "20261129100000", "1129101530", "-", "2026-11-29 10:15:30"},
		{"no trace", "20261129100000", "-", "1129", "2026-11-29 10:00:00"},
		{"a trace that is no time", "20261129100000", "1131100000", "1129", "2026-11-29 10:00:00"},
		{"a trace with a year", "20261129100000", "20261129101500", "1129", "2026-11-29 10:00:00"},
		{"New Year between the two", "20261231235900", "0101000100", "0101", "2027-01-01 00:01:00"},
		{"New Year, the other way round", "20270101000001", "1231235959", "0101", "2026-12-31 23:59:59"},
		{"leap day", "20280229100000", "0229100001", "0229", "2028-02-29 10:00:01"},
	} {
		got := mustTell(t, p, payment(fields{"txnTime": c.sent, "traceTime": c.traced, "settleDate": c.settled}))
		if !got.OccurredAt.Equal(at(c.want)) || got.OccurredAt.Location() != time.UTC {
			t.Errorf("%s: %s (%s %s), want %s", c.name, got.OccurredAt, got.Kind, got.Detail, at(c.want))
		}
	}
}

// Two payments may have one trace number in one second, as in the kit: it finds them and is no name of theirs, and nothing else is.
func TestATraceIsNoName(t *testing.T) {
	p := mustNew(t, nil)
	for _, txnType := range []string{"01", "02", "03", "04", "31", "32", "33"} {
		ev := mustTell(t, p, refund(fields{"txnType": txnType}))
		if len(ev.Aliases) > 0 || len(ev.FoundBy) != 1 || ev.FoundBy[0] != "trace:000031:20261129110000" {
			t.Errorf("type %s: aliases %q, found by %q", txnType, ev.Aliases, ev.FoundBy)
		}
	}
}
