package stripe

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Explain tells how a callback's signature was checked: the signed text, what each signing secret makes of it, and the clocks.
func (p *Provider) Explain(_ context.Context, cb models.Callback) []models.Step {
	sig, err := readSignature(strings.Join(cb.Headers.Values("Stripe-Signature"), ","))
	if err != nil {
		return []models.Step{{Name: "signature", Detail: err.Error()}}
	}
	steps := []models.Step{
		{Name: "algorithm", OK: true, Value: "HMAC-SHA256", Detail: "v1 in Stripe-Signature, hex; the key is the whole secret, whsec_ included"},
		{Name: "signed text", OK: true, Value: sig.time + "." + string(cb.Body), Detail: "t, a dot, the body byte for byte"},
		p.explainMAC(sig, cb.Body),
		p.explainAge(sig, cb.ReceivedAt),
	}
	if doc, err := parse.JSON(cb.Body); err == nil && p.matches(sig, cb.Body) {
		step := models.Step{Name: "account", OK: true, Value: "our own account", Detail: "the event names no connected account"}
		if id := connectedAccount(doc); id.Exists() {
			step.Value, step.Detail = id.Text(), "a connected account, listed in settings.accounts"
		}
		if err := p.checkAccount(doc); err != nil {
			step.Name, step.OK, step.Detail = string(models.ReasonMerchant), false, parse.Detail(err)
		}
		steps = append(steps, step)
	}
	return steps
}

func (p *Provider) explainMAC(sig signature, body []byte) models.Step {
	var found, expected []string
	for _, mac := range sig.v1 {
		found = append(found, parse.Prefix(hex.EncodeToString(mac)))
	}
	for i, secret := range p.secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(sig.time + "."))
		mac.Write(body)
		// A prefix: the whole would be a signature for whatever text was put in here.
		expected = append(expected, fmt.Sprintf("settings.signing_secrets[%d] gives %s", i, parse.Prefix(hex.EncodeToString(mac.Sum(nil)))))
	}
	value := strings.Join(found, ", ")
	if value == "" {
		value = "no v1"
	}
	return models.Step{Name: "signature", OK: p.matches(sig, body), Value: value, Detail: strings.Join(expected, ", ")}
}

func (p *Provider) explainAge(sig signature, receivedAt time.Time) models.Step {
	at := time.Unix(sig.at, 0).UTC()
	return models.Step{Name: "timestamp", OK: p.checkAge(receivedAt.Unix()-sig.at) == nil, Value: at.Format(time.RFC3339),
		Detail: fmt.Sprintf("signed %s; %d s before and %d s ahead are allowed", parse.Apart(at, receivedAt), p.tolerance, p.toleranceFuture)}
}
