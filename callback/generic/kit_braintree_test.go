package generic_test

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
)

func braintreeKit() kit {
	const file, t, secret, public = "braintree_transactions_2026-11-27.csv", "2026-11-27T", "braintree-private-key-TEST-ONLY", "TESTPUBLICKEY"
	signature := func(payload, key, name string) string {
		derived := sha1.Sum([]byte(key))
		return name + "|" + hex.EncodeToString(macOf(sha1.New, string(derived[:]), payload))
	}
	payload := func(kind, subject string) string {
		xml := fmt.Sprintf("<notification>\n  <timestamp type=\"datetime\">2026-11-27T16:15:02Z</timestamp>\n  <kind>%s</kind>\n  <subject>%s</subject>\n</notification>\n", kind, subject)
		return base64.StdEncoding.EncodeToString([]byte(xml)) + "\n" // the newline belongs to the signed text
	}
	form := func(payload, signature string) string {
		return url.Values{"bt_payload": {payload}, "bt_signature": {signature}}.Encode()
	}
	kept := booked("thin", "", "", "", "", "fetch")
	sent := func(name, note, kind, subject string) shot {
		text := payload(kind, subject)
		return shot{name: name, note: note, at: t + "16:15:04Z", body: form(text, signature(text, secret, public)), expect: kept}
	}
	sale := payload("transaction_settled", "<transaction><id>bt7701</id><status>settled</status><amount>49.99</amount></transaction>")
	first := sent("transaction_settled", "The payload is XML: kept until somebody reads the transaction by the API.", "transaction_settled",
		"<transaction><id>bt7701</id><status>settled</status><amount>49.99</amount></transaction>")
	again := first
	again.name, again.note, again.at = "duplicate_delivery", "The same bytes, an hour later.", t+"17:15:04Z"
	reject := func(name, note, body string) shot {
		return shot{name: name, note: note, at: t + "16:15:04Z", body: body, expect: refused("signature")}
	}
	shots := []shot{
		first, again,
		sent("settlement_declined", "", "transaction_settlement_declined", "<transaction><id>bt7702</id></transaction>"),
		sent("disbursement", "", "disbursement", "<disbursement><amount>31.99</amount></disbursement>"),
		sent("dispute_opened", "", "dispute_opened", "<dispute><id>btd7703</id></dispute>"),
		sent("dispute_won", "", "dispute_won", "<dispute><id>btd7703</id></dispute>"),
		sent("check", "Sent by hand from the control panel.", "check", "<check type=\"boolean\">true</check>"),
		sent("unknown_kind", "What kind it is stands in the XML: it is kept like the others.", "subscription_charged_successfully", "<subscription/>"),
		{name: "two_public_keys", note: "Signed for another key first, ours last.", at: t + "16:15:04Z",
			body: form(sale, signature(sale, "another-key", "OTHERPUBLICKEY")+"&"+signature(sale, secret, public)), expect: kept},
		reject("bad_signature", "Signed with another private key.", form(sale, signature(sale, "forged", public))),
		reject("other_public_key", "Right code, but for a public key that is not ours.", form(sale, signature(sale, secret, "OTHERPUBLICKEY"))),
		reject("tampered_payload", "", form(payload("transaction_settled", "<transaction><id>bt7799</id></transaction>"), signature(sale, secret, public))),
		reject("payload_without_newline", "The newline at the end is signed.", form(sale[:len(sale)-1], signature(sale, secret, public))),
		reject("missing_signature", "", "bt_payload="+url.QueryEscape(sale)),
	}
	return kit{
		name: "braintree", form: true, config: object{"secrets": []string{secret}, "signature": object{"public_key": public}},
		orders: []object{order("ORD-2026-7701", "49.99", "USD"), order("ORD-2026-7703", "75.00", "USD"), order("ORD-2026-7704", "18.00", "USD")},
		seeds: []object{
			row("payment", "bt7701", "", "ORD-2026-7701", "49.99", "USD", "SUCCEEDED", t+"16:15:02Z"),
			row("payment", "bt7703", "", "ORD-2026-7703", "75.00", "USD", "SUCCEEDED", t+"17:00:00Z"),
			row("payment", "bt7704", "", "ORD-2026-7704", "18.00", "USD", "SUCCEEDED", t+"17:30:00Z"),
			row("refund", "bt7711", "bt7701", "ORD-2026-7701", "10.00", "USD", "SUCCEEDED", t+"18:00:00Z"),
		},
		sign: func(string, string, map[string]string, string) {}, shots: shots, file: file,
		text: "Transaction ID,Transaction Type,Transaction Status,Created Datetime,Created Timezone,Amount Submitted For Settlement,Order ID,Refunded Transaction ID,Currency ISO Code\n" +
			"bt7701,sale,settled,2026-11-27 10:15:02,America/Chicago,49.99,ORD-2026-7701,,USD\n" +
			"bt7703,sale,settled,2026-11-27 11:00:00,America/Chicago,74.00,ORD-2026-7703,,USD\n" +
			"bt7799,sale,settled,2026-11-27 17:45:00,UTC,18.50,ORD-2026-7799,,USD\n" +
			"bt7711,credit,settled,2026-11-27 12:00:00,America/Chicago,10.00,ORD-2026-7701,bt7701,USD\n",
		local: []object{
			row("payment", "bt7701", "", "ORD-2026-7701", "49.99", "USD", "SUCCEEDED", t+"16:15:02Z"),
			row("payment", "bt7703", "", "ORD-2026-7703", "75.00", "USD", "SUCCEEDED", t+"17:00:00Z"),
			row("payment", "bt7704", "", "ORD-2026-7704", "18.00", "USD", "SUCCEEDED", t+"17:30:00Z"),
			row("refund", "bt7711", "bt7701", "ORD-2026-7701", "10.00", "USD", "SUCCEEDED", t+"18:00:00Z"),
		},
		expected: planted("UTC", file, 4, 2,
			gap("amount_mismatch", "payment", "bt7703", "ORD-2026-7703", "74.00", "75.00", "USD"),
			gap("missing_local", "payment", "bt7799", "", "18.50", "", "USD"),
			gap("missing_provider", "payment", "bt7704", "ORD-2026-7704", "", "18.00", "USD")),
	}
}
