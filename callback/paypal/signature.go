package paypal

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"paybook/models"
)

// algorithm is the one PayPal signs with. Anything else is refused: an algorithm is not for the sender to choose.
const algorithm = "SHA256withRSA"

// futureMax is how far ahead of our clock a transmission may be: clocks differ, but not by more.
const futureMax = 5 * time.Minute

// Where PayPal serves its certificates.
const (
	certScheme = "https://"
	certPath   = "/v1/notifications/certs/"
)

// transmission is what the headers say about one delivery.
type transmission struct {
	id, time  string // as sent, because that text is signed
	signature []byte
	certURL   string
}

// checkSignature proves a callback, cheap checks first: nothing is downloaded for what can be refused without. It returns the
// host of the certificate, which tells the sandbox from the real thing.
func (p *Provider) checkSignature(ctx context.Context, cb models.Callback) (host string, err error) {
	t, err := readTransmission(cb)
	if err != nil {
		return "", err
	}
	if host, err = p.checkCertURL(t.certURL); err != nil {
		return "", err
	}
	if err := p.checkAge(t.time, cb.ReceivedAt); err != nil {
		return "", err
	}
	cert := p.trust.kept[t.certURL]
	if cert == nil {
		if cert, err = p.downloads.get(ctx, t.certURL, cb.ReceivedAt); err != nil {
			return "", err
		}
	}
	key, err := cert.check(cb.ReceivedAt, p.commonName, p.trust.roots)
	if err != nil {
		return "", err
	}
	if !p.isSigned(t, cb.Body, key) {
		return "", reject(models.ReasonSignature, "it fits none of the %d webhook ids: a forgery, a changed body, or the id of another webhook",
			len(p.webhookIDs))
	}
	return host, nil
}

func readTransmission(cb models.Callback) (t transmission, err error) {
	var algo, signature string
	for _, h := range []struct {
		name string
		to   *string
	}{
		{"PAYPAL-TRANSMISSION-ID", &t.id}, {"PAYPAL-TRANSMISSION-TIME", &t.time}, {"PAYPAL-TRANSMISSION-SIG", &signature},
		{"PAYPAL-CERT-URL", &t.certURL}, {"PAYPAL-AUTH-ALGO", &algo},
	} {
		if *h.to = cb.Headers.Get(h.name); *h.to == "" {
			return t, reject(models.ReasonSignature, "header %s is missing", h.name)
		}
	}
	if algo != algorithm {
		return t, reject(models.ReasonAlgorithm, "PAYPAL-AUTH-ALGO is %q, expected %s", clip(algo), algorithm)
	}
	// Strict, and without the line breaks Go lets pass: one signature has one spelling.
	t.signature, err = base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil || strings.ContainsAny(signature, "\r\n") || len(t.signature) < rsaBitsMin/8 {
		return t, reject(models.ReasonSignature, "PAYPAL-TRANSMISSION-SIG is not the base64 of an RSA signature")
	}
	return t, nil
}

// checkCertURL compares text with text instead of taking the URL apart, so that no two readers of URLs can disagree about it:
// no user, port, query, dot segment or encoded slash fits.
func (p *Provider) checkCertURL(url string) (host string, err error) {
	for _, host := range p.certHosts {
		if name, ok := strings.CutPrefix(url, certScheme+host+certPath); ok && isCertName(name) {
			return host, nil
		}
	}
	return "", reject(models.ReasonCertURL, "PAYPAL-CERT-URL %q is not a certificate of an allowed host", clip(url))
}

// isCertName takes one path segment such as CERT-360caa42-fca2a594-1d93a270.
func isCertName(name string) bool {
	return len(name) <= 200 && strings.Trim(name, ".") != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !isAlphanumeric(r) && r != '-' && r != '_' && r != '.'
	})
}

func isAlphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// isHost: in lower case, because that is how PayPal writes its own and they are compared as text.
func isHost(host string) bool {
	return host != "" && host == strings.Trim(host, "-.") && !strings.Contains(host, "..") && !strings.ContainsFunc(host, func(r rune) bool {
		return !isAlphanumeric(r) && r != '-' && r != '.' || 'A' <= r && r <= 'Z'
	})
}

// checkAge: exactly the greatest age is still in. PayPal documents no tolerance of its own.
func (p *Provider) checkAge(text string, receivedAt time.Time) error {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return reject(models.ReasonTimestamp, "PAYPAL-TRANSMISSION-TIME %q is no time such as 2026-11-27T18:15:03Z", clip(text))
	}
	switch age := receivedAt.Sub(at); {
	case age > p.maxAge:
		return reject(models.ReasonTimestamp, "sent %s before it came, %s allowed", age.Round(time.Second), p.maxAge)
	case age < -futureMax:
		return reject(models.ReasonTimestamp, "sent %s ahead of our clock, %s allowed: is the clock right?", (-age).Round(time.Second), futureMax)
	}
	return nil
}

// isSigned: the CRC is weak by itself, but it stands in a signed text beside an id that is used once.
func (p *Provider) isSigned(t transmission, body []byte, key *rsa.PublicKey) bool {
	crc := crc32.ChecksumIEEE(body)
	for _, webhookID := range p.webhookIDs {
		digest := sha256.Sum256(fmt.Appendf(nil, "%s|%s|%s|%d", t.id, t.time, webhookID, crc))
		if rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], t.signature) == nil {
			return true
		}
	}
	return false
}
