package alipay

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // see explainSignature
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Explain tells how a callback's signature was checked: the fields of the body, the signed text made of them, what each configured
// key says to it, and whether the message is ours.
func (p *Provider) Explain(ctx context.Context, cb models.Callback) []models.Step {
	f, err := readForm(cb.Body)
	if err != nil {
		return []models.Step{{Name: "fields", Detail: err.Error()}}
	}
	kind, _ := f.get("sign_type")
	signedFields := signedForms(f)[0]
	steps := []models.Step{
		{Name: "fields", OK: true, Value: fmt.Sprint(len(f)), Detail: "read from the body alone, each decoded once"},
		algorithmStep(kind),
		{Name: "signed text", OK: true, Value: parse.Shown(signedFields.text()),
			Detail: "all fields but sign and sign_type, empty ones too, by name, joined by &, in the bytes of the message's charset"},
	}
	signature := p.explainSignature(f, signedFields, cb.ReceivedAt)
	steps = append(steps, signature)
	if !signature.OK {
		return steps
	}
	return append(steps, p.explainReceiver(ctx, cb))
}

// algorithmStep is OK whatever sign_type says, since Verify does not look at it.
func algorithmStep(kind string) models.Step {
	step := models.Step{Name: "algorithm", OK: true, Value: clip(kind), Detail: "RSA2, RSA with SHA-256, whatever sign_type says: it is not signed"}
	if kind == "RSA" {
		step.Detail = "the message says RSA, RSA with SHA-1; only RSA2, RSA with SHA-256, is taken, whatever sign_type says: it is not signed"
	}
	return step
}

func (p *Provider) explainSignature(f, signedFields form, receivedAt time.Time) models.Step {
	sign, _ := f.get("sign")
	step := models.Step{Name: "signature", Value: parse.Prefix(sign)}
	if sign == "" {
		step.Value, step.Detail = "", "sign is missing"
		return step
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(sign)
	if err != nil {
		step.Detail = "not base64"
		return step
	}
	digest := sha256.Sum256([]byte(signedFields.text()))
	old := sha1.Sum([]byte(signedFields.text())) //nolint:gosec // to tell an old signature by its name, not to accept it
	var told []string
	for i, k := range p.keys {
		if rsa.VerifyPKCS1v15(k.rsa, crypto.SHA1, old[:], raw) == nil {
			told = []string{keyName(i, k) + ": it made the signature, over this very text, but with SHA-1"}
			break
		}
		told = append(told, keyName(i, k)+": "+parse.ExplainRSA(k.rsa, raw, digest[:]))
		if rsa.VerifyPKCS1v15(k.rsa, crypto.SHA256, digest[:], raw) == nil {
			told = told[len(told)-1:] // the others have nothing to say
			break
		}
	}
	var refused *models.Rejection
	_, err = p.checkSignature(f, receivedAt)
	if errors.As(err, &refused) {
		told = append(told, refused.Detail)
	}
	step.OK, step.Detail = err == nil, strings.Join(told, "; ")
	return step
}

func keyName(i int, k verifyKey) string {
	if k.sn == "" {
		return fmt.Sprintf("public key %d of settings.alipay_public_key", i+1)
	}
	return fmt.Sprintf("certificate %s of settings.alipay_cert, valid until %s", k.sn, k.notAfter.Format(time.DateOnly))
}

func (p *Provider) explainReceiver(ctx context.Context, cb models.Callback) models.Step {
	step := models.Step{Name: "receiver", OK: true, Detail: "app_id and seller are this account's"}
	var refused *models.Rejection
	if _, err := p.Verify(ctx, cb); errors.As(err, &refused) {
		step.OK, step.Detail = false, refused.Detail
	}
	return step
}
