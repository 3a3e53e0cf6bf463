package unionpay

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Explain tells how a callback's signature was checked: the certificate it brings, the signed text, and its digest. There is no
// timestamp to be checked; the certificate must be valid at the time of receipt.
func (p *Provider) Explain(_ context.Context, cb models.Callback) []models.Step {
	f, err := parseForm(cb.Body, formEncoded)
	if err != nil {
		return nil
	}
	key, keyErr := p.signer(f["signPubKeyCert"], cb.ReceivedAt)
	certificate := models.Step{Name: string(models.ReasonCertificate), OK: keyErr == nil, Value: describeCertificate(f["signPubKeyCert"]),
		Detail: "signPubKeyCert; leads to settings.root_cert, and is UnionPay's"}
	if keyErr != nil {
		certificate.Detail = parse.Detail(keyErr)
	}
	return []models.Step{
		{Name: string(models.ReasonAlgorithm), OK: f["version"] == protocolVersion && f["signMethod"] == signMethodRSA,
			Value: "version " + clip(f["version"]) + ", signMethod " + clip(f["signMethod"]), Detail: fmt.Sprintf("%s and %s expected: RSA with SHA-256", protocolVersion, signMethodRSA)},
		certificate,
		{Name: "signed text", OK: true, Value: string(maskCards(f).signedText()), Detail: "all fields that hold something but signature, decoded once, sorted by name; its SHA-256 in hex is what is signed. " +
			"Card data is masked here"},
		explainSignature(f, key),
	}
}

// cardFields may hold a card's number, or a person's name and identity beside it. UnionPay masks accNo for most merchants, not for all.
var cardFields = []string{"accNo", "payCardNo", "cardTransData", "customerInfo", "encryptedInfo"}

// cardNumber is a row of digits as long as a card's number or longer.
var cardNumber = regexp.MustCompile(`\d{12,}`)

// maskCards keeps of a card's number what receipts show: the first six digits and the last four. Other card data is left out.
func maskCards(f form) form {
	masked := maps.Clone(f)
	for _, name := range cardFields {
		switch value := f[name]; {
		case value == "":
		case name == "accNo" || name == "payCardNo":
			masked[name] = cardNumber.ReplaceAllStringFunc(value, func(digits string) string {
				return digits[:6] + strings.Repeat("*", len(digits)-10) + digits[len(digits)-4:]
			})
		default:
			masked[name] = "***"
		}
	}
	return masked
}

// explainSignature has no key where the certificate is not to be trusted.
func explainSignature(f form, key *rsa.PublicKey) models.Step {
	step := models.Step{Name: string(models.ReasonSignature), Value: parse.Prefix(f["signature"])}
	signature, err := base64.StdEncoding.Strict().DecodeString(f["signature"])
	switch {
	case f["signature"] == "":
		step.Value, step.Detail = "", "no signature"
	case err != nil:
		step.Detail = "not base64"
	case key == nil:
		step.Detail = "not checked: anybody can make one with a certificate of his own"
	default:
		digest := digestOf(f.signedText())
		step.OK = rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) == nil
		step.Detail = parse.ExplainRSA(key, signature, digest[:])
		if name := f.ambiguous(); step.OK && name != "" {
			step.OK, step.Detail = false, "the signed text can be read in two ways, as to what "+name+" is"
		}
	}
	return step
}

func describeCertificate(text string) string {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return ""
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s, serial %s, valid from %s to %s", clip(cert.Subject.CommonName), clip(cert.SerialNumber.String()),
		cert.NotBefore.UTC().Format(time.DateOnly), cert.NotAfter.UTC().Format(time.DateOnly))
}
