package wechatpay

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// resourceAlgorithm is the one sealing we open. An SM4 variant exists; it needs other keys.
const resourceAlgorithm = "AEAD_AES_256_GCM"

// Verify checks signature, freshness, sealing and merchant, in this order: the signature does not prove the merchant (all
// merchants share the platform's keys), and the sealing does not cover the event type. Both are needed.
func (p *Provider) Verify(_ context.Context, cb models.Callback) ([]models.Event, error) {
	signedAt, err := p.checkSignature(cb)
	if err != nil {
		return nil, err
	}
	envelope, err := object(cb.Body, "body")
	if err != nil {
		return nil, err
	}
	resource, err := p.open(envelope.Get("resource"))
	if err != nil {
		return nil, err
	}
	m := message{envelope: envelope, resource: resource, signedAt: signedAt}
	if err := p.checkMerchant(m); err != nil {
		return nil, err
	}
	return []models.Event{m.event()}, nil
}

// object reads signed JSON. What a genuine provider never sends is refused, not parked.
func object(raw []byte, what string) (parse.Value, error) {
	v, err := parse.JSON(raw)
	if err != nil {
		return v, reject(models.ReasonMalformed, "%s: %v", what, err)
	}
	if !v.IsObject() {
		return v, reject(models.ReasonMalformed, "%s: not a JSON object", what)
	}
	return v, nil
}

// open decrypts the resource. Without one nothing says which merchant is meant, so it is a refusal, too.
func (p *Provider) open(resource parse.Value) (parse.Value, error) {
	if !resource.IsObject() {
		return resource, reject(models.ReasonMalformed, "resource is missing")
	}
	if got := resource.Get("algorithm").String(); got != resourceAlgorithm {
		return resource, reject(models.ReasonAlgorithm, "resource.algorithm is %q, expected %s", clip(got), resourceAlgorithm)
	}
	nonce := []byte(resource.Get("nonce").String())
	if len(nonce) != p.resource.NonceSize() { // GCM panics on any other length
		return resource, reject(models.ReasonDecrypt, "resource.nonce has %d bytes, expected %d", len(nonce), p.resource.NonceSize())
	}
	sealed, err := base64.StdEncoding.DecodeString(resource.Get("ciphertext").String())
	if err != nil {
		return resource, reject(models.ReasonDecrypt, "resource.ciphertext is not base64")
	}
	plain, err := p.resource.Open(nil, nonce, sealed, []byte(resource.Get("associated_data").String()))
	if err != nil {
		return resource, reject(models.ReasonDecrypt, "resource can't be opened: is settings.api_v3_key the current one?")
	}
	return object(plain, "resource")
}

// checkMerchant holds every number the message names against ours. Money must name its merchant; complaints and other
// products may not name one, and are then ours by the key that opened them.
func (p *Provider) checkMerchant(m message) error {
	money := m.movesMoney()
	for _, c := range p.identity() {
		got := m.resource.Get(c.field).String()
		needed := money && (c.always && !m.asked || m.isPayment())
		if (got != "" || needed) && !slices.Contains(c.ours, got) {
			return reject(models.ReasonMerchant, "%s %q is not configured for this account", c.field, clip(got))
		}
	}
	return nil
}

type identity struct {
	field  string
	ours   []string
	always bool // false: refunds do not carry it
}

func (p *Provider) identity() []identity {
	if len(p.subMchIDs) == 0 {
		return []identity{{"mchid", []string{p.mchID}, true}, {"appid", p.appIDs, false}}
	}
	return []identity{{"sp_mchid", []string{p.mchID}, true}, {"sub_mchid", p.subMchIDs, true}, {"sp_appid", p.appIDs, false}}
}

// Reply is the provider's own pair of words. The status decides: FAIL with 200 would count as accepted.
func (p *Provider) Reply(a models.Answer) (status int, contentType, body string) {
	status, message := answer(a)
	code := "FAIL"
	if status == http.StatusOK {
		code = "SUCCESS"
	}
	return status, "application/json", fmt.Sprintf(`{"code":%q,"message":%q}`, code, message)
}

func answer(a models.Answer) (status int, message string) {
	switch {
	case a.Outcome == models.OutcomeUnreadable:
		return http.StatusBadRequest, "notification not understood"
	case a.Accepted():
		return http.StatusOK, "OK"
	}
	switch a.Reason {
	case "":
		return http.StatusServiceUnavailable, "try again later"
	case models.ReasonMerchant:
		return http.StatusForbidden, "notification not accepted"
	case models.ReasonDecrypt: // a key of ours may be out of date: sent again, it can still be opened
		return http.StatusInternalServerError, "notification not accepted"
	case models.ReasonMalformed:
		return http.StatusBadRequest, "notification not understood"
	case models.ReasonTooLarge:
		return http.StatusRequestEntityTooLarge, "notification too large"
	}
	return http.StatusUnauthorized, "signature verification failed"
}

func reject(reason models.Reason, format string, args ...any) error {
	return &models.Rejection{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// clip keeps what a stranger wrote short enough for a log line, and whole characters of it: half a one is refused by databases.
func clip(s string) string {
	const max = 64
	if len(s) > max {
		return strings.ToValidUTF8(s[:max], "") + "…"
	}
	return s
}
