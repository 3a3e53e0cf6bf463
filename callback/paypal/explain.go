package paypal

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Explain tells how a callback's signature was checked: the headers, the address of the certificate and the certificate itself, the
// clocks, and the text that is signed for each webhook id. Nothing is downloaded for what is refused without.
func (p *Provider) Explain(ctx context.Context, cb models.Callback) []models.Step {
	t, err := readTransmission(cb)
	if err != nil {
		var refused *models.Rejection
		step := models.Step{Name: string(models.ReasonSignature), Detail: parse.Detail(err)}
		if errors.As(err, &refused) {
			step.Name = string(refused.Reason)
		}
		return []models.Step{step}
	}
	url := models.Step{Name: string(models.ReasonCertURL), OK: true, Value: clip(t.certURL), Detail: "hosts allowed: " + strings.Join(p.certHosts, ", ")}
	if _, err := p.checkCertURL(t.certURL); err != nil {
		url.OK = false
	}
	age := p.explainAge(t.time, cb.ReceivedAt)
	steps := []models.Step{{Name: "algorithm", OK: true, Value: algorithm, Detail: "PAYPAL-AUTH-ALGO"}, url, age}
	if !url.OK || !age.OK && p.trust.kept[t.certURL] == nil {
		return steps
	}
	return append(steps, p.explainSignature(ctx, t, cb)...)
}

func (p *Provider) explainAge(text string, receivedAt time.Time) models.Step {
	step := models.Step{Name: string(models.ReasonTimestamp), OK: true, Value: clip(text)}
	if err := p.checkAge(text, receivedAt); err != nil {
		step.OK, step.Detail = false, parse.Detail(err)
		return step
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		step.Detail = fmt.Sprintf("sent %s; %s before and %s ahead are allowed", parse.Apart(at, receivedAt), p.maxAge, futureMax)
	}
	return step
}

func (p *Provider) explainSignature(ctx context.Context, t transmission, cb models.Callback) []models.Step {
	cert := p.trust.kept[t.certURL]
	if cert == nil {
		var err error
		if cert, err = p.downloads.get(ctx, t.certURL, cb.ReceivedAt); err != nil {
			return nil
		}
	}
	certificate := models.Step{Name: string(models.ReasonCertificate), OK: true, Value: clip(cert.leaf.Subject.CommonName),
		Detail: fmt.Sprintf("valid from %s to %s, leads to a trusted authority", cert.leaf.NotBefore.UTC().Format(time.DateOnly), cert.leaf.NotAfter.UTC().Format(time.DateOnly))}
	key, err := cert.check(cb.ReceivedAt, p.commonName, p.trust.roots)
	if err != nil {
		var refused *models.Rejection
		if errors.As(err, &refused) {
			certificate.Name = string(refused.Reason)
		}
		certificate.OK, certificate.Detail = false, parse.Detail(err)
		return []models.Step{certificate}
	}
	steps := []models.Step{certificate}
	var tried []string
	for i, id := range p.webhookIDs {
		text := fmt.Sprintf("%s|%s|%s|%d", t.id, t.time, id, crc32.ChecksumIEEE(cb.Body))
		digest := sha256.Sum256([]byte(text))
		steps = append(steps, models.Step{Name: "signed text", OK: true, Value: text, Detail: "id and time of the transmission, the webhook id, the body's CRC-32"})
		tried = append(tried, fmt.Sprintf("settings.webhook_ids[%d]: %s", i, parse.ExplainRSA(key, t.signature, digest[:])))
	}
	return append(steps, models.Step{Name: string(models.ReasonSignature), OK: p.isSigned(t, cb.Body, key),
		Value: parse.Prefix(base64.StdEncoding.EncodeToString(t.signature)), Detail: strings.Join(tried, "; ")})
}
