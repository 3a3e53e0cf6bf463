package unionpay

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"paybook/callback/ask"
	"paybook/models"
)

// Where UnionPay is asked, in production and in its test environment.
const (
	apiDefault  = "https://gateway.95516.com"
	fileDefault = "https://filedownload.95516.com"
	apiTest     = "https://gateway.test.95516.com"
	fileTest    = "https://filedownload.test.95516.com"

	queryPath = "/gateway/api/queryTrans.do"
)

// api is what it takes to ask UnionPay. key is nil where the account was not given one.
type api struct {
	query, files *url.URL
	key          *rsa.PrivateKey
	certID       string // the serial of our certificate, in decimal
}

func newAPI(c Config, dir string) (a api, err error) {
	query, files := apiDefault, fileDefault
	if c.TestEnvironment {
		query, files = apiTest, fileTest
	}
	if a.query, err = ask.Base("api", c.API, query); err != nil {
		return a, err
	}
	if a.files, err = ask.Base("file_api", cmp.Or(c.FileAPI, c.API), files); err != nil {
		return a, err
	}
	switch {
	case c.SignKey == "" && c.SignCert == "":
		return a, nil
	case c.SignKey == "":
		return a, errors.New("settings.sign_key: missing beside sign_cert")
	}
	if a.key, err = ask.PrivateKey(dir, c.SignKey); err != nil {
		return a, fmt.Errorf("settings.sign_key: %w", err)
	}
	certs, err := readCertificates(dir, c.SignCert)
	if err != nil {
		return a, fmt.Errorf("settings.sign_cert: %w", err)
	}
	if !a.key.PublicKey.Equal(certs[0].PublicKey) {
		return a, fmt.Errorf("settings.sign_cert: %s: is not the certificate of settings.sign_key", c.SignCert)
	}
	a.certID = certs[0].SerialNumber.String()
	return a, nil
}

// Hosts are where the gateway and the files are.
func (p *Provider) Hosts() []string { return ask.Hosts(nil, p.api.query, p.api.files) }

// canAsk says which setting is missing.
func (p *Provider) canAsk() error {
	if p.api.key == nil {
		return &models.CannotAsk{What: "settings.sign_key is not set", Next: "give the merchant's signing key and sign_cert, taken out of its .pfx"}
	}
	return nil
}

// request is a signed form. Signed is, as in notifications, the hex of the text's hash.
func (p *Provider) request(ctx context.Context, target string, question form) (*http.Request, error) {
	f := form{
		"version": protocolVersion, "encoding": "UTF-8", "signMethod": signMethodRSA, "certId": p.api.certID, "bizType": "000000",
		"accessType": "0", "merId": p.merID,
	}
	maps.Copy(f, question)
	hash := sha256.Sum256(f.signedText())
	signature, err := ask.Sign(p.api.key, []byte(hex.EncodeToString(hash[:])))
	if err != nil {
		return nil, fmt.Errorf("sign with settings.sign_key: %w", err)
	}
	f["signature"] = signature
	body := url.Values{}
	for name, value := range f {
		body.Set(name, value)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(body.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")
	return req, nil
}

// call asks, and returns the answer with its fields, which are not proven yet.
func (p *Provider) call(ctx context.Context, client *http.Client, target string, question form, limit int64) (ask.Answer, form, error) {
	req, err := p.request(ctx, target, question)
	if err != nil {
		return ask.Answer{}, nil, err
	}
	answer, err := ask.Do(client, req, limit)
	if err != nil {
		return answer, nil, err
	}
	if err := answer.OK(""); err != nil {
		return answer, nil, err
	}
	f, err := parseAnswer(answer.Body)
	if err != nil {
		err = reject(models.ReasonMalformed, "answer: %v", err)
	}
	return answer, f, err
}

// failure is what an answer's respCode says that is not 00, in the provider's words.
func failure(host string, f form) error {
	code := f["respCode"]
	if busy(code) || code == "02" {
		return fmt.Errorf("%s is busy or out of order, respCode %s: ask again later", host, code)
	}
	return fmt.Errorf("%s answers respCode %q: %s", host, clip(code), clip(f.text("respMsg")))
}

// busy is what is under way, or not known yet.
func busy(code string) bool { return code == "03" || code == "04" || code == "05" }

func momentOf(at time.Time) string { return at.In(beijing).Format(momentLayout) }
