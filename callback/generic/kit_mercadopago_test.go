package generic_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

func mercadopagoKit() kit {
	const zone, file, t = "America/Argentina/Buenos_Aires", "mercadopago_settlement_2026-11-27.csv", "2026-11-27T"
	notice := func(n int, typ, action, id string) string {
		return fmt.Sprintf(`{"id":%d,"live_mode":true,"type":%q,"date_created":"2026-11-27T08:15:02.000Z","user_id":44444,"api_version":"v1","action":%q,"data":{"id":%q}}`,
			n, typ, action, id)
	}
	request := func(id string) map[string]string { return map[string]string{"x-request-id": id} }
	stamped := func(id, ts string) map[string]string { return map[string]string{"x-request-id": id, "ts": ts} }
	first := shot{
		name: "payment_notice", note: "Ids only: kept until somebody reads the payment. The query is signed, the body is not.", at: t + "08:15:04Z",
		query: "data.id=7600000001&type=payment", headers: request("req-7601"), body: notice(760101, "payment", "payment.updated", "7600000001"),
		expect: booked("thin", "7600000001", "", "", "", "fetch", "event_id", "760101"),
	}
	again := first
	again.name, again.note, again.at, again.headers = "second_delivery", "Sent once more, under a request id of its own.", t+"08:30:04Z", request("req-7601-again")
	lower := first
	lower.name, lower.note = "id_signed_in_lower_case", "Some releases sign the id in lower case."
	lower.query, lower.headers = "data.id=ABC7602TEST&type=payment", stamped("req-7602", "lower")
	lower.body, lower.expect = notice(760102, "payment", "payment.created", "ABC7602TEST"), booked("thin", "ABC7602TEST", "", "", "", "fetch")
	refuse := func(name, note, trick, reason string) shot {
		s := first
		s.name, s.note, s.trick, s.expect = name, note, trick, refused(reason)
		return s
	}
	stale := refuse("stale_timestamp", "Two days old.", "", "timestamp")
	stale.at = "2026-11-29T08:15:04Z"
	stale.headers = stamped("req-7601", "1795767302")
	shots := []shot{
		first, again, lower,
		{name: "time_in_milliseconds", note: "Both units are seen; the size tells.", at: t + "08:16:04Z", query: "data.id=7600000003&type=payment", headers: stamped("req-7603", "1795767362000"),
			body: notice(760103, "payment", "payment.updated", "7600000003"), expect: booked("thin", "7600000003", "", "", "", "fetch")},
		{name: "without_request_id", note: "What is missing drops out of the signed text.", at: t + "08:17:04Z", query: "data.id=7600000004&type=payment",
			body: notice(760104, "payment", "payment.updated", "7600000004"), expect: booked("thin", "7600000004", "", "", "", "fetch")},
		{name: "refund_is_an_update_too", note: "A refund comes as an update of the payment.", at: t + "10:00:04Z", query: "data.id=7600000001&type=payment", headers: request("req-7605"),
			body: notice(760105, "payment", "payment.updated", "7600000001"), expect: booked("thin", "7600000001", "", "", "", "fetch")},
		{name: "dispute_chargeback", at: t + "11:00:04Z", query: "data.id=7600000301&type=topic_chargebacks_wh", headers: request("req-7606"),
			body: notice(760106, "topic_chargebacks_wh", "created", "7600000301"), expect: booked("thin", "7600000301", "", "", "", "fetch")},
		refuse("bad_signature", "", "forged", "signature"),
		refuse("tampered_query_time", "The time was changed after signing.", "ts=1795767304>ts=1795767305", "signature"),
		refuse("request_id_replaced", "", "req-7601>req-7699", "signature"),
		refuse("missing_signature", "", "unsigned", "signature"),
		stale,
		{name: "changed_body_is_not_noticed", note: "The body is not signed: the id of the query counts.", at: t + "08:15:04Z", query: "data.id=7600000001&type=payment",
			headers: request("req-7607"), body: notice(760107, "payment", "payment.updated", "1"), trick: `"action":"payment.updated">"action":"payment.invented"`,
			expect: booked("thin", "7600000001", "", "", "", "fetch")},
		{name: "unknown_event_type", at: t + "12:00:04Z", query: "data.id=7600000900&type=plan", headers: request("req-7608"), body: notice(760108, "plan", "created", "7600000900"),
			expect: booked("unknown", "", "", "", "", "ignore")},
	}
	return kit{
		name: "mercadopago", secret: "mercadopago-secret-TEST-ONLY", config: object{"secrets": []string{"mercadopago-secret-TEST-ONLY"}, "livemode": true},
		orders: []object{order("ORD-2026-7601", "1500.50", "ARS"), order("ORD-2026-7603", "900.00", "ARS"), order("ORD-2026-7604", "18000.00", "ARS")},
		seeds: []object{
			row("payment", "7600000001", "", "ORD-2026-7601", "1500.50", "ARS", "SUCCEEDED", t+"05:15:01-03:00"),
			row("payment", "7600000003", "", "ORD-2026-7603", "900.00", "ARS", "SUCCEEDED", t+"06:00:00-03:00"),
			row("payment", "7600000004", "", "ORD-2026-7604", "18000.00", "ARS", "SUCCEEDED", t+"07:00:00-03:00"),
		},
		sign: signMercadopago, shots: shots, file: file,
		text: "EXTERNAL_REFERENCE,SOURCE_ID,PAYMENT_METHOD,TRANSACTION_TYPE,TRANSACTION_AMOUNT,TRANSACTION_CURRENCY,TRANSACTION_DATE,MKP_FEE_AMOUNT,FINANCING_FEE_AMOUNT,FEE_AMOUNT,TAXES_AMOUNT,SETTLEMENT_NET_AMOUNT\n" +
			"ORD-2026-7601,7600000001,visa,SETTLEMENT,1500.50,ARS,2026-11-27T05:15:01.000-03:00,0.00,0.00,-60.02,-12.60,1427.88\n" +
			"ORD-2026-7603,7600000003,master,SETTLEMENT,890.00,ARS,2026-11-27T06:00:00.000-03:00,0.00,-10.00,-35.60,-9.58,834.82\n" +
			"ORD-2026-7699,7600000099,visa,SETTLEMENT,300.00,ARS,2026-11-27T09:00:00.000-03:00,0.00,0.00,-12.00,-2.52,285.48\n" +
			",,,WITHDRAWAL,-2000.00,ARS,2026-11-27T20:00:00.000-03:00,0.00,0.00,0.00,0.00,-2000.00\n",
		local: []object{
			row("payment", "7600000001", "", "ORD-2026-7601", "1500.50", "ARS", "SUCCEEDED", t+"05:15:01-03:00"),
			row("payment", "7600000003", "", "ORD-2026-7603", "900.00", "ARS", "SUCCEEDED", t+"06:00:00-03:00"),
			row("payment", "7600000004", "", "ORD-2026-7604", "18000.00", "ARS", "SUCCEEDED", t+"07:00:00-03:00"),
		},
		expected: planted(zone, file, 3, 1,
			gap("amount_mismatch", "payment", "7600000003", "ORD-2026-7603", "890.00", "900.00", "ARS"),
			gap("missing_local", "payment", "7600000099", "", "300.00", "", "ARS"),
			gap("missing_provider", "payment", "7600000004", "ORD-2026-7604", "", "18000.00", "ARS")),
	}
}

// signMercadopago takes the time from a header ts, which it takes away: a number, or "lower" for a signature over the lower-cased id.
func signMercadopago(_, query string, headers map[string]string, secret string) {
	ts, id := headers["ts"], strings.TrimSuffix(strings.TrimPrefix(query[:strings.Index(query, "&")], "data.id="), "&")
	delete(headers, "ts")
	if ts == "lower" {
		ts, id = "", strings.ToLower(id)
	}
	if ts == "" {
		ts = "1795767304"
	}
	text := "id:" + id + ";"
	if request := headers["x-request-id"]; request != "" {
		text += "request-id:" + request + ";"
	}
	headers["x-signature"] = "ts=" + ts + ",v1=" + hex.EncodeToString(macOf(sha256.New, secret, text+"ts:"+ts+";"))
}
