package paypal

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
	"time"

	"paybook/models"
)

// rsaBitsMin is the size PayPal uses.
const rsaBitsMin = 2048

// chainMax bounds the certificates of one file; real chains have two to four.
const chainMax = 16

// certificate is what a certificate URL answered: the signing certificate, which comes first, and what leads from it to a root.
type certificate struct {
	leaf *x509.Certificate
	rest *x509.CertPool
}

func newCertificate(certs []*x509.Certificate) *certificate {
	c := &certificate{leaf: certs[0], rest: x509.NewCertPool()}
	for _, cert := range certs[1:] {
		c.rest.AddCert(cert)
	}
	return c
}

// parseCertificates reads the certificates of a PEM text; there is at least one.
func parseCertificates(raw []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for len(certs) < chainMax {
		var block *pem.Block
		if block, raw = pem.Decode(raw); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errors.New("holds a certificate that can't be read")
		}
		certs = append(certs, cert)
	}
	if certs == nil {
		return nil, errors.New("no PEM certificate, expected -----BEGIN CERTIFICATE-----")
	}
	return certs, nil
}

// check proves that the certificate may speak for PayPal at that time and returns its key. Revocation is not asked for: it
// would need the network for each callback, and PayPal has signed with revoked certificates.
func (c *certificate) check(at time.Time, name string, roots *x509.CertPool) (*rsa.PublicKey, error) {
	key, isRSA := c.leaf.PublicKey.(*rsa.PublicKey)
	switch {
	case !isRSA:
		return nil, reject(models.ReasonCertificate, "the certificate's key is no RSA key")
	case key.N.BitLen() < rsaBitsMin:
		return nil, reject(models.ReasonCertificate, "the certificate's key has %d bits, expected at least %d", key.N.BitLen(), rsaBitsMin)
	case at.Before(c.leaf.NotBefore):
		return nil, reject(models.ReasonCertificate, "the certificate begins on %s: is the clock right?", c.leaf.NotBefore.UTC().Format(time.DateOnly))
	case at.After(c.leaf.NotAfter):
		return nil, reject(models.ReasonCertificate, "the certificate ended on %s", c.leaf.NotAfter.UTC().Format(time.DateOnly))
	case !c.isNamed(name):
		return nil, reject(models.ReasonCertificate, "the certificate is of %q, expected %s", clip(c.leaf.Subject.CommonName), name)
	}
	o := x509.VerifyOptions{Roots: roots, Intermediates: c.rest, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	if _, err := c.leaf.Verify(o); err != nil {
		return nil, reject(models.ReasonChain, "the certificate does not lead to a trusted authority: %s", clip(err.Error()))
	}
	return key, nil
}

// isNamed takes the exact name only, as the subject or as a further name: a wildcard of paypal.com is another service's.
func (c *certificate) isNamed(name string) bool {
	same := func(n string) bool { return strings.EqualFold(n, name) }
	return same(c.leaf.Subject.CommonName) || slices.ContainsFunc(c.leaf.DNSNames, same)
}
