package paypal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"paybook/callback/ask"
	"paybook/callback/parse"
	"paybook/models"
)

const (
	apiDefault = "https://api-m.paypal.com"
	apiSandbox = "https://api-m.sandbox.paypal.com"
)

// tokenEarly is how long before its end a token is no longer used: it must outlive the request it goes with.
const tokenEarly = time.Minute

// api is what it takes to ask PayPal. id is "" where the account was not given one.
type api struct {
	base       *url.URL
	id, secret string

	turn  chan struct{} // holds one while somebody looks at the token, or fetches one
	token string
	until time.Time // by the clock of those who ask
}

func newAPI(c Config) (*api, error) {
	otherwise := apiDefault
	if c.Livemode != nil && !*c.Livemode {
		otherwise = apiSandbox
	}
	base, err := ask.Base("api", c.API, otherwise)
	switch {
	case err != nil:
		return nil, err
	case c.ClientID == "" && c.ClientSecret != "":
		return nil, errors.New("settings.client_id: missing beside client_secret")
	case c.ClientID != "" && !parse.Visible(c.ClientSecret):
		return nil, errors.New("settings.client_secret: missing beside client_id")
	case strings.ContainsAny(c.ClientID+c.ClientSecret, " \r\n:"):
		return nil, errors.New("settings.client_id and client_secret: hold a blank, a line break or a colon")
	case isPayPal(base.Host) && c.Livemode != nil && *c.Livemode == isSandbox(base.Host):
		return nil, fmt.Errorf("settings.api: %s is not of the mode that settings.livemode says", base.Host)
	}
	return &api{base: base, id: c.ClientID, secret: c.ClientSecret, turn: make(chan struct{}, 1)}, nil
}

func isPayPal(host string) bool { return strings.HasSuffix(host, ".paypal.com") }

// Hosts are where the API is.
func (p *Provider) Hosts() []string { return ask.Hosts(nil, p.api.base) }

// canAsk says which setting is missing.
func (a *api) canAsk() error {
	if a.id == "" {
		return &models.CannotAsk{What: "settings.client_id is not set", Next: "give client_id and client_secret of the REST app in PayPal's developer dashboard"}
	}
	return nil
}

// get asks under a token. One that is no longer taken is forgotten, so that the next question gets another.
func (a *api) get(ctx context.Context, client *http.Client, path string, at time.Time) (ask.Answer, error) {
	token, err := a.bearer(ctx, client, at)
	if err != nil {
		return ask.Answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base.String()+path, nil)
	if err != nil {
		return ask.Answer{}, fmt.Errorf("%s: not an address of the API", a.base.Host)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	answer, err := ask.Do(client, req, ask.AnswerMax)
	if answer.Status == http.StatusUnauthorized {
		a.forget(token)
	}
	return answer, err
}

// bearer is the token to ask under: PayPal wants one to be used until it ends. Whoever comes while it is being fetched waits for it.
func (a *api) bearer(ctx context.Context, client *http.Client, at time.Time) (string, error) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if a.token != "" && at.Before(a.until) {
		return a.token, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base.String()+"/v1/oauth2/token", strings.NewReader("grant_type=client_credentials"))
	if err != nil {
		return "", fmt.Errorf("%s: not an address of the API", a.base.Host)
	}
	req.SetBasicAuth(a.id, a.secret)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	answer, err := ask.Do(client, req, ask.AnswerMax)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	doc, err := parse.JSON(answer.Body)
	if failed := answer.OK(doc.Get("error").String()); failed != nil {
		return "", fmt.Errorf("token: %w", failed)
	}
	seconds, errSeconds := strconv.ParseInt(doc.Get("expires_in").Number(), 10, 32)
	token := doc.Get("access_token").String()
	if err != nil || errSeconds != nil || token == "" || strings.ContainsAny(token, " \r\n") {
		return "", fmt.Errorf("token: %s answers something else than access_token and expires_in", a.base.Host)
	}
	a.token, a.until = token, at.Add(time.Duration(seconds)*time.Second-tokenEarly)
	return token, nil
}

func (a *api) forget(token string) {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	if a.token == token {
		a.token = ""
	}
}
