package alipay

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"time"

	"paybook/models"
)

// Verify checks the form's signature and that application and seller are ours. Only the body counts: parameters of our own in the
// notify_url are not signed. There is no freshness rule, since the provider repeats for a day: a replay is a duplicate.
func (p *Provider) Verify(_ context.Context, cb models.Callback) ([]models.Event, error) {
	f, err := readForm(cb.Body)
	if err != nil {
		return nil, reject(models.ReasonMalformed, "body: %v", err)
	}
	signed, err := p.checkSignature(f, cb.ReceivedAt)
	if err != nil {
		return nil, err
	}
	m := newMessage(signed)
	if err := p.checkMerchant(m); err != nil {
		return nil, err
	}
	return []models.Event{m.event()}, nil
}

// checkSignature returns the fields that are proven. The algorithm is RSA2 whatever the message says: sign_type is not signed, and
// obeying it would let SHA-1 in.
func (p *Provider) checkSignature(f form, receivedAt time.Time) (form, error) {
	sign, _ := f.get("sign")
	if sign == "" {
		return nil, reject(models.ReasonSignature, "sign is missing")
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(sign)
	if err != nil {
		return nil, reject(models.ReasonSignature, "sign is not base64")
	}
	for _, signed := range signedForms(f) {
		text := signed.text()
		key, ok := p.keyOf(text, signature, receivedAt)
		if !ok {
			continue
		}
		if !key.validAt(receivedAt) {
			return nil, reject(models.ReasonCertificate, "certificate %s is valid from %s to %s only",
				key.sn, key.notBefore.Format(time.DateOnly), key.notAfter.Format(time.DateOnly))
		}
		if name := signed.ambiguous(text); name != "" {
			return nil, reject(models.ReasonSignature, "the signed text can be read in two ways, as to what %s is", name)
		}
		return signed, nil
	}
	return nil, p.unproven(f)
}

// signedForms are the fields that may be signed. Libraries differ on alipay_cert_sn; left out of the signed text, it is not read.
func signedForms(f form) []form {
	all := f.without("sign", "sign_type")
	if _, numbered := f.get("alipay_cert_sn"); numbered {
		return []form{all, all.without("alipay_cert_sn")}
	}
	return []form{all}
}

// unproven says what is most likely wrong.
func (p *Provider) unproven(f form) error {
	number, numbered := f.get("alipay_cert_sn")
	if numbered && !slices.ContainsFunc(p.keys, func(k verifyKey) bool { return k.sn == number }) {
		return reject(models.ReasonSignature, "sign fits no configured key, and alipay_cert_sn %s is not configured", printable(number))
	}
	if kind, _ := f.get("sign_type"); kind == "RSA" {
		return reject(models.ReasonSignature, "sign does not fit the fields; sign_type says RSA, which is SHA-1: only RSA2 is taken, let the application sign with that")
	}
	return reject(models.ReasonSignature, "sign does not fit the fields; if every callback is refused: is the configured key Alipay's own, not the application's?")
}

// keyOf finds the key that made the signature, one in force before one that is not.
func (p *Provider) keyOf(text string, signature []byte, at time.Time) (found verifyKey, ok bool) {
	digest := sha256.Sum256([]byte(text))
	for _, k := range p.keys {
		if rsa.VerifyPKCS1v15(k.rsa, crypto.SHA256, digest[:], signature) != nil {
			continue
		}
		if found, ok = k, true; k.validAt(at) {
			break
		}
	}
	return found, ok
}

// checkMerchant holds the receiver against ours: all merchants' messages carry the same provider's signature. The status of a
// trade must name its seller; agreements and other products may not.
func (p *Provider) checkMerchant(m message) error {
	if app := m.get("app_id"); !slices.Contains(p.appIDs, app) {
		return reject(models.ReasonMerchant, "app_id %s is not configured for this account", printable(app))
	}
	seller, email := m.get("seller_id"), m.get("seller_email")
	switch {
	case seller != "":
		if seller != p.sellerID {
			return reject(models.ReasonMerchant, "seller_id %s is not this account's", printable(seller))
		}
	case email != "":
		if email != p.sellerEmail {
			return reject(models.ReasonMerchant, "seller_email is not this account's, and seller_id is not given")
		}
	case m.isTrade():
		return reject(models.ReasonMerchant, "neither seller_id nor seller_email is given")
	}
	return nil
}

// Reply is one bare word. Anything but exactly success, a newline included, makes the provider send again, up to eight times in a
// day. A genuine message we cannot read is not acknowledged either: the repeats leave a day to mend what keeps us from reading it.
func (p *Provider) Reply(a models.Answer) (status int, contentType, body string) {
	status = answer(a)
	if status == http.StatusOK {
		return status, "text/plain", "success"
	}
	return status, "text/plain", "failure"
}

func answer(a models.Answer) int {
	switch {
	case a.Outcome == models.OutcomeUnreadable:
		return http.StatusBadRequest
	case a.Accepted():
		return http.StatusOK
	}
	switch a.Reason {
	case "":
		return http.StatusServiceUnavailable
	case models.ReasonMerchant:
		return http.StatusForbidden
	case models.ReasonMalformed:
		return http.StatusBadRequest
	case models.ReasonTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusUnauthorized
}

func reject(reason models.Reason, format string, args ...any) error {
	return &models.Rejection{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}
