package adyen_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"paybook/callback/adyen"
	"paybook/callback/providertest"
	"paybook/models"
)

const (
	kit    = "../../testdata/adyen"
	keyNew = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"
	keyOld = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
	shop   = "TestShopECOM"
)

// now is the clock of all tests but the recordings'.
var now = time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)

func TestProvider(t *testing.T) {
	settings, err := os.ReadFile(kit + "/config.json")
	if err != nil {
		t.Fatal(err)
	}
	providertest.Run(t, mustNew(t, string(settings)), kit, providertest.UnsignedParts())
}

// settings are good ones with further keys: "" or `"livemode":true`.
func settings(more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"hmac_keys_hex":[%q,%q],"merchant_accounts":[%q,"OtherShop"]%s}`, keyNew, keyOld, shop, more)
}

func mustNew(tb testing.TB, settings string) *adyen.Provider {
	tb.Helper()
	p, err := adyen.New(json.RawMessage(settings), "")
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// fields are those of an item; a dotted name stands for a field within, a nil for one that is left out.
type fields map[string]any

// item is a signed item: a good authorisation but for the changes.
func item(changes fields) map[string]any { return signedItem(keyNew, changes) }

func signedItem(key string, changes fields) map[string]any {
	it := map[string]any{
		"eventCode": "AUTHORISATION", "success": "true", "pspReference": "PSP1", "merchantAccountCode": shop, "merchantReference": "ORDER1",
		"amount": map[string]any{"value": json.Number("4999"), "currency": "EUR"}, "eventDate": "2026-11-27T09:15:02+01:00", "additionalData": map[string]any{},
	}
	for name, value := range changes {
		set(it, name, value)
	}
	amount, _ := it["amount"].(map[string]any)
	var texts []string
	for _, v := range []any{it["pspReference"], it["originalReference"], it["merchantAccountCode"], it["merchantReference"], amount["value"], amount["currency"],
		it["eventCode"], it["success"]} {
		text, _ := v.(string)
		if n, ok := v.(json.Number); ok {
			text = n.String()
		}
		texts = append(texts, text)
	}
	set(it, "additionalData.hmacSignature", sign(key, strings.Join(texts, ":")))
	return it
}

func set(in map[string]any, name string, value any) {
	outer, inner, within := strings.Cut(name, ".")
	switch {
	case within:
		if deeper, ok := in[outer].(map[string]any); ok {
			set(deeper, inner, value)
		}
	case value == nil:
		delete(in, name)
	default:
		in[name] = value
	}
}

func macOf(it map[string]any) string {
	data, _ := it["additionalData"].(map[string]any)
	mac, _ := data["hmacSignature"].(string)
	return mac
}

func sign(key, text string) string {
	raw, err := hex.DecodeString(key)
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// body is the request around the items.
func body(tb testing.TB, live string, items ...map[string]any) string {
	tb.Helper()
	wrapped := []any{}
	for _, it := range items {
		wrapped = append(wrapped, map[string]any{"NotificationRequestItem": it})
	}
	raw, err := json.Marshal(map[string]any{"live": live, "notificationItems": wrapped})
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

// request is a callback with that body, received now.
func request(body string) models.Callback {
	return models.Callback{Account: "adyen", Method: "POST", Path: "/callbacks/adyen", Body: []byte(body), ReceivedAt: now,
		Headers: http.Header{"Content-Type": {"application/json; charset=utf-8"}}}
}

// say verifies one item and returns what it says.
func say(tb testing.TB, p *adyen.Provider, it map[string]any) models.Event {
	tb.Helper()
	events, err := p.Verify(context.Background(), request(body(tb, "false", it)))
	if err != nil || len(events) != 1 {
		tb.Fatalf("Verify(%v) = %d events, %v; want one event", it, len(events), err)
	}
	return events[0]
}

// reason is why a request is refused; "" when it is not.
func reason(tb testing.TB, p *adyen.Provider, cb models.Callback) models.Reason {
	tb.Helper()
	_, err := p.Verify(context.Background(), cb)
	if err == nil {
		return ""
	}
	var rejection *models.Rejection
	if !errors.As(err, &rejection) {
		tb.Fatalf("Verify = %v, want a rejection", err)
	}
	return rejection.Reason
}

func TestNewRefuses(t *testing.T) {
	zeros := strings.Repeat("00", 32)
	with := settings
	for name, tc := range map[string]struct{ settings, want string }{
		"nothing":          {``, "settings"},
		"null":             {`null`, "an object expected"},
		"no keys":          {`{"merchant_accounts":["a"]}`, "settings.hmac_keys_hex: empty"},
		"empty list":       {`{"hmac_keys_hex":[],"merchant_accounts":["a"]}`, "settings.hmac_keys_hex: empty"},
		"empty key":        {`{"hmac_keys_hex":["` + keyNew + `",""],"merchant_accounts":["a"]}`, "settings.hmac_keys_hex[1]: empty"},
		"blank key":        {`{"hmac_keys_hex":["  "],"merchant_accounts":["a"]}`, "settings.hmac_keys_hex[0]: empty"},
		"invisible key":    {`{"hmac_keys_hex":["\u200b"],"merchant_accounts":["a"]}`, "settings.hmac_keys_hex[0]: empty"},
		"no hex":           {`{"hmac_keys_hex":["canaryZZ"],"merchant_accounts":["a"]}`, "settings.hmac_keys_hex[0]: not hex"},
		"blank around":     {`{"hmac_keys_hex":["` + keyNew + ` "],"merchant_accounts":["a"]}`, "settings.hmac_keys_hex[0]: not hex"},
		"short key":        {`{"hmac_keys_hex":["` + keyNew[:62] + `"],"merchant_accounts":["a"]}`, "settings.hmac_keys_hex[0]: 31 bytes"},
		"long key":         {`{"hmac_keys_hex":["` + keyNew + `00"],"merchant_accounts":["a"]}`, "settings.hmac_keys_hex[0]: 33 bytes"},
		"key of zeros":     {`{"hmac_keys_hex":["` + zeros + `"],"merchant_accounts":["a"]}`, "settings.hmac_keys_hex[0]: nothing but zeros"},
		"one key as text":  {`{"hmac_keys_hex":"` + keyNew + `","merchant_accounts":["a"]}`, "settings.hmac_keys_hex"},
		"no merchant":      {`{"hmac_keys_hex":["` + keyNew + `"]}`, "settings.merchant_accounts: empty"},
		"merchant empty":   {`{"hmac_keys_hex":["` + keyNew + `"],"merchant_accounts":["a",""]}`, "settings.merchant_accounts[1]: empty"},
		"merchant blank":   {`{"hmac_keys_hex":["` + keyNew + `"],"merchant_accounts":["a "]}`, "settings.merchant_accounts[0]: has blanks"},
		"unknown key":      {with(`"hmac_key":"x"`), "settings.hmac_key: unknown key"},
		"key in capitals":  {with(`"LIVEMODE":true`), "settings.LIVEMODE: unknown key"},
		"key twice":        {with(`"livemode":true,"livemode":false`), `"livemode" is given twice`},
		"livemode text":    {with(`"livemode":"false"`), "settings.livemode"},
		"auth empty":       {with(`"basic_auth":{}`), "settings.basic_auth.username: empty"},
		"auth no user":     {with(`"basic_auth":{"username":" ","password":"canary"}`), "settings.basic_auth.username: empty"},
		"auth no password": {with(`"basic_auth":{"username":"u","password":""}`), "settings.basic_auth.password: empty"},
		"auth colon":       {with(`"basic_auth":{"username":"u:v","password":"canary"}`), "settings.basic_auth.username: holds a colon"},
		"auth unknown":     {with(`"basic_auth":{"username":"u","pass":"canary"}`), "settings.basic_auth.pass: unknown key"},
		"auth text":        {with(`"basic_auth":"u:canary"`), "settings.basic_auth"},
		"paid text":        {with(`"authorised_means_paid":"true"`), "settings.authorised_means_paid: true, false, or an object"},
		"paid null":        {with(`"authorised_means_paid":null`), "settings.authorised_means_paid"},
		"paid number":      {with(`"authorised_means_paid":1`), "settings.authorised_means_paid"},
		"paid not ours":    {with(`"authorised_means_paid":{"Nobody":true}`), "settings.authorised_means_paid.Nobody: not one of"},
		"paid word":        {with(`"authorised_means_paid":{"OtherShop":"yes"}`), "settings.authorised_means_paid"},
		"paid unsaid":      {with(`"authorised_means_paid":{"OtherShop":null}`), "settings.authorised_means_paid.OtherShop"},
		"paid twice":       {with(`"authorised_means_paid":{"OtherShop":true,"OtherShop":false}`), `"OtherShop" is given twice`},
		"currency":         {with(`"currency_digits":{"QQQ":2}`), "settings.currency_digits"},
		"digits":           {with(`"currency_digits":{"CLP":5}`), "settings.currency_digits.CLP: 5"},
		"zone":             {with(`"report_timezone":"CETT"`), "settings.report_timezone"},
		"zone empty":       {with(`"report_timezone":""`), "settings.report_timezone"},
		"zone local":       {with(`"report_timezone":"Local"`), "settings.report_timezone"},
		"letters":          {with(`"time_zone_letters":{"IST":"Mars/Olympus"}`), "settings.time_zone_letters.IST"},
		"letters empty":    {with(`"time_zone_letters":{"":"UTC"}`), "settings.time_zone_letters"},
		"letters nothing":  {with(`"time_zone_letters":{"IST":""}`), "settings.time_zone_letters.IST"},
		"ack blank":        {with(`"ack_body":" "`), "settings.ack_body: empty"},
		"ack empty":        {with(`"ack_body":""`), "settings.ack_body: empty"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := adyen.New(json.RawMessage(tc.settings), "")
			if err == nil || p != nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("New = %v, %v; want an error with %q", p, err, tc.want)
			}
			for _, secret := range []string{keyNew[:16], "canary"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error tells the secret: %v", err)
				}
			}
		})
	}
}

func TestNewDefaults(t *testing.T) {
	p := mustNew(t, settings(`"comment":"x","provider":"adyen","path":"/callbacks/adyen","livemode":true`))
	if zone, cut := p.Calendar(); zone != "Europe/Amsterdam" || cut != 0 || p.Name() != "adyen" {
		t.Errorf("%s: calendar %s, %s; want adyen: Europe/Amsterdam, 0s", p.Name(), zone, cut)
	}
	if len(p.Warnings()) != 0 {
		t.Errorf("warnings %q, want none", p.Warnings())
	}
	if status, contentType, text := p.Reply(models.Answer{Outcome: models.OutcomeNoOrder}); status != 200 || text != "[accepted]" || !strings.HasPrefix(contentType, "text/plain") {
		t.Errorf("Reply = %d %s %q, want 200 text/plain [accepted]", status, contentType, text)
	}
	p = mustNew(t, settings(`"report_timezone":"America/Los_Angeles","ack_body":"OK"`))
	if zone, _ := p.Calendar(); zone != "America/Los_Angeles" {
		t.Errorf("zone %s, want America/Los_Angeles", zone)
	}
	if all := strings.Join(p.Warnings(), "\n"); !strings.Contains(all, "livemode is not set") || !strings.Contains(all, "ack_body") {
		t.Errorf("warnings %q, want livemode and ack_body", all)
	}
}
