package paypal

import (
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
)

// trust is what an account's files say about certificates.
type trust struct {
	roots    *x509.CertPool          // nil: the system's authorities
	kept     map[string]*certificate // by URL: these are not downloaded
	expiries map[string]time.Time    // by file
}

func loadTrust(c Config, dir string) (trust, error) {
	t := trust{kept: map[string]*certificate{}, expiries: map[string]time.Time{}}
	for i, file := range c.TrustedRoots {
		if err := t.addRoot(resolve(dir, file)); err != nil {
			return t, fmt.Errorf("settings.trusted_roots[%d]: %w", i, err)
		}
	}
	if c.CertificateCache == nil {
		return t, nil
	}
	if err := t.addKept(resolve(dir, *c.CertificateCache)); err != nil {
		return t, fmt.Errorf("settings.certificate_cache: %w", err)
	}
	return t, nil
}

// addRoot refuses a file that would anchor trust in something that is no authority, such as the leaf itself.
func (t *trust) addRoot(path string) error {
	certs, err := readCertificates(path)
	if err != nil {
		return err
	}
	if t.roots == nil {
		t.roots = x509.NewCertPool()
	}
	for _, cert := range certs {
		if !cert.IsCA {
			return fmt.Errorf("%s: %s is not the certificate of an authority", path, clip(cert.Subject.String()))
		}
		t.roots.AddCert(cert)
		t.note(path, cert)
	}
	return nil
}

// addKept reads the certificate cache. Whether a certificate is any good, and its host allowed, is asked at each callback.
func (t *trust) addKept(path string) error {
	if strings.TrimSpace(path) == "" {
		return fmt.Errorf("no file named")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc, err := parse.JSON(raw)
	files, isObject := doc.Any().(map[string]any)
	if err != nil || !isObject {
		return fmt.Errorf("%s: a JSON object expected, certificate URL → PEM file (%v)", path, err)
	}
	for _, url := range slices.Sorted(maps.Keys(files)) {
		file := resolve(filepath.Dir(path), doc.Get(url).String())
		certs, err := readCertificates(file)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", path, clip(url), err)
		}
		t.kept[url] = newCertificate(certs)
		t.note(file, certs[0])
	}
	return nil
}

// note keeps the earliest end of a file's certificates.
func (t *trust) note(path string, cert *x509.Certificate) {
	if end, known := t.expiries[path]; !known || cert.NotAfter.Before(end) {
		t.expiries[path] = cert.NotAfter.UTC()
	}
}

func readCertificates(path string) ([]*x509.Certificate, error) {
	if strings.TrimSpace(path) == "" {
		return nil, fmt.Errorf("no file named")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	certs, err := parseCertificates(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return certs, nil
}

func resolve(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
