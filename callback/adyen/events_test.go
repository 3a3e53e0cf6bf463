package adyen_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

func jsonNumber(text string) json.Number { return json.Number(text) }

const paid = `"authorised_means_paid":true`

func TestEventCodes(t *testing.T) {
	const (
		kept   = models.EventUnknown
		broken = models.EventUnparsable
	)
	for _, tc := range []struct {
		code, success    string
		captured, direct models.EventKind // by a merchant account that is paid on CAPTURE, and by one that is paid on AUTHORISATION
	}{
		{"AUTHORISATION", "true", models.PaymentAuthorised, models.PaymentSucceeded},
		{"AUTHORISATION", "false", models.PaymentFailed, models.PaymentFailed},
		{"CAPTURE", "true", models.PaymentCaptured, models.PaymentCaptured},
		{"CAPTURE", "false", models.PaymentFailed, models.PaymentFailed},
		{"CAPTURE_FAILED", "true", models.PaymentVoided, models.PaymentVoided},
		{"CAPTURE_FAILED", "false", kept, kept},
		{"CANCELLATION", "true", models.PaymentVoided, models.PaymentVoided},
		{"CANCELLATION", "false", kept, kept},
		{"TECHNICAL_CANCEL", "true", models.PaymentVoided, models.PaymentVoided},
		{"EXPIRE", "true", models.PaymentVoided, models.PaymentVoided},
		{"CANCEL_OR_REFUND", "true", models.PaymentVoided, models.PaymentVoided},
		{"CANCEL_OR_REFUND", "false", kept, kept},
		{"REFUND", "true", models.RefundSucceeded, models.RefundSucceeded},
		{"REFUND", "false", models.RefundFailed, models.RefundFailed},
		{"REFUND_FAILED", "true", models.RefundFailed, models.RefundFailed},
		{"REFUND_FAILED", "false", kept, kept},
		{"REFUNDED_REVERSED", "true", models.RefundFailed, models.RefundFailed},
		{"NOTIFICATION_OF_CHARGEBACK", "true", models.DisputeNotified, models.DisputeNotified},
		{"REQUEST_FOR_INFORMATION", "true", models.DisputeInquiry, models.DisputeInquiry},
		{"CHARGEBACK", "true", models.DisputeOpened, models.DisputeOpened},
		{"CHARGEBACK", "false", kept, kept},
		{"DISPUTE_OPENED_WITH_CHARGEBACK", "true", models.DisputeOpened, models.DisputeOpened},
		{"CHARGEBACK_REVERSED", "true", models.DisputeWon, models.DisputeWon},
		{"SECOND_CHARGEBACK", "true", models.DisputeLost, models.DisputeLost},
		{"PREARBITRATION_LOST", "true", models.DisputeLost, models.DisputeLost},
		{"PREARBITRATION_WON", "true", models.DisputeWon, models.DisputeWon},
		{"ISSUER_RESPONSE_TIMEFRAME_EXPIRED", "true", models.DisputeWon, models.DisputeWon},
		{"REPORT_AVAILABLE", "true", models.ReportAvailable, models.ReportAvailable},
		{"REPORT_AVAILABLE", "false", kept, kept},
		{"OFFER_CLOSED", "true", kept, kept},
		{"PAIDOUT_REVERSED", "true", kept, kept},
		{"authorisation", "true", kept, kept},
		{"INVENTED_2027", "perhaps", kept, kept},
		{"AUTHORISATION", "True", broken, broken},
		{"REFUND", "", broken, broken},
		{"", "true", broken, broken},
	} {
		it := item(fields{"eventCode": tc.code, "success": tc.success, "pspReference": "MOD1", "originalReference": "PSP1"})
		for setting, want := range map[string]models.EventKind{"": tc.captured, paid: tc.direct} {
			ev := say(t, mustNew(t, settings(setting)), it)
			if ev.Kind != want {
				t.Errorf("%s %s %s: %s (%s), want %s", tc.code, tc.success, setting, ev.Kind, ev.Detail, want)
			}
			if ev.VoidsCapture != (tc.code == "CAPTURE_FAILED" && want == models.PaymentVoided) {
				t.Errorf("%s %s: voids a capture: %t", tc.code, tc.success, ev.VoidsCapture)
			}
			if ev.ID != tc.code+":MOD1:"+tc.success || ev.TransactionID == "" {
				t.Errorf("%s %s: id %q of %q", tc.code, tc.success, ev.ID, ev.TransactionID)
			}
		}
	}
}

func TestAuthorisation(t *testing.T) {
	at := time.Date(2026, 11, 27, 8, 15, 2, 0, time.UTC)
	want := models.Event{ID: "AUTHORISATION:PSP1:true", Kind: models.PaymentAuthorised, TransactionID: "PSP1", OrderID: "ORDER1",
		Money: eur(4999), OccurredAt: at}
	if got := say(t, mustNew(t, settings("")), item(nil)); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	got := say(t, mustNew(t, settings(paid)), item(nil))
	if got.Kind != models.PaymentSucceeded || got.Told != models.PaymentAuthorised || !strings.Contains(got.Detail, "authorised_means_paid") {
		t.Errorf("counted as paid: %+v", got)
	}
	each := mustNew(t, settings(`"authorised_means_paid":{"OtherShop":true}`))
	if got := say(t, each, item(nil)); got.Kind != models.PaymentAuthorised {
		t.Errorf("a merchant account that the setting leaves out: %s", got.Kind)
	}
	if got := say(t, each, item(fields{"merchantAccountCode": "OtherShop"})); got.Kind != models.PaymentSucceeded {
		t.Errorf("the merchant account of the setting: %s", got.Kind)
	}
	if got := say(t, mustNew(t, settings(paid)), item(fields{"amount.value": jsonNumber("0")})); got.Kind != models.EventUnknown {
		t.Errorf("a card checked with 0: %s", got.Kind)
	}
	if got := say(t, mustNew(t, settings(paid)), item(fields{"success": "false", "reason": "Refused 4111 1111 1111 1111"})); got.Detail != "Refused …" {
		t.Errorf("a refusal's detail is %q", got.Detail)
	}
}

// All that is done to a payment has an id of its own and names the payment; no two movements share a name.
func TestNames(t *testing.T) {
	for _, setting := range []string{"", paid} {
		p := mustNew(t, settings(setting))
		for _, code := range []string{"CAPTURE true", "CAPTURE false", "CAPTURE_FAILED true", "CANCELLATION true", "TECHNICAL_CANCEL true", "EXPIRE true",
			"CANCEL_OR_REFUND true", "REFUND true", "REFUND false", "REFUND_FAILED true", "REFUNDED_REVERSED true", "NOTIFICATION_OF_CHARGEBACK true",
			"CHARGEBACK true", "CHARGEBACK_REVERSED true", "SECOND_CHARGEBACK true", "PREARBITRATION_LOST true"} {
			code, success, _ := strings.Cut(code, " ")
			got := say(t, p, item(fields{"eventCode": code, "success": success, "pspReference": "MOD1", "originalReference": "PSP1"}))
			if want := code == "CAPTURE_FAILED"; got.VoidsCapture != want {
				t.Errorf("%s: voids a capture: %v, want %v", code, got.VoidsCapture, want)
			}
			if got.TransactionID != "MOD1" || got.ParentID != "PSP1" || got.Aliases != nil || got.FoundBy != nil || got.OrderID != "ORDER1" || got.Money != eur(4999) {
				t.Errorf("%s %s: %+v; want MOD1 of PSP1", code, success, got)
			}
		}
		for _, success := range []string{"true", "false"} {
			got := say(t, p, item(fields{"success": success}))
			if got.TransactionID != "PSP1" || got.ParentID != "" || got.Aliases != nil {
				t.Errorf("AUTHORISATION %s: %+v; want PSP1 alone", success, got)
			}
		}
	}
}

// What ends a payment as a whole may tell the sum 0; a capture that fails tells how much.
func TestVoidOfZero(t *testing.T) {
	for code, want := range map[string]models.EventKind{"CANCELLATION": models.PaymentVoided, "TECHNICAL_CANCEL": models.PaymentVoided, "EXPIRE": models.PaymentVoided,
		"CANCEL_OR_REFUND": models.PaymentVoided, "CAPTURE_FAILED": models.EventUnparsable} {
		got := say(t, mustNew(t, settings("")), item(fields{"eventCode": code, "pspReference": "MOD1", "originalReference": "PSP1", "amount.value": jsonNumber("0")}))
		if got.Kind != want || want == models.PaymentVoided && got.Money != eur(0) {
			t.Errorf("%s: %+v, want %s", code, got, want)
		}
	}
}

// Without the payment's id a capture can't be told from a second payment, and a void is of nothing; a dispute can still be found.
func TestNoOriginalReference(t *testing.T) {
	for code, want := range map[string]models.EventKind{"CAPTURE": models.EventUnparsable, "CANCELLATION": models.EventUnparsable, "EXPIRE": models.EventUnparsable,
		"CAPTURE_FAILED": models.EventUnparsable, "CANCEL_OR_REFUND": models.EventUnparsable,
		"CHARGEBACK_REVERSED": models.DisputeWon, "SECOND_CHARGEBACK": models.DisputeLost, "REFUND": models.RefundSucceeded} {
		got := say(t, mustNew(t, settings("")), item(fields{"eventCode": code}))
		if got.Kind != want || got.ParentID != "" || got.TransactionID != "PSP1" {
			t.Errorf("%s: %+v, want %s", code, got, want)
		}
	}
}

// What is not signed may say anything: only the time and the line for people may follow it.
func TestUnsignedFieldsDecideNothing(t *testing.T) {
	neutral := func(ev models.Event) models.Event {
		ev.OccurredAt, ev.Detail = time.Time{}, ""
		return ev
	}
	for _, code := range []string{"AUTHORISATION", "CAPTURE", "CANCEL_OR_REFUND", "REFUND", "REFUND_FAILED", "CHARGEBACK", "REPORT_AVAILABLE", "NEW"} {
		for _, setting := range []string{"", paid} {
			p := mustNew(t, settings(setting))
			want := neutral(say(t, p, item(fields{"eventCode": code, "originalReference": "PSP0"})))
			for _, action := range []string{"cancel", "refund", ""} {
				it := item(fields{"eventCode": code, "originalReference": "PSP0"})
				it["eventDate"], it["reason"], it["paymentMethod"], it["operations"] = "2020-01-01T00:00:00Z", "x", "y", []string{"CANCEL"}
				it["additionalData"] = map[string]any{"hmacSignature": macOf(it), "modification.action": action,
					"merchantReference": "OTHER", "modificationMerchantReferences": "R9", "disputeStatus": "Won", "success": "false"}
				if got := neutral(say(t, p, it)); !reflect.DeepEqual(got, want) {
					t.Errorf("%s with action %q:\n got %+v\nwant %+v", code, action, got, want)
				}
			}
		}
	}
}

func TestAmounts(t *testing.T) {
	own := `"currency_digits":{"ISK":0,"UGX":2}`
	for _, tc := range []struct {
		setting, value, currency, want string // "": it can't be read
	}{
		{"", "1500000", "CLP", "15000 CLP"}, {"", "15000", "ISK", "150 ISK"}, {"", "15000", "CVE", "15000.00 CVE"}, {"", "15000", "IDR", "15000.00 IDR"},
		{"", "12800", "JPY", "12800 JPY"}, {"", "5120", "KWD", "5.120 KWD"}, {"", "12800", "KRW", "12800 KRW"}, {"", "1", "EUR", "0.01 EUR"},
		{"", "9223372036854775807", "EUR", "92233720368547758.07 EUR"},
		{"", "1500001", "CLP", ""}, {"", "9223372036854775808", "EUR", ""}, {"", "-1", "EUR", ""}, {"", "1.0", "EUR", ""}, {"", "1e3", "EUR", ""},
		{"", "1e1000000000", "EUR", ""}, {"", strings.Repeat("9", 5000), "EUR", ""}, {"", "100", "QQQ", ""}, {"", "100", "", ""},
		{own, "15000", "ISK", "15000 ISK"}, {own, "1500", "UGX", "15 UGX"},
	} {
		got := say(t, mustNew(t, settings(tc.setting)), item(fields{"amount.value": jsonNumber(tc.value), "amount.currency": tc.currency}))
		if tc.want == "" {
			if got.Kind != models.EventUnparsable || !strings.Contains(got.Detail, "amount") || got.TransactionID != "PSP1" {
				t.Errorf("%s %s: %+v, want an unparsable event", tc.value[:min(20, len(tc.value))], tc.currency, got)
			}
			continue
		}
		if got.Money.String() != tc.want {
			t.Errorf("%s %s = %s (%s), want %s", tc.value, tc.currency, got.Money, got.Detail, tc.want)
		}
	}
}

func TestUnreadable(t *testing.T) {
	p := mustNew(t, settings(""))
	for name, changes := range map[string]fields{
		"no amount": {"amount": nil}, "no value": {"amount.value": nil}, "value as text": {"amount.value": "4999"}, "no psp reference": {"pspReference": nil},
		"psp reference a number": {"pspReference": jsonNumber("8")}, "control in the order": {"merchantReference": "A\nB"},
		"long order": {"merchantReference": strings.Repeat("A", 256)}, "a failed capture of nothing": {"eventCode": "CAPTURE_FAILED", "originalReference": "PSP0", "amount.value": jsonNumber("0")},
	} {
		it := item(changes)
		if name == "value as text" || name == "psp reference a number" { // signed as what they are to us: nothing
			it = item(map[string]fields{"value as text": {"amount.value": nil}, "psp reference a number": {"pspReference": nil}}[name])
			for field, value := range changes {
				set(it, field, value)
			}
		}
		if got := say(t, p, it); got.Kind != models.EventUnparsable || got.Detail == "" || got.OccurredAt.IsZero() || strings.ContainsAny(got.OrderID, "\n") {
			t.Errorf("%s: %+v, want an unparsable event", name, got)
		}
	}
}

// eventDate is not signed: it is believed as far as it makes sense.
func TestOccurredAt(t *testing.T) {
	p := mustNew(t, settings(""))
	for date, want := range map[string]time.Time{
		"2026-11-27T09:15:02+01:00":     time.Date(2026, 11, 27, 8, 15, 2, 0, time.UTC),
		"2026-11-27T09:15:02.123+01:00": time.Date(2026, 11, 27, 8, 15, 2, 123e6, time.UTC),
		"2026-11-27T09:15:02+0100":      time.Date(2026, 11, 27, 8, 15, 2, 0, time.UTC),
		"2019-01-01T00:00:00Z":          time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC), // sent again for 30 days, told by no age
		"2026-11-28T08:59:59Z":          time.Date(2026, 11, 28, 8, 59, 59, 0, time.UTC),
		"2026-11-28T09:00:01Z":          now,
		"9999-12-31T23:59:59-12:00":     now,
		"1969-12-31T23:59:59Z":          now,
		"2026-11-27 09:15:02":           now,
		"yesterday":                     now,
		"":                              now,
	} {
		if got := say(t, p, item(fields{"eventDate": date})); !got.OccurredAt.Equal(want) || got.OccurredAt.Location() != time.UTC || got.Kind != models.PaymentAuthorised {
			t.Errorf("%q: %s, %s; want %s", date, got.OccurredAt, got.Kind, want)
		}
	}
}

func TestReportAvailable(t *testing.T) {
	const file, url = "settlement_detail_report_batch_42.csv", "https://evil.test/x.csv"
	got := say(t, mustNew(t, settings("")), item(fields{"eventCode": "REPORT_AVAILABLE", "pspReference": file, "merchantReference": "", "amount.value": jsonNumber("0"), "reason": url}))
	if got.Kind != models.ReportAvailable || got.TransactionID != file || got.Detail != url || got.Money != (models.Money{}) {
		t.Errorf("%+v", got)
	}
}

func TestDuplicateTellsTheSame(t *testing.T) {
	p := mustNew(t, settings(""))
	events, err := p.Verify(context.Background(), request(body(t, "false", item(nil), item(fields{"eventDate": "2026-11-27T09:15:03+01:00"}))))
	if err != nil || len(events) != 2 || events[0].ID != events[1].ID || events[0].TransactionID != events[1].TransactionID {
		t.Errorf("%+v, %v", events, err)
	}
}

func eur(minor int64) models.Money { return models.Money{Minor: minor, Currency: "EUR"} }
