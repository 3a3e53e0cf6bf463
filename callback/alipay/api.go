package alipay

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paybook/callback/ask"
	"paybook/callback/parse"
	"paybook/models"
)

const (
	apiDefault      = "https://openapi.alipay.com"
	gateway         = "/gateway.do"
	downloadDefault = "dwbillcenter.alipay.com"
	billDefault     = "trade"
)

// api is what it takes to ask Alipay. key is nil where the account was not given one.
type api struct {
	base      *url.URL
	downloads []string
	key       *rsa.PrivateKey
	certSN    string // of the application's certificate; "": public key mode
	rootSN    string
	billType  string
}

func newAPI(c Config, dir string) (a api, err error) {
	a = api{downloads: c.DownloadHosts, billType: c.BillType}
	if a.downloads == nil {
		a.downloads = []string{downloadDefault}
	}
	if a.billType == "" {
		a.billType = billDefault
	}
	if a.billType != billDefault && a.billType != "signcustomer" {
		return a, fmt.Errorf("settings.bill_type: %q; trade or signcustomer expected", clip(a.billType))
	}
	if a.base, err = ask.Base("api", strings.TrimSuffix(c.API, gateway), apiDefault); err != nil {
		return a, err
	}
	if c.AppPrivateKey == "" {
		return a, nil
	}
	if a.key, err = ask.PrivateKey(dir, c.AppPrivateKey); err != nil {
		return a, fmt.Errorf("settings.app_private_key: %w", err)
	}
	return a, a.readNumbers(c, dir)
}

// readNumbers reads the two certificates of certificate mode. One without the other would be refused by Alipay for each question.
func (a *api) readNumbers(c Config, dir string) (err error) {
	switch {
	case c.AppCert == "" && c.AlipayRootCert == "":
		return nil
	case c.AppCert == "":
		return errors.New("settings.app_cert: missing beside alipay_root_cert")
	case c.AlipayRootCert == "":
		return errors.New("settings.alipay_root_cert: missing beside app_cert")
	}
	own, err := certNumbers(dir, c.AppCert)
	if err != nil {
		return fmt.Errorf("settings.app_cert: %w", err)
	}
	roots, err := certNumbers(dir, c.AlipayRootCert)
	if err != nil {
		return fmt.Errorf("settings.alipay_root_cert: %w", err)
	}
	a.certSN, a.rootSN = own[0], strings.Join(roots, "_")
	return nil
}

// certNumbers are the numbers of the RSA certificates in a file. Alipay's file of roots also holds others, which don't count, and some
// of which the standard library can't read.
func certNumbers(dir, path string) (numbers []string, err error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	rest, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil || cert.PublicKeyAlgorithm != x509.RSA {
			continue
		}
		numbers = append(numbers, certNumber(cert))
	}
	if numbers == nil {
		return nil, fmt.Errorf("%s: no RSA certificate, expected -----BEGIN CERTIFICATE-----", path)
	}
	return numbers, nil
}

// Hosts are where the gateway is, and the hosts that bills may be downloaded from.
func (p *Provider) Hosts() []string { return ask.Hosts(p.api.downloads, p.api.base) }

// canAsk says which setting is missing.
func (p *Provider) canAsk() error {
	if p.api.key == nil {
		return &models.CannotAsk{What: "settings.app_private_key is not set", Next: "give the application's private key, and its certificates in certificate mode"}
	}
	return nil
}

// request calls a method of the gateway: the common parameters in the query, the question in the body, both signed together.
func (p *Provider) request(ctx context.Context, method string, question map[string]any, at time.Time) (*http.Request, error) {
	content, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	params := map[string]string{
		"app_id": p.appIDs[0], "method": method, "format": "JSON", "charset": "utf-8", "sign_type": "RSA2", "version": "1.0",
		"timestamp": at.In(beijing).Format(time.DateTime), "app_cert_sn": p.api.certSN, "alipay_root_cert_sn": p.api.rootSN,
	}
	maps.DeleteFunc(params, func(_, value string) bool { return value == "" })
	query := url.Values{}
	for name, value := range params {
		query.Set(name, value)
	}
	params["biz_content"] = string(content)
	signature, err := ask.Sign(p.api.key, []byte(textOf(params)))
	if err != nil {
		return nil, fmt.Errorf("sign with settings.app_private_key: %w", err)
	}
	query.Set("sign", signature)
	body := url.Values{"biz_content": {string(content)}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.api.base.String()+gateway+"?"+query.Encode(), strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.api.base.Host, errors.Unwrap(err))
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	return req, nil
}

// textOf is what a question is signed by: as a notification's text, but with sign_type in it.
func textOf(params map[string]string) string {
	var f form
	for _, name := range slices.Sorted(maps.Keys(params)) {
		f = append(f, field{name, params[name]})
	}
	return f.text()
}

// call asks, and proves the answer. What it returns are the fields of the method's own part. An answer that tells of a failure need not
// be signed: nothing is booked by it; one that is signed must be signed well.
func (p *Provider) call(ctx context.Context, client *http.Client, method string, question map[string]any, at time.Time) (cb models.Callback, answer parse.Value, err error) {
	req, err := p.request(ctx, method, question, at)
	if err != nil {
		return cb, answer, err
	}
	got, err := ask.Do(client, req, ask.AnswerMax)
	if err != nil {
		return cb, answer, err
	}
	if err := got.OK(""); err != nil {
		return cb, answer, err
	}
	cb = got.Evidence(p.api.base.Path+gateway+"/"+method, at)
	answer, err = p.proven(got.Body, strings.ReplaceAll(method, ".", "_")+"_response", at)
	return cb, answer, err
}

// proven takes the answer's part out of its wrapping. Signed is that part's text as it was sent, brace to brace.
func (p *Provider) proven(body []byte, name string, at time.Time) (parse.Value, error) {
	doc, err := parse.JSON(body)
	if err != nil {
		return doc, reject(models.ReasonMalformed, "answer: %v", err)
	}
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &raw); err != nil {
		return doc, reject(models.ReasonMalformed, "answer: not a JSON object")
	}
	if doc.Get("error_response").IsObject() && !doc.Get(name).Exists() {
		name = "error_response"
	}
	answer, sign := doc.Get(name), doc.Get("sign").String()
	switch {
	case !answer.IsObject():
		return answer, reject(models.ReasonMalformed, "answer: %s is missing", name)
	case sign == "" && answer.Get("code").String() != codeDone:
		return answer, nil
	case sign == "":
		return answer, reject(models.ReasonSignature, "the answer's sign is missing")
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(sign)
	if err != nil {
		return answer, reject(models.ReasonSignature, "the answer's sign is not base64")
	}
	key, ok := p.keyOf(string(raw[name]), signature, at)
	switch {
	case !ok:
		return answer, reject(models.ReasonSignature, "sign does not fit the answer; is the configured key Alipay's own, not the application's? alipay_cert_sn %s",
			printable(doc.Get("alipay_cert_sn").String()))
	case !key.validAt(at):
		return answer, reject(models.ReasonCertificate, "certificate %s is valid from %s to %s only",
			key.sn, key.notBefore.Format(time.DateOnly), key.notAfter.Format(time.DateOnly))
	}
	return answer, nil
}

// codeDone says that the gateway has done what it was asked for.
const codeDone = "10000"

// failed is an answer's failure in the provider's words, nil when there is none.
func (p *Provider) failed(answer parse.Value) error {
	code, sub := answer.Get("code").String(), answer.Get("sub_code").String()
	switch code {
	case codeDone:
		return nil
	case "20000", "10003":
		return fmt.Errorf("%s is busy or out of order, code %s %s: ask again later", p.api.base.Host, code, printable(sub))
	}
	return fmt.Errorf("%s answers code %s %s: look it up in Alipay's list of codes; 40001 to 40003 are about app_id, app_private_key or what the application may do",
		p.api.base.Host, printable(code), printable(sub))
}
