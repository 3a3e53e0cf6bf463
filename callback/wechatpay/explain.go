package wechatpay

import (
	"context"
	"crypto"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Explain tells how a callback's signature was checked: the clocks, the key its serial names, the signed text and its digest.
// Whether the sealed part could be opened, and is ours, Verify tells in one line.
func (p *Provider) Explain(_ context.Context, cb models.Callback) []models.Step {
	h := cb.Headers
	if strings.HasPrefix(h.Get("Wechatpay-Signature"), probePrefix) {
		return []models.Step{{Name: "signature", Value: probePrefix + "…", Detail: "WeChat Pay's own probe: a wrong signature sent on purpose, to be refused"}}
	}
	kind := h.Get("Wechatpay-Signature-Type")
	return []models.Step{
		{Name: "algorithm", OK: kind == "" || kind == signatureType, Value: clip(kind), Detail: signatureType + " expected, or none: RSA with SHA-256"},
		p.explainAge(h.Get("Wechatpay-Timestamp"), cb.ReceivedAt),
		p.explainKey(h.Get("Wechatpay-Serial"), cb.ReceivedAt),
		{Name: "signed text", OK: true, Value: h.Get("Wechatpay-Timestamp") + "\n" + h.Get("Wechatpay-Nonce") + "\n" + string(cb.Body) + "\n",
			Detail: "Wechatpay-Timestamp, Wechatpay-Nonce and the body byte for byte, a line feed behind each"},
		p.explainSignature(cb),
	}
}

func (p *Provider) explainAge(text string, receivedAt time.Time) models.Step {
	at, err := p.checkFreshness(text, receivedAt)
	step := models.Step{Name: "timestamp", OK: err == nil, Value: clip(text)}
	if err != nil {
		step.Detail = parse.Detail(err) // names both times
		return step
	}
	step.Value += " = " + at.Format(time.RFC3339)
	step.Detail = fmt.Sprintf("signed %s; less than %s is allowed", parse.Apart(at, receivedAt), p.tolerance)
	return step
}

func (p *Provider) explainKey(serial string, at time.Time) models.Step {
	step := models.Step{Name: "key", Value: clip(serial)}
	key, err := p.key(serial, at)
	switch {
	case err != nil:
		step.Detail = parse.Detail(err) + "; configured are " + strings.Join(slices.Sorted(maps.Keys(p.keys)), ", ")
	case key.notAfter.IsZero():
		step.OK, step.Detail = true, "a public key of settings.public_keys"
	default:
		step.OK, step.Detail = true, fmt.Sprintf("a certificate of settings.platform_certs, valid until %s", key.notAfter.Format(time.DateOnly))
	}
	return step
}

func (p *Provider) explainSignature(cb models.Callback) models.Step {
	text := cb.Headers.Get("Wechatpay-Signature")
	step := models.Step{Name: "signature", Value: parse.Prefix(text)}
	if text == "" {
		step.Value, step.Detail = "", "header Wechatpay-Signature is missing"
		return step
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	key, known := p.keys[cb.Headers.Get("Wechatpay-Serial")]
	digest, whole := signedDigest(cb.Headers, cb.Body)
	switch {
	case err != nil:
		step.Detail = "not base64"
	case !whole:
		step.Detail = "Wechatpay-Nonce is missing, or holds a line feed"
	case !known:
		step.Detail = "not checked: no key"
	default:
		step.Detail = parse.ExplainRSA(key.rsa, raw, digest)
		step.OK = rsa.VerifyPKCS1v15(key.rsa, crypto.SHA256, digest, raw) == nil
	}
	return step
}
