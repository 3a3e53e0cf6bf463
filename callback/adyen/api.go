package adyen

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"paybook/callback/ask"
	"paybook/models"
)

const (
	apiDefault = "https://ca-live.adyen.com"
	apiTest    = "https://ca-test.adyen.com"
)

// reports is what it takes to download reports. There is no API to ask what became of a payment, so this is all.
type reports struct {
	base           *url.URL
	user, password string
	key            string
	first          map[string]int // merchant account → a batch that is closed
}

func (p *Provider) setReports(c Config) (err error) {
	otherwise := apiDefault
	if c.Livemode != nil && !*c.Livemode {
		otherwise = apiTest
	}
	r := reports{user: c.ReportUser, password: c.ReportPassword, key: c.ReportAPIKey, first: c.ReportBatches}
	if r.base, err = ask.Base("api", c.API, otherwise); err != nil {
		return err
	}
	for _, account := range slices.Sorted(maps.Keys(r.first)) {
		switch {
		case !p.merchants[account]:
			return fmt.Errorf("settings.report_batches.%s: not one of settings.merchant_accounts", clip(account))
		case r.first[account] < 1:
			return fmt.Errorf("settings.report_batches.%s: %d; the number of a batch that is closed expected, as its report's name has it", clip(account), r.first[account])
		}
	}
	p.reports = r
	return r.checkSecrets()
}

func (r reports) checkSecrets() error {
	switch {
	case (r.user == "") != (r.password == ""):
		return errors.New("settings.report_user and report_password: one is missing beside the other")
	case r.user != "" && r.key != "":
		return errors.New("settings.report_api_key: given beside report_user; leave one of the two out")
	case strings.Contains(r.user, ":"):
		return errors.New("settings.report_user: holds a colon, which ends a user name on its way") // RFC 7617, section 2
	case strings.ContainsAny(r.key, " \r\n"):
		return errors.New("settings.report_api_key: has a blank or a line break in it")
	}
	return nil
}

// Hosts are where the reports are.
func (p *Provider) Hosts() []string { return ask.Hosts(nil, p.reports.base) }

// canAsk says which setting is missing.
func (r reports) canAsk() error {
	if r.key == "" && r.user == "" {
		return &models.CannotAsk{What: "neither settings.report_user nor report_api_key is set", Next: "give the report user and its password, or the report service user's key"}
	}
	if len(r.first) == 0 {
		return &models.CannotAsk{What: "settings.report_batches is not set",
			Next: `name the merchant accounts, each with the number of a closed batch: {"ExampleShopECOM": 42}`}
	}
	return nil
}

// request asks for a report by its name. Its address is put together here: the one that REPORT_AVAILABLE tells is not signed.
func (r reports) request(ctx context.Context, account, name string) (*http.Request, error) {
	target := r.base.String() + "/reports/download/MerchantAccount/" + url.PathEscape(account) + "/" + name
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: not an address of a report", r.base.Host)
	}
	if r.key != "" {
		req.Header.Set("X-API-Key", r.key)
	} else {
		req.SetBasicAuth(r.user, r.password)
	}
	return req, nil
}
