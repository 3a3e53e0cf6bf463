package alipay

import (
	"bytes"
	"crypto/md5" //nolint:gosec // how Alipay numbers certificates; a name, not a protection
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
)

// rsaBitsMin is the size that RSA2 demands.
const rsaBitsMin = 2048

// verifyKey is one key the provider may sign with. A bare public key has neither number nor dates.
type verifyKey struct {
	rsa                 *rsa.PublicKey
	sn                  string
	notBefore, notAfter time.Time
}

// validAt says whether the key was in force at that time.
func (k verifyKey) validAt(at time.Time) bool {
	return k.sn == "" || !at.Before(k.notBefore) && !at.After(k.notAfter)
}

// texts is a setting that is one text, or a list of them.
type texts []string

// UnmarshalJSON takes both spellings.
func (t *texts) UnmarshalJSON(raw []byte) error {
	if !bytes.HasPrefix(raw, []byte("[")) {
		*t = texts{""}
		return json.Unmarshal(raw, &(*t)[0])
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

// name is the setting's name of one of its values.
func (t texts) name(key string, i int) string {
	if len(t) == 1 {
		return key
	}
	return fmt.Sprintf("%s[%d]", key, i)
}

func (p *Provider) loadKeys(c Config, dir string) error {
	load := func(key string, files texts, read func(path string) (verifyKey, error)) error {
		for i, file := range files {
			k, err := readFile(dir, file, read)
			if err != nil {
				return fmt.Errorf("settings.%s: %w", files.name(key, i), err)
			}
			p.keys = append(p.keys, k)
		}
		return nil
	}
	if err := load("alipay_public_key", c.AlipayPublicKey, readPublicKey); err != nil {
		return err
	}
	if err := load("alipay_cert", c.AlipayCert, readCertificate); err != nil {
		return err
	}
	return p.checkNumbers(c.AlipayCertSN)
}

func readFile(dir, file string, read func(path string) (verifyKey, error)) (verifyKey, error) {
	if !parse.Visible(file) {
		return verifyKey{}, errors.New("empty: no file named")
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return read(file)
}

// checkNumbers finds the wrong file under the right name, before a callback does.
func (p *Provider) checkNumbers(numbers texts) error {
	var have []string
	for _, k := range p.keys {
		if k.sn != "" {
			have = append(have, k.sn)
		}
	}
	for i, sn := range numbers {
		if !slices.Contains(have, sn) {
			return fmt.Errorf("settings.%s: %q is not the number of a certificate in alipay_cert; found there: %s",
				numbers.name("alipay_cert_sn", i), clip(sn), strings.Join(have, ", "))
		}
	}
	return nil
}

// readPublicKey reads PEM, or the one line of base64 that Alipay's own page gives for download.
func readPublicKey(path string) (verifyKey, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return verifyKey{}, err
	}
	der, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(raw)))
	if err != nil || len(der) == 0 {
		if der, err = decodePEM(path, raw, "PUBLIC KEY"); err != nil {
			return verifyKey{}, err
		}
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return verifyKey{}, fmt.Errorf("%s: no public key: %w", path, err)
	}
	public, err := usable(path, parsed)
	return verifyKey{rsa: public}, err
}

// readCertificate reads the first certificate of a file; those of the authorities may follow.
func readCertificate(path string) (verifyKey, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return verifyKey{}, err
	}
	der, err := decodePEM(path, raw, "CERTIFICATE")
	if err != nil {
		return verifyKey{}, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return verifyKey{}, fmt.Errorf("%s: %w", path, err)
	}
	if cert.IsCA {
		return verifyKey{}, fmt.Errorf("%s: the certificate of an authority; give Alipay's own (alipayCertPublicKey_RSA2.crt)", path)
	}
	public, err := usable(path, cert.PublicKey)
	return verifyKey{public, certNumber(cert), cert.NotBefore.UTC(), cert.NotAfter.UTC()}, err
}

// certNumber is alipay_cert_sn: md5 of issuer and serial, both as text.
func certNumber(cert *x509.Certificate) string {
	sum := md5.Sum([]byte(cert.Issuer.String() + cert.SerialNumber.String())) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

func decodePEM(path string, raw []byte, kind string) ([]byte, error) {
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
