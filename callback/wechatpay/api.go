package wechatpay

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"paybook/callback/ask"
	"paybook/callback/parse"
	"paybook/models"
)

const apiDefault = "https://api.mch.weixin.qq.com"

// api is what it takes to ask WeChat Pay. key is nil where the account was not given one.
type api struct {
	base      *url.URL
	downloads []string
	key       *rsa.PrivateKey
	serial    string
}

var serialShape = regexp.MustCompile(`^[0-9A-F]{40}$`)

func newAPI(c Config, dir string) (api, error) {
	a := api{serial: strings.ToUpper(c.MerchantSerial), downloads: c.DownloadHosts}
	var err error
	if a.base, err = ask.Base("api", c.API, apiDefault); err != nil {
		return a, err
	}
	switch {
	case c.MerchantPrivateKey == "" && c.MerchantSerial == "":
		return a, nil
	case c.MerchantPrivateKey == "":
		return a, errors.New("settings.merchant_private_key: missing beside merchant_serial")
	case !serialShape.MatchString(a.serial):
		return a, errors.New("settings.merchant_serial: expected the 40 hex digits of the merchant's API certificate: openssl x509 -in apiclient_cert.pem -noout -serial")
	}
	if a.key, err = ask.PrivateKey(dir, c.MerchantPrivateKey); err != nil {
		return a, fmt.Errorf("settings.merchant_private_key: %w", err)
	}
	return a, nil
}

// Hosts are where the API is, and the hosts that bills may be downloaded from.
func (p *Provider) Hosts() []string { return ask.Hosts(p.api.downloads, p.api.base) }

// canAsk says which setting is missing.
func (p *Provider) canAsk() error {
	if p.api.key == nil {
		return &models.CannotAsk{What: "settings.merchant_private_key is not set",
			Next: "give the merchant's API key (apiclient_key.pem) and merchant_serial"}
	}
	return nil
}

// target is an address of the API; path is escaped.
func (p *Provider) target(path string, query url.Values) (*url.URL, error) {
	u, err := url.Parse(p.api.base.String() + path)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", clip(path), err)
	}
	u.RawQuery = query.Encode()
	return u, nil
}

// request is a GET signed with the merchant's key: method, path with query, time, nonce and (no) body, a line each.
func (p *Provider) request(ctx context.Context, u *url.URL, at time.Time) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.Host, err)
	}
	seconds, nonce := strconv.FormatInt(at.Unix(), 10), rand.Text()
	text := strings.Join([]string{http.MethodGet, u.RequestURI(), seconds, nonce, "", ""}, "\n")
	signature, err := ask.Sign(p.api.key, []byte(text))
	if err != nil {
		return nil, fmt.Errorf("sign with settings.merchant_private_key: %w", err)
	}
	req.Header.Set("Authorization", fmt.Sprintf(`%s mchid="%s",nonce_str="%s",signature="%s",timestamp="%s",serial_no="%s"`,
		signatureType, p.mchID, nonce, signature, seconds, p.api.serial))
	req.Header.Set("Accept", "application/json")
	if id := p.publicKeyOnly(); id != "" {
		req.Header.Set("Wechatpay-Serial", id)
	}
	return req, nil
}

// publicKeyOnly is the id of the newest public key of an account that has no certificate any more: the answer must be signed with it.
func (p *Provider) publicKeyOnly() string {
	ids := slices.Sorted(maps.Keys(p.keys))
	if slices.ContainsFunc(ids, func(id string) bool { return !strings.HasPrefix(id, publicKeyPrefix) }) {
		return ""
	}
	return ids[len(ids)-1]
}

// get asks, and proves the answer as a callback is proven. An answer other than 200 need not be signed: nothing is booked by it; one
// that is signed must be signed well.
func (p *Provider) get(ctx context.Context, client *http.Client, u *url.URL, at time.Time) (a ask.Answer, signedAt time.Time, err error) {
	req, err := p.request(ctx, u, at)
	if err != nil {
		return a, at, err
	}
	if a, err = ask.Do(client, req, ask.AnswerMax); err != nil {
		return a, at, err
	}
	if a.Status == http.StatusOK || a.Header.Get("Wechatpay-Signature") != "" {
		signedAt, err = p.checkSignature(a.Evidence(u.Path, at))
	}
	return a, signedAt, err
}

// said is the provider's own word for what went wrong.
func said(a ask.Answer) string {
	doc, err := parse.JSON(a.Body)
	if err != nil {
		return ""
	}
	return doc.Get("code").String()
}
