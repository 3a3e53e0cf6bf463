package wechatpay

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"paybook/models"
)

// signatureType is meant, too, where the header is absent. Brand products sign in another way under another name.
const signatureType = "WECHATPAY2-SHA256-RSA2048"

// probePrefix starts the wrong signatures that the provider sends on purpose, to see whether we check.
const probePrefix = "WECHATPAY/SIGNTEST/"

// signedHeaders decide about the signature. Given twice, one party could check the first and another use the second.
var signedHeaders = []string{"Wechatpay-Signature", "Wechatpay-Signature-Type", "Wechatpay-Serial", "Wechatpay-Timestamp", "Wechatpay-Nonce"}

// checkSignature returns the time the provider signed at. The cheap checks come first, and the probe before them, so that it is
// counted as one whatever else is wrong with it.
func (p *Provider) checkSignature(cb models.Callback) (time.Time, error) {
	h := cb.Headers
	signature := h.Get("Wechatpay-Signature")
	if signature == "" {
		return time.Time{}, reject(models.ReasonSignature, "header Wechatpay-Signature is missing")
	}
	if strings.HasPrefix(signature, probePrefix) {
		return time.Time{}, &models.Rejection{Reason: models.ReasonSignature, Detail: "the provider's signature probe", Probe: true}
	}
	for _, name := range signedHeaders {
		if n := len(h.Values(name)); n > 1 {
			return time.Time{}, reject(models.ReasonSignature, "header %s is given %d times", name, n)
		}
	}
	if kind := h.Get("Wechatpay-Signature-Type"); kind != "" && kind != signatureType {
		return time.Time{}, reject(models.ReasonAlgorithm, "Wechatpay-Signature-Type is %q, expected %s", clip(kind), signatureType)
	}
	signedAt, err := p.checkFreshness(h.Get("Wechatpay-Timestamp"), cb.ReceivedAt)
	if err != nil {
		return time.Time{}, err
	}
	key, err := p.key(h.Get("Wechatpay-Serial"), cb.ReceivedAt)
	if err != nil {
		return time.Time{}, err
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil {
		return time.Time{}, reject(models.ReasonSignature, "Wechatpay-Signature is not base64")
	}
	digest, ok := signedDigest(h, cb.Body)
	if !ok || rsa.VerifyPKCS1v15(key.rsa, crypto.SHA256, digest, raw) != nil {
		return time.Time{}, reject(models.ReasonSignature, "Wechatpay-Signature does not fit headers and body")
	}
	return signedAt, nil
}

// checkFreshness refuses at exactly the tolerance, on both sides, as the provider's own library does.
func (p *Provider) checkFreshness(text string, receivedAt time.Time) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(text) > 12 || strconv.FormatInt(seconds, 10) != text {
		return time.Time{}, reject(models.ReasonTimestamp, "Wechatpay-Timestamp %q is no unix time", clip(text))
	}
	signedAt := time.Unix(seconds, 0).UTC()
	if off := receivedAt.Sub(signedAt); off.Abs() >= p.tolerance {
		return time.Time{}, reject(models.ReasonTimestamp, "signed %s, received %s: %s apart, must be less than %s",
			signedAt.Format(time.RFC3339), receivedAt.UTC().Format(time.RFC3339), off.Abs().Round(time.Second), p.tolerance)
	}
	return signedAt, nil
}

// key finds the key by its exact name. Trying them all would let a withdrawn key speak under any name.
func (p *Provider) key(serial string, at time.Time) (verifyKey, error) {
	key, ok := p.keys[serial]
	if !ok {
		return key, reject(models.ReasonKey, "Wechatpay-Serial %q is not configured; add it to platform_certs or public_keys", clip(serial))
	}
	if !key.validAt(at) {
		return key, reject(models.ReasonCertificate, "certificate %s is valid from %s to %s only",
			serial, key.notBefore.Format(time.DateOnly), key.notAfter.Format(time.DateOnly))
	}
	return key, nil
}

// signedDigest hashes "timestamp\nnonce\nbody\n". A line break inside the nonce could move the border between nonce and body.
func signedDigest(h http.Header, body []byte) (digest []byte, ok bool) {
	nonce := h.Get("Wechatpay-Nonce")
	if nonce == "" || strings.Contains(nonce, "\n") {
		return nil, false
	}
	hash := sha256.New()
	_, _ = io.WriteString(hash, h.Get("Wechatpay-Timestamp")+"\n"+nonce+"\n")
	_, _ = hash.Write(body)
	_, _ = io.WriteString(hash, "\n")
	return hash.Sum(nil), true
}
