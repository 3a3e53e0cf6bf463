package unionpay

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"paybook/models"
)

var now = time.Date(2026, 11, 29, 2, 0, 5, 0, time.UTC)

// signing is who signs in a test: a certificate as messages carry it, and its key.
type signing struct {
	cert string
	key  *rsa.PrivateKey
}

// production and testCN are the kit's two signers.
var (
	production = kitSigner("unionpay_sign_cert.cer", "unionpay_sign_private_key.TEST_ONLY.pem")
	testCN     = kitSigner("unionpay_sign_cert_test_cn.cer", "unionpay_sign_private_key_test_cn.TEST_ONLY.pem")
)

func kitSigner(cert, key string) func(testing.TB) signing {
	var once sync.Once
	var s signing
	return func(tb testing.TB) signing {
		tb.Helper()
		once.Do(func() {
			block, _ := pem.Decode(mustRead(tb, "keys", key))
			parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				tb.Fatal(err)
			}
			s = signing{string(mustRead(tb, "keys", cert)), parsed.(*rsa.PrivateKey)}
		})
		return s
	}
}

type fields = map[string]string

// payment is a genuine payment; change overrides fields, "-" takes one away.
func payment(change fields) fields {
	return with(fields{
		"accNo": "6216***********0018", "accessType": "0", "bizType": "000201", "currencyCode": "156", "encoding": "UTF-8",
		"merId": "777000000000001", "orderId": "CNU20261129001", "queryId": "202611291000000000001", "reqReserved": "透传 a=1&b=2+3",
		"respCode": "00", "respMsg": "成功[0000000]", "settleAmt": "8800", "settleCurrencyCode": "156", "settleDate": "1129",
		"signMethod": "01", "traceNo": "000001", "traceTime": "1129100000", "txnAmt": "8800", "txnSubType": "01",
		"txnTime": "20261129100000", "txnType": "01", "version": "5.1.0",
	}, change)
}

func refund(change fields) fields {
	return with(payment(fields{"txnType": "04", "txnSubType": "00", "orderId": "CNUR20261129001", "queryId": "202611291100000000031",
		"origQryId": "202611291000000000001", "txnAmt": "5000", "traceNo": "000031", "traceTime": "1129110000", "txnTime": "20261129110000"}), change)
}

func with(base, change fields) fields {
	out := maps.Clone(base)
	maps.Copy(out, change)
	maps.DeleteFunc(out, func(_, v string) bool { return v == "-" })
	return out
}

// sign adds certificate and signature, to fields in the bytes of their encoding.
func sign(tb testing.TB, s signing, f fields) fields {
	tb.Helper()
	f = with(fields{"signPubKeyCert": s.cert}, f)
	if f["encoding"] == "GBK" {
		f = gbk(tb, f)
	}
	digest := digestOf(form(f).signedText())
	signature, err := rsa.SignPKCS1v15(nil, s.key, crypto.SHA256, digest[:])
	if err != nil {
		tb.Fatal(err)
	}
	return with(fields{"signature": base64.StdEncoding.EncodeToString(signature)}, f)
}

func gbk(tb testing.TB, f fields) fields {
	tb.Helper()
	out := fields{}
	for name, value := range f {
		text, err := simplifiedchinese.GBK.NewEncoder().String(value)
		if err != nil {
			tb.Fatal(err)
		}
		out[name] = text
	}
	return out
}

func encode(f fields) []byte {
	q := url.Values{}
	for name, value := range f {
		q.Set(name, value)
	}
	return []byte(q.Encode())
}

// received is a request with that body, at now.
func received(body []byte) models.Callback {
	return models.Callback{Account: Name, Method: http.MethodPost, Path: "/callbacks/unionpay", Body: body, ReceivedAt: now,
		Headers: http.Header{"Content-Type": {"application/x-www-form-urlencoded;charset=UTF-8"}}}
}

func sent(tb testing.TB, by func(testing.TB) signing, f fields) models.Callback {
	tb.Helper()
	return received(encode(sign(tb, by(tb), f)))
}

// tell signs and verifies one message.
func tell(tb testing.TB, p *Provider, f fields) (models.Event, error) {
	tb.Helper()
	events, err := p.Verify(tb.Context(), sent(tb, production, f))
	if err != nil {
		return models.Event{}, err
	}
	if len(events) != 1 {
		tb.Fatalf("%d events, want 1", len(events))
	}
	return events[0], nil
}

func mustTell(tb testing.TB, p *Provider, f fields) models.Event {
	tb.Helper()
	ev, err := tell(tb, p, f)
	if err != nil {
		tb.Fatal(err)
	}
	return ev
}

func wantReason(tb testing.TB, p *Provider, cb models.Callback, want models.Reason) {
	tb.Helper()
	events, err := p.Verify(tb.Context(), cb)
	var rejection *models.Rejection
	if !errors.As(err, &rejection) || rejection.Reason != want {
		tb.Errorf("Verify = %+v, %v; want a refusal for %s", events, err, want)
	}
}

// ca is an authority of the test's own: what the kit's, whose key nobody has, cannot issue.
type ca struct {
	tb           testing.TB
	dir          string
	root, middle signing
	middleCert   *x509.Certificate
}

func newCA(tb testing.TB) *ca {
	tb.Helper()
	c := &ca{tb: tb, dir: tb.TempDir()}
	rootCert, root := c.issue(&x509.Certificate{Subject: pkix.Name{CommonName: "ROOT"}, IsCA: true}, nil, nil, 2048)
	middleCert, middle := c.issue(&x509.Certificate{Subject: pkix.Name{CommonName: "MIDDLE"}, IsCA: true}, rootCert, root.key, 2048)
	c.root, c.middle, c.middleCert = root, middle, middleCert
	for name, s := range map[string]signing{"root.cer": root, "middle.cer": middle} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(s.cert), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return c
}

// provider is the kit's account, trusting this authority.
func (c *ca) provider(change map[string]any) *Provider {
	c.tb.Helper()
	all := map[string]any{"root_cert": filepath.Join(c.dir, "root.cer"), "middle_cert": filepath.Join(c.dir, "middle.cer")}
	maps.Copy(all, change)
	return mustNew(c.tb, all)
}

const unionPayCN = "041@TEST@中国银联股份有限公司@00000001"

// leaf is a signing certificate of the authority, for a year around now unless changed.
func (c *ca) leaf(commonName string, change func(*x509.Certificate), bits int) func(testing.TB) signing {
	c.tb.Helper()
	template := &x509.Certificate{Subject: pkix.Name{CommonName: commonName}, KeyUsage: x509.KeyUsageDigitalSignature}
	if change != nil {
		change(template)
	}
	_, s := c.issue(template, c.middleCert, c.middle.key, bits)
	return func(testing.TB) signing { return s }
}

func (c *ca) issue(t, parent *x509.Certificate, by *rsa.PrivateKey, bits int) (*x509.Certificate, signing) {
	c.tb.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		c.tb.Fatal(err)
	}
	if parent == nil {
		parent, by = t, key
	}
	t.SerialNumber, t.BasicConstraintsValid = big.NewInt(time.Now().UnixNano()), true
	if t.NotAfter.IsZero() {
		t.NotBefore, t.NotAfter = now.AddDate(-1, 0, 0), now.AddDate(1, 0, 0)
	}
	if t.IsCA {
		t.KeyUsage = x509.KeyUsageCertSign
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, by)
	if err != nil {
		c.tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		c.tb.Fatal(err)
	}
	return cert, signing{string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), key}
}
