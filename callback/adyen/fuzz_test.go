package adyen_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"paybook/callback/providertest"
	"paybook/models"
)

// FuzzVerify: the signature leaves parts of the body out, but what moves money is what a genuine recording says.
func FuzzVerify(f *testing.F) {
	settings, err := os.ReadFile(kit + "/config.json")
	if err != nil {
		f.Fatal(err)
	}
	providertest.FuzzVerify(f, mustNew(f, string(settings)), kit, providertest.UnsignedParts(), providertest.Varied("Authorization"))
}

// FuzzSigned: whatever is signed, Verify returns one event for the item or a rejection, and money only with an id and a sum.
func FuzzSigned(f *testing.F) {
	f.Add("AUTHORISATION", "true", "PSP1", "", "ORDER1", "4999", "EUR", "2026-11-27T09:15:02+01:00", "")
	f.Add("CAPTURE", "true", "CAP1", "PSP1", "A:1", "1500000", "CLP", "", "")
	f.Add("CANCEL_OR_REFUND", "true", "MOD1", "PSP1", "", "0", "EUR", "yesterday", "")
	f.Add("REPORT_AVAILABLE", "true", "x.csv", "", "", "-1", "QQQ", "9999-12-31T23:59:59-12:00", "")
	f.Add("CHARGEBACK", "false", "", "", "\n", "9223372036854775808", "", "", `{"live":"true"}`)
	f.Add("", "", "", "", "", "", "", "", `{"notificationItems":[{"NotificationRequestItem":{"additionalData":{"hmacSignature":"="}}}]}`)
	p := mustNew(f, settings(paid))
	f.Fuzz(func(t *testing.T, code, success, id, parent, order, value, currency, date, raw string) {
		text := raw
		if raw == "" {
			number := jsonNumber("1")
			if value != "" && strings.Trim(value, "0123456789") == "" && (value[0] != '0' || len(value) == 1) {
				number = jsonNumber(value)
			}
			valid := func(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "") }
			text = body(t, "true", item(fields{"eventCode": valid(code), "success": valid(success), "pspReference": valid(id), "originalReference": valid(parent),
				"merchantReference": valid(order), "amount.value": number, "amount.currency": valid(currency), "eventDate": valid(date)}))
		}
		var events []models.Event
		var err error
		providertest.Bounded(t, len(text), func() { events, err = p.Verify(context.Background(), request(text)) })
		if err != nil {
			if rejection := (*models.Rejection)(nil); !errors.As(err, &rejection) {
				t.Fatalf("error = %v, want a rejection", err)
			}
			if raw == "" && !strings.Contains(code+success+id+parent+currency, ":") { // which would be two ways to read it
				t.Fatalf("a signed item is refused: %v", err)
			}
			return
		}
		for _, e := range events {
			moves := e.Kind != models.EventUnknown && e.Kind != models.EventUnparsable && e.Kind != models.ReportAvailable
			if e.OccurredAt.IsZero() || moves && (e.TransactionID == "" || e.Money.Currency == "" || e.Money.Minor < 0) {
				t.Fatalf("half an event: %+v", e)
			}
		}
	})
}

// FuzzReadStatement: whatever the file, every entry has an identity, and an error is a *models.FileError.
func FuzzReadStatement(f *testing.F) {
	for _, raw := range providertest.Statements(f, kit) {
		f.Add(string(raw))
	}
	for _, text := range []string{report("49.50", row(settled)), "title\n" + report("", row("PSP1|Refunded|R1|JPY|5||5.00")), columns + "\n", "", "\"", "\xff",
		"Psp Reference,Merchant Account,Record Type\n1," + shop + ",Settled\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var st models.Statement
		var entries []models.Entry
		var err error
		providertest.Bounded(t, len(text), func() { st, entries, err = read(t, "", text) })
		if fileError := (*models.FileError)(nil); err != nil && !errors.As(err, &fileError) {
			t.Fatalf("error = %v, want a *models.FileError", err)
		}
		if !st.Compared && len(entries) > 0 && err == nil {
			t.Fatalf("%d entries of a file that is not compared", len(entries))
		}
		for _, e := range entries {
			if e.Line < 1 || e.TransactionID == "" || e.Kind.Compared() && e.Money.Minor < 0 {
				t.Fatalf("entry %+v", e)
			}
		}
	})
}
