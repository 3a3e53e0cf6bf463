package paypal

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"paybook/models"
)

// now is the time of receipt of every callback made here.
var now = time.Date(2026, 11, 27, 18, 15, 6, 0, time.UTC)

const (
	webhookID = "3TX54321TESTHOOK0"
	certURL   = "https://api.paypal.com/v1/notifications/certs/CERT-1"
)

// Keys are made once: nothing takes longer here.
var (
	rootKey   = sync.OnceValue(func() *rsa.PrivateKey { return mustRSA(2048) })
	leafKey   = sync.OnceValue(func() *rsa.PrivateKey { return mustRSA(2048) })
	middleKey = sync.OnceValue(func() *rsa.PrivateKey { return mustRSA(2048) })
	smallKey  = sync.OnceValue(func() *rsa.PrivateKey { return mustRSA(1024) })
	curveKey  = sync.OnceValue(func() *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		return key
	})
)

func mustRSA(bits int) *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return key
}

// template is a certificate that is good, to be changed.
func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: now.AddDate(0, -1, 0), NotAfter: now.AddDate(0, 1, 0),
	}
}

func authority(name string) *x509.Certificate {
	c := template(name)
	c.DNSNames, c.IsCA, c.BasicConstraintsValid, c.KeyUsage = nil, true, true, x509.KeyUsageCertSign
	c.NotBefore, c.NotAfter = now.AddDate(-5, 0, 0), now.AddDate(5, 0, 0)
	return c
}

// issue signs a certificate and returns its PEM.
func issue(tb testing.TB, cert, by *x509.Certificate, key crypto.Signer, byKey crypto.Signer) string {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, by, key.Public(), byKey)
	if err != nil {
		tb.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// goodLeaf is a signing certificate as PayPal's would be, straight below the root.
func goodLeaf(tb testing.TB) string {
	tb.Helper()
	return issue(tb, template(nameDefault), authority("root"), leafKey(), rootKey())
}

// account is a provider that trusts our root and keeps the certificate under certURL.
func account(tb testing.TB, leaf string, change map[string]any) *Provider {
	tb.Helper()
	dir := tb.TempDir()
	root := authority("root")
	write(tb, filepath.Join(dir, "root.pem"), issue(tb, root, root, rootKey(), rootKey()))
	write(tb, filepath.Join(dir, "leaf.pem"), leaf)
	write(tb, filepath.Join(dir, "certs.json"), fmt.Sprintf(`{%q:"leaf.pem"}`, certURL))
	all := map[string]any{"webhook_ids": []string{"OTHERHOOK", webhookID}, "trusted_roots": []string{"root.pem"}, "certificate_cache": "certs.json"}
	for key, value := range change {
		if all[key] = value; value == nil {
			delete(all, key)
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := New(raw, dir)
	if err != nil {
		tb.Fatal(err)
	}
	p.downloads = newDownloads(noNetwork{tb})
	return p
}

// noNetwork fails the test that asks for anything.
type noNetwork struct{ tb testing.TB }

func (n noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	n.tb.Errorf("asked the network for %s", r.URL)
	return nil, http.ErrHandlerTimeout
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// request is a body sent and signed now, as PayPal would.
func request(tb testing.TB, body string) models.Callback {
	tb.Helper()
	return requestAt(tb, body, now.Add(-3*time.Second).Format(time.RFC3339))
}

func requestAt(tb testing.TB, body, sent string) models.Callback {
	tb.Helper()
	cb := models.Callback{Account: "paypal", Method: "POST", Path: "/callbacks/paypal", Body: []byte(body), ReceivedAt: now, Headers: http.Header{}}
	for name, value := range map[string]string{
		"PAYPAL-TRANSMISSION-ID": "t-1", "PAYPAL-TRANSMISSION-TIME": sent, "PAYPAL-CERT-URL": certURL, "PAYPAL-AUTH-ALGO": "SHA256withRSA",
	} {
		cb.Headers.Set(name, value)
	}
	cb.Headers.Set("PAYPAL-TRANSMISSION-SIG", sign(tb, leafKey(), fmt.Sprintf("t-1|%s|%s|%d", sent, webhookID, crc32.ChecksumIEEE([]byte(body)))))
	return cb
}

func sign(tb testing.TB, key *rsa.PrivateKey, text string) string {
	tb.Helper()
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest[:])
	if err != nil {
		tb.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(signature)
}
