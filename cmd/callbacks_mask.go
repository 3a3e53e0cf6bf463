package cmd

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"paybook/callback"
	"paybook/models"
)

// secretHeaders prove who sends, as passwords do. A signature is no secret: it fits this one message only. A provider names its own
// besides, see callback.SecretHolder.
var secretHeaders = []string{"authorization", "proxy-authorization", "cookie", "x-callback-token"}

// maskedValue stands in place of a secret.
const maskedValue = "***"

// soundsSecret is a header or parameter of an account that is configured no more, so that nobody can say what it holds.
var soundsSecret = regexp.MustCompile(`(?i)tok|secret|passw|api-?key|credential`)

// accountOf is the account a callback came to; nil when it is configured no more.
func (a *app) accountOf(cb models.Callback) *Account {
	c, err := a.config()
	if err != nil {
		return nil
	}
	account, err := c.account(cb.Account)
	if err != nil {
		return nil
	}
	return account
}

// isSecret says of an account's headers and query parameters which hold a secret.
func isSecret(account *Account) (header, parameter func(name string) bool) {
	if account == nil {
		return soundsSecret.MatchString, soundsSecret.MatchString
	}
	holder, ok := account.Provider.(callback.SecretHolder)
	if !ok {
		none := func(string) bool { return false }
		return none, none
	}
	headers, parameters := holder.Secrets()
	return func(name string) bool {
		return slices.ContainsFunc(headers, func(h string) bool { return strings.EqualFold(h, name) })
	}, func(name string) bool { return slices.Contains(parameters, name) }
}

// masked is a callback as it may be shown: without what the account is sent as a secret. The body stays as it came.
func masked(account *Account, cb models.Callback) models.Callback {
	header, parameter := isSecret(account)
	headers := make(http.Header, len(cb.Headers))
	for name, values := range cb.Headers {
		if header(name) {
			values = []string{maskedValue}
		}
		headers[name] = values
	}
	cb.Headers = headers
	pairs := strings.Split(cb.Query, "&")
	for i, pair := range pairs {
		key, _, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(key); err == nil && parameter(name) {
			pairs[i] = key + "=" + maskedValue
		}
	}
	cb.Query = strings.Join(pairs, "&")
	return cb
}

func maskHeaders(headers http.Header) map[string][]string {
	shown := make(map[string][]string, len(headers))
	for name, values := range headers {
		if slices.Contains(secretHeaders, strings.ToLower(name)) {
			values = []string{maskedValue}
		}
		shown[name] = values
	}
	return shown
}

// mask takes an account's secrets out of what the doctor says of a callback.
func (d *diagnosis) mask(account *Account, cb models.Callback) {
	header, parameter := isSecret(account)
	var secrets []string
	for name, values := range cb.Headers {
		if header(name) || slices.Contains(secretHeaders, strings.ToLower(name)) {
			secrets = append(secrets, values...)
		}
	}
	query, _ := url.ParseQuery(cb.Query) // what can be read of it
	for name, values := range query {
		if parameter(name) {
			secrets = append(secrets, values...)
		}
	}
	for _, secret := range secrets {
		if secret == "" || secret == maskedValue {
			continue
		}
		d.Detail = strings.ReplaceAll(d.Detail, secret, maskedValue)
		for i := range d.Steps {
			s := &d.Steps[i]
			s.Value, s.Detail = strings.ReplaceAll(s.Value, secret, maskedValue), strings.ReplaceAll(s.Detail, secret, maskedValue)
		}
	}
}
