package wechatpay

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// publicKeyPrefix starts the id of a WeChat Pay public key; a certificate's serial is hex.
const publicKeyPrefix = "PUB_KEY_ID_"

// rsaBitsMin is the size the provider uses.
const rsaBitsMin = 2048

// verifyKey is one key the provider may sign with. A bare public key has no dates.
type verifyKey struct {
	rsa                 *rsa.PublicKey
	notBefore, notAfter time.Time
}

// validAt says whether the key was in force at that time.
func (k verifyKey) validAt(at time.Time) bool {
	return k.notAfter.IsZero() || !at.Before(k.notBefore) && !at.After(k.notAfter)
}

func (p *Provider) loadKeys(c Config, dir string) error {
	for _, serial := range slices.Sorted(maps.Keys(c.PlatformCerts)) {
		key, err := readCertificate(serial, resolve(dir, c.PlatformCerts[serial]))
		if err != nil {
			return fmt.Errorf("settings.platform_certs.%s: %w", serial, err)
		}
		p.keys[serial] = key
	}
	for _, id := range slices.Sorted(maps.Keys(c.PublicKeys)) {
		key, err := readPublicKey(id, resolve(dir, c.PublicKeys[id]))
		if err != nil {
			return fmt.Errorf("settings.public_keys.%s: %w", id, err)
		}
		p.keys[id] = key
	}
	return nil
}

func resolve(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readCertificate refuses a certificate filed under another serial: a callback naming it would be checked with the wrong key,
// or never find its own.
func readCertificate(serial, path string) (verifyKey, error) {
	der, err := readPEM(path, "CERTIFICATE")
	if err != nil {
		return verifyKey{}, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return verifyKey{}, fmt.Errorf("%s: %w", path, err)
	}
	if own := serialText(cert); own != serial {
		return verifyKey{}, fmt.Errorf("%s: the certificate's serial is %s; write that as the key", path, own)
	}
	public, err := usable(path, cert.PublicKey)
	return verifyKey{public, cert.NotBefore.UTC(), cert.NotAfter.UTC()}, err
}

// serialText is the serial as Wechatpay-Serial spells it. Leading zeros belong to it.
func serialText(cert *x509.Certificate) string { return fmt.Sprintf("%040X", cert.SerialNumber) }

func readPublicKey(id, path string) (verifyKey, error) {
	if !strings.HasPrefix(id, publicKeyPrefix) {
		return verifyKey{}, fmt.Errorf("a public key's id begins with %s", publicKeyPrefix)
	}
	der, err := readPEM(path, "PUBLIC KEY")
	if err != nil {
		return verifyKey{}, err
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return verifyKey{}, fmt.Errorf("%s: %w", path, err)
	}
	public, err := usable(path, parsed)
	return verifyKey{rsa: public}, err
}

func readPEM(path, kind string) ([]byte, error) {
	if strings.TrimSpace(path) == "" {
		return nil, fmt.Errorf("no file named")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, fmt.Errorf("%s: no PEM file, expected -----BEGIN %s-----", path, kind)
	}
	if block.Type != kind {
		return nil, fmt.Errorf("%s: holds a %s, expected a %s", path, block.Type, kind)
	}
	return block.Bytes, nil
}

func usable(path string, key any) (*rsa.PublicKey, error) {
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%s: not an RSA key", path)
	}
	if public.N.BitLen() < rsaBitsMin {
		return nil, fmt.Errorf("%s: %d bits, expected at least %d", path, public.N.BitLen(), rsaBitsMin)
	}
	return public, nil
}
