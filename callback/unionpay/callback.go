package unionpay

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"paybook/models"
)

// The one way of signing that is spoken: SHA-256 and RSA with a certificate in the message. Version 5.0.0 signs with SHA-1; the
// methods 11 and 12 use a shared key, which then could also be forged by whoever reads our configuration.
const (
	protocolVersion = "5.1.0"
	signMethodRSA   = "01"
)

// Verify checks the certificate that comes with the message, then the signature, then the merchant. There is no freshness rule:
// ReceivedAt is the time at which the certificates must be valid. Only the body counts; parameters of our own in the address are
// not signed.
func (p *Provider) Verify(_ context.Context, cb models.Callback) ([]models.Event, error) {
	f, err := parseForm(cb.Body, formEncoded)
	if err != nil {
		return nil, reject(models.ReasonMalformed, "body: %v", err)
	}
	if err := p.checkSigned(f, cb.ReceivedAt); err != nil {
		return nil, err
	}
	if got := f["merId"]; got != p.merID {
		return nil, reject(models.ReasonMerchant, "merId %q is not this account's", clip(got))
	}
	return []models.Event{eventOf(f)}, nil
}

// checkSigned says whether UnionPay has signed these fields. What the message claims about its signature can only narrow what is
// accepted, never widen it.
func (p *Provider) checkSigned(f form, at time.Time) error {
	switch {
	case f["signature"] == "":
		return reject(models.ReasonSignature, "no signature")
	case f["version"] != protocolVersion:
		return reject(models.ReasonAlgorithm, "version is %q, expected %s", clip(f["version"]), protocolVersion)
	case f["signMethod"] != signMethodRSA:
		return reject(models.ReasonAlgorithm, "signMethod is %q, expected %s", clip(f["signMethod"]), signMethodRSA)
	}
	key, err := p.signer(f["signPubKeyCert"], at)
	if err != nil {
		return err
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(f["signature"])
	if err != nil {
		return reject(models.ReasonSignature, "signature is not base64")
	}
	digest := digestOf(f.signedText())
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature); err != nil {
		return reject(models.ReasonSignature, "signature does not fit the fields")
	}
	if name := f.ambiguous(); name != "" {
		return reject(models.ReasonSignature, "the signed text can be read in two ways, as to what %s is", name)
	}
	return nil
}

// digestOf hashes twice: what UnionPay signs is the SHA-256 of the text written out in hex.
func digestOf(text []byte) [sha256.Size]byte {
	h := sha256.Sum256(text)
	return sha256.Sum256([]byte(hex.EncodeToString(h[:])))
}

// Reply is for the status: UnionPay does not look at the body. It sends five times within seven minutes, and never again. What is
// genuine and cannot be read is kept, and yet refused: 200 would say that it was understood.
func (p *Provider) Reply(a models.Answer) (status int, contentType, body string) {
	const text = "text/plain; charset=utf-8"
	switch {
	case a.Outcome == models.OutcomeUnreadable:
		return http.StatusBadRequest, text, "fail"
	case a.Accepted():
		return http.StatusOK, text, "ok"
	}
	return refusal(a.Reason), text, "fail"
}

func refusal(r models.Reason) int {
	switch r {
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
