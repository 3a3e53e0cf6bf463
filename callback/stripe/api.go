package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"paybook/callback/ask"
	"paybook/callback/parse"
	"paybook/models"
)

const (
	apiDefault      = "https://api.stripe.com"
	downloadDefault = "files.stripe.com"
	reportDefault   = "balance_change_from_activity.itemized.7"
)

// How often a report that is being made is looked for, and how many times, before it is left for later.
const (
	pollEvery = 2 * time.Second
	pollsMax  = 30
)

// api is what it takes to ask Stripe. key is "" where the account was not given one.
type api struct {
	base      *url.URL
	downloads []string
	key       string
	reports   []string
	poll      time.Duration
}

var reportShape = regexp.MustCompile(`^[a-z_]+(\.[a-z0-9_]+)+$`)

func (p *Provider) setAPI(c Config) (err error) {
	a := api{key: c.SecretKey, downloads: c.DownloadHosts, reports: c.ReportTypes, poll: pollEvery}
	if a.downloads == nil {
		a.downloads = []string{downloadDefault}
	}
	if a.reports == nil {
		a.reports = []string{reportDefault}
	}
	for i, report := range a.reports {
		if !reportShape.MatchString(report) {
			return fmt.Errorf("settings.report_types[%d]: no type of a report, expected one such as %s", i, reportDefault)
		}
	}
	if a.base, err = ask.Base("api", c.API, apiDefault); err != nil {
		return err
	}
	p.api = a
	return p.checkKey(c)
}

// checkKey finds a key of another kind or of the other mode before Stripe does.
func (p *Provider) checkKey(c Config) error {
	key := c.SecretKey
	kind, rest, _ := strings.Cut(key, "_")
	mode, _, _ := strings.Cut(rest, "_")
	switch {
	case key == "":
		return nil
	case strings.TrimSpace(key) != key || strings.ContainsAny(key, "\r\n"):
		return errors.New("settings.secret_key: has blanks or a line break around it")
	case kind != "sk" && kind != "rk":
		return errors.New("settings.secret_key: no secret key; give one that begins with sk_ or rk_")
	case c.Livemode != nil && *c.Livemode && mode == "test":
		return errors.New("settings.secret_key: a key of test mode, and settings.livemode is true")
	case c.Livemode != nil && !*c.Livemode && mode == "live":
		return errors.New("settings.secret_key: a key of live mode, and settings.livemode is false")
	}
	return nil
}

// Hosts are where the API is, and the hosts that reports may be downloaded from.
func (p *Provider) Hosts() []string { return ask.Hosts(p.api.downloads, p.api.base) }

// canAsk says which setting is missing.
func (p *Provider) canAsk() error {
	if p.api.key == "" {
		return &models.CannotAsk{What: "settings.secret_key is not set", Next: "give a restricted key of Stripe's dashboard (rk_…)"}
	}
	return nil
}

// request is one to the API. A form makes it a POST, which may be sent again under the same once without happening twice.
func (p *Provider) request(ctx context.Context, path string, query, posted url.Values, once string) (*http.Request, error) {
	target, method, body := p.api.base.String()+path, http.MethodGet, ""
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if posted != nil {
		method, body = http.MethodPost, posted.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: not an address of the API", p.api.base.Host)
	}
	if posted != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Idempotency-Key", once)
	}
	req.Header.Set("Authorization", "Bearer "+p.api.key)
	return req, nil
}

// call sends a request and reads the object it is answered with. It is genuine because the host is Stripe's: answers are not signed.
func (p *Provider) call(client *http.Client, req *http.Request) (ask.Answer, parse.Value, error) {
	answer, err := ask.Do(client, req, ask.AnswerMax)
	if err != nil {
		return answer, parse.Value{}, err
	}
	doc, err := parse.JSON(answer.Body)
	if failed := answer.OK(doc.Get("error", "code").String()); failed != nil {
		return answer, doc, failed
	}
	if err == nil && !doc.IsObject() {
		err = errors.New("a JSON object expected")
	}
	if err != nil {
		err = refuse(models.ReasonMalformed, "answer: %v", err)
	}
	return answer, doc, err
}

func (p *Provider) get(ctx context.Context, client *http.Client, path string, query url.Values) (ask.Answer, parse.Value, error) {
	req, err := p.request(ctx, path, query, nil, "")
	if err != nil {
		return ask.Answer{}, parse.Value{}, err
	}
	return p.call(client, req)
}
