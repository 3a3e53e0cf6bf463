package unionpay

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paybook/models"
)

// The sizes of RSA keys that are neither weak nor made to keep us busy.
const rsaBitsMin, rsaBitsMax = 2048, 8192

// cnPlace is which of the parts of a common name, split at @, names the owner: 041@…@中国银联股份有限公司@00000001.
const cnPlace = 2

// authority is what signing certificates must descend from.
type authority struct {
	roots, middles       []*x509.Certificate
	rootPool, middlePool *x509.CertPool
}

// signer is the key in a signPubKeyCert that may speak for UnionPay at that time. Nothing is remembered between calls: UnionPay
// changes certificates by itself, and checking one costs less than a millisecond.
func (p *Provider) signer(text string, at time.Time) (*rsa.PublicKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, reject(models.ReasonCertificate, "signPubKeyCert is missing or no PEM certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, reject(models.ReasonCertificate, "signPubKeyCert: %v", err)
	}
	if err := p.authority.vouches(cert, at); err != nil {
		return nil, reject(models.ReasonCertificate, "signPubKeyCert: %v", err)
	}
	if err := p.checkOwner(cert); err != nil {
		return nil, reject(models.ReasonCertificate, "signPubKeyCert: %v", err)
	}
	key, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok || key.N.BitLen() < rsaBitsMin || key.N.BitLen() > rsaBitsMax {
		return nil, reject(models.ReasonCertificate, "signPubKeyCert: no RSA key of %d to %d bits", rsaBitsMin, rsaBitsMax)
	}
	return key, nil
}

// vouches checks chain and dates. The authority's certificates for signing need not name a usage that Go asks for by default.
func (a authority) vouches(cert *x509.Certificate, at time.Time) error {
	if at.IsZero() { // x509 would take it for "now"
		return errors.New("no time to check its dates against")
	}
	_, err := cert.Verify(x509.VerifyOptions{
		Roots: a.rootPool, Intermediates: a.middlePool, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	return err
}

// checkOwner: every merchant has a certificate of this authority, so the chain alone proves nobody.
func (p *Provider) checkOwner(cert *x509.Certificate) error {
	names := 0
	for _, n := range cert.Subject.Names {
		if n.Type.Equal([]int{2, 5, 4, 3}) { // common name
			names++
		}
	}
	parts := strings.Split(cert.Subject.CommonName, "@")
	if names != 1 || len(parts) <= cnPlace || !slices.Contains(p.cnParts, parts[cnPlace]) {
		return fmt.Errorf("its owner %q is not UnionPay (part 3 of the common name must be %s)", clip(cert.Subject.CommonName), strings.Join(p.cnParts, " or "))
	}
	return nil
}

// loadAuthority reads the two files and refuses a pair that could never vouch for anybody, so that it is noticed at the start and
// not by lost callbacks.
func loadAuthority(c Config, dir string) (authority, error) {
	a := authority{rootPool: x509.NewCertPool(), middlePool: x509.NewCertPool()}
	var err error
	if a.roots, err = readCertificates(dir, c.RootCert); err != nil {
		return a, fmt.Errorf("settings.root_cert: %w", err)
	}
	if a.middles, err = readCertificates(dir, c.MiddleCert); err != nil {
		return a, fmt.Errorf("settings.middle_cert: %w", err)
	}
	for _, root := range a.roots {
		a.rootPool.AddCert(root)
	}
	for _, middle := range a.middles {
		if slices.ContainsFunc(a.roots, middle.Equal) {
			return a, fmt.Errorf("settings.middle_cert: %s: the same certificate as in settings.root_cert", c.MiddleCert)
		}
		if !slices.ContainsFunc(a.roots, func(root *x509.Certificate) bool { return middle.CheckSignatureFrom(root) == nil }) {
			return a, fmt.Errorf("settings.middle_cert: %s: not issued by the certificate of settings.root_cert; are the two swapped, or of different environments?", c.MiddleCert)
		}
		if !middle.IsCA {
			return a, fmt.Errorf("settings.middle_cert: %s: may not issue certificates", c.MiddleCert)
		}
		a.middlePool.AddCert(middle)
	}
	return a, nil
}

// readCertificates reads a file of one or more PEM certificates, or of one in DER: the ending .cer stands for both.
func readCertificates(dir, path string) ([]*x509.Certificate, error) {
	if strings.TrimSpace(path) == "" {
		return nil, errors.New("no file named")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	for rest := raw; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("%s: holds a %s, expected a CERTIFICATE", path, block.Type)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		certs = append(certs, cert)
	}
	if len(certs) > 0 {
		return certs, nil
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil || bytes.Contains(raw, []byte("-----BEGIN")) {
		return nil, fmt.Errorf("%s: no certificate, expected -----BEGIN CERTIFICATE-----", path)
	}
	return []*x509.Certificate{cert}, nil
}
