package adyen

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"paybook/callback/parse"
)

// item is one NotificationRequestItem.
type item struct{ parse.Value }

// text is a field that Adyen sends as text; "" for anything else, which then is not what was signed.
func (it item) text(path ...string) string { return it.Get(path...).String() }

// checkSignature tries every key, because a new key takes a while to reach all of Adyen's senders.
func (p *Provider) checkSignature(it item) error {
	sent := it.text("additionalData", "hmacSignature")
	if sent == "" {
		return errors.New("no additionalData.hmacSignature: is the HMAC key made and saved in the endpoint's settings?")
	}
	got, err := base64.StdEncoding.Strict().DecodeString(sent)
	if err != nil {
		return errors.New("additionalData.hmacSignature: not base64")
	}
	signed := []byte(it.signed())
	for _, key := range p.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		if hmac.Equal(mac.Sum(nil), got) {
			return it.checkColons()
		}
	}
	return fmt.Errorf("it fits none of the %d keys of settings.hmac_keys_hex: a forgery, a changed item, or the key of another endpoint", len(p.keys))
}

// checkColons makes sure that the signed text can be cut in one way only: of the eight fields merchantReference alone may hold the
// colon that stands between them. Otherwise a reference such as "A:TestShop:B" could give its payment another pspReference.
func (it item) checkColons() error {
	for _, path := range [][]string{{"pspReference"}, {"originalReference"}, {"merchantAccountCode"}, {"amount", "currency"}, {"eventCode"}, {"success"}} {
		if strings.Contains(it.text(path...), ":") {
			return fmt.Errorf("%s holds a colon, so the signed text can be read in two ways", strings.Join(path, "."))
		}
	}
	return nil
}

// signed is the text an item's MAC is made of: eight fields, absent ones empty. Nothing is escaped; the escaping of colons
// and backslashes that old pages describe belongs to the payment pages of those days (hmacvalidator.go, GetDataToSign).
//
// Everything else of an item is not signed: eventDate, reason, paymentMethod, additionalData, and "live" around it.
func (it item) signed() string {
	return strings.Join([]string{
		it.text("pspReference"), it.text("originalReference"), it.text("merchantAccountCode"), it.text("merchantReference"),
		it.Get("amount", "value").Number(), it.text("amount", "currency"), it.text("eventCode"), it.text("success"),
	}, ":")
}
