package adyen

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// explainedMax is how many items of a callback are gone through one by one.
const explainedMax = 20

// Explain tells how a callback was checked: user and password, of which nothing is shown, then each item's signed text and what each
// key makes of it.
func (p *Provider) Explain(_ context.Context, cb models.Callback) []models.Step {
	steps := []models.Step{{Name: "algorithm", OK: true, Value: "HMAC-SHA256", Detail: "additionalData.hmacSignature of each item, base64; the key is what settings.hmac_keys_hex decodes to"}}
	if p.auth != nil {
		step := models.Step{Name: string(models.ReasonBasicAuth), OK: p.auth.fit(cb.Headers), Value: "user and password, not shown", Detail: "settings.basic_auth"}
		steps = append(steps, step)
	}
	doc, err := parse.JSON(cb.Body)
	if err != nil {
		return steps
	}
	items, err := readItems(doc)
	if err != nil {
		return steps
	}
	for i, it := range items[:min(len(items), explainedMax)] {
		steps = append(steps, p.explainItem(it, fmt.Sprintf("item %d of %d", i+1, len(items)))...)
	}
	return steps
}

func (p *Provider) explainItem(it item, which string) []models.Step {
	sent := it.text("additionalData", "hmacSignature")
	signature := models.Step{Name: string(models.ReasonSignature), Value: which + ": " + parse.Prefix(sent)}
	if sent == "" {
		signature.Value = which + ": none"
	}
	var tried []string
	for i, key := range p.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(it.signed()))
		// A prefix: the whole would be a signature for whatever text was put in here.
		tried = append(tried, fmt.Sprintf("settings.hmac_keys_hex[%d] gives %s", i, parse.Prefix(base64.StdEncoding.EncodeToString(mac.Sum(nil)))))
	}
	signature.Detail = strings.Join(tried, ", ")
	if err := p.checkSignature(it); err != nil {
		signature.Detail = parse.Detail(err) + "; " + signature.Detail
	} else {
		signature.OK = true
	}
	return []models.Step{
		{Name: "signed text", OK: true, Value: it.signed(),
			Detail: which + ": pspReference, originalReference, merchantAccountCode, merchantReference, value, currency, eventCode, success; colons between, nothing escaped"},
		signature,
	}
}
