// Package stripe is everything we know about Stripe: how it calls back and how to read its reports.
//
// Facts about formats come from Stripe's documentation (docs.stripe.com: webhooks, currencies, reports) and from the source
// of its Go library (github.com/stripe/stripe-go, webhook/client.go, balancetransaction.go). The library itself is not used:
// it reads the wall clock, lets signatures from the future pass, and refuses genuine events of another API version.
package stripe

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Name is the provider's name in the configuration.
const Name = "stripe"

// Defaults of settings that may be left out.
const (
	defaultTolerance   = 300 // seconds; Stripe's own libraries use the same
	defaultMetadataKey = "order_id"
	defaultTimeZone    = "Etc/UTC" // what a report run uses when it is not told a zone
)

// Config is the settings of one account. Comment, provider and path are allowed for people and tools, and ignored.
type Config struct {
	// SigningSecrets are the endpoint's secrets, whole, with their whsec_ prefix. While a secret is rolled, list both.
	SigningSecrets []string `json:"signing_secrets"`
	// ToleranceSeconds is how old a signature may be at receipt, 1 to 86400. Default 300.
	ToleranceSeconds *int64 `json:"tolerance_seconds"`
	// FutureToleranceSeconds is how far ahead of our clock it may be, 0 (not at all) to 86400. Default: as ToleranceSeconds.
	FutureToleranceSeconds *int64 `json:"future_tolerance_seconds"`
	// OrderIDMetadataKey is the metadata key under which the shop puts its order number. Default order_id.
	OrderIDMetadataKey *string `json:"order_id_metadata_key"`
	// ReportTimezone is the zone of the account's reports, an IANA name. Default Etc/UTC.
	ReportTimezone *string `json:"report_timezone"`
	// Livemode is what events must say; the others are kept as test traffic. Absent: not compared.
	Livemode *bool `json:"livemode"`
	// CurrencyDigits overrides how many decimals Stripe's minor unit of a currency stands for: {"UGX": 0}.
	CurrencyDigits map[string]int `json:"currency_digits"`
	// Accounts are the connected accounts (acct_…) whose events are ours as well. Absent: none.
	Accounts []string `json:"accounts"`
	// SecretKey is the API key, or better a restricted one that may read payments and refunds and make reports. Absent: reports can't be
	// downloaded, and payments not be asked about.
	SecretKey string `json:"secret_key"`
	// ReportTypes are the reports of a day that are downloaded. Default: balance_change_from_activity.itemized.7.
	ReportTypes []string `json:"report_types"`
	// API is where to ask. Default https://api.stripe.com.
	API string `json:"api"`
	// DownloadHosts are the hosts that reports may be downloaded from beside API's; they are told the key. Default files.stripe.com.
	DownloadHosts []string `json:"download_hosts"`
}

// Provider listens to one Stripe endpoint and reads the reports of its account. It does not change after New.
type Provider struct {
	secrets         [][]byte
	tolerance       int64 // seconds
	toleranceFuture int64 // seconds
	metadataKey     string
	timeZone        string
	livemode        *bool
	digitsOwn       map[string]int
	accounts        map[string]bool
	api             api
	warnings        []string
}

// New reads the settings of one account. Its error names the setting that is missing, unknown or makes no sense. Nothing
// in these settings is a file, so dir is not used.
func New(settings json.RawMessage, _ string) (*Provider, error) {
	var c Config
	if err := parse.Settings(settings, &c); err != nil {
		return nil, err
	}
	p := &Provider{livemode: c.Livemode}
	for _, set := range []func(Config) error{p.setSecrets, p.setTolerance, p.setNames, p.setCurrencies, p.setAccounts, p.setAPI} {
		if err := set(c); err != nil {
			return nil, err
		}
	}
	if c.Livemode == nil {
		p.warn("settings.livemode is not set: test events are booked like live ones")
	}
	return p, nil
}

// Name is "stripe".
func (p *Provider) Name() string { return Name }

// Calendar is the report zone; Stripe's day begins at midnight.
func (p *Provider) Calendar() (zone string, cut time.Duration) { return p.timeZone, 0 }

// Warnings are things about the settings that are allowed but worth a line at start-up. They hold no secret.
func (p *Provider) Warnings() []string { return p.warnings }

func (p *Provider) warn(text string) { p.warnings = append(p.warnings, text) }

// secretPrefix begins every signing secret, and says nothing that a stranger does not know.
const secretPrefix = "whsec_"

// secretShort is far below what Stripe gives out, whsec_ and 32 characters: a secret of one or two is a slip that anybody can guess.
const secretShort = len(secretPrefix) + 3

// setSecrets refuses everything that could open the door: an empty key verifies what anybody signs with nothing.
func (p *Provider) setSecrets(c Config) error {
	if len(c.SigningSecrets) == 0 {
		return errors.New("settings.signing_secrets: empty; give the endpoint's signing secret (whsec_…)")
	}
	for i, secret := range c.SigningSecrets {
		name := fmt.Sprintf("settings.signing_secrets[%d]", i)
		switch {
		case !parse.Visible(secret):
			return fmt.Errorf("%s: empty", name)
		case !parse.Visible(strings.TrimPrefix(secret, secretPrefix)):
			return fmt.Errorf("%s: nothing but its prefix; give the whole signing secret (whsec_…)", name)
		case strings.TrimSpace(secret) != secret:
			return fmt.Errorf("%s: has blanks or a line break around it", name)
		case strings.HasPrefix(secret, "sk_"), strings.HasPrefix(secret, "rk_"), strings.HasPrefix(secret, "pk_"):
			return fmt.Errorf("%s: an API key; give the endpoint's signing secret (whsec_…)", name)
		case slices.Contains(c.SigningSecrets[:i], secret):
			p.warn(name + " is given before: while a secret is rolled, list the old one and the new one")
		case !strings.HasPrefix(secret, secretPrefix):
			p.warn(name + " does not begin with whsec_: is it the whole secret?")
		case len(secret) < secretShort:
			p.warn(name + " is short enough to be guessed: is it the whole secret?")
		}
		p.secrets = append(p.secrets, []byte(secret))
	}
	return nil
}

func (p *Provider) setTolerance(c Config) error {
	p.tolerance = defaultTolerance
	if c.ToleranceSeconds != nil {
		p.tolerance = *c.ToleranceSeconds
	}
	p.toleranceFuture = p.tolerance
	if c.FutureToleranceSeconds != nil {
		p.toleranceFuture = *c.FutureToleranceSeconds
	}
	if p.tolerance < 1 || p.tolerance > parse.ToleranceMax {
		return fmt.Errorf("settings.tolerance_seconds: %d, expected 1 to %d", p.tolerance, parse.ToleranceMax)
	}
	if p.toleranceFuture < 0 || p.toleranceFuture > parse.ToleranceMax {
		return fmt.Errorf("settings.future_tolerance_seconds: %d, expected 0 to %d", p.toleranceFuture, parse.ToleranceMax)
	}
	if p.tolerance > defaultTolerance || p.toleranceFuture > defaultTolerance {
		p.warn(fmt.Sprintf("settings.tolerance_seconds: a copied callback stays good for %d s; Stripe's own libraries allow %d",
			max(p.tolerance, p.toleranceFuture), defaultTolerance))
	}
	return nil
}

func (p *Provider) setNames(c Config) error {
	p.metadataKey, p.timeZone = defaultMetadataKey, defaultTimeZone
	if c.OrderIDMetadataKey != nil {
		p.metadataKey = *c.OrderIDMetadataKey
	}
	if strings.TrimSpace(p.metadataKey) == "" {
		return errors.New("settings.order_id_metadata_key: empty")
	}
	if c.ReportTimezone != nil {
		p.timeZone = *c.ReportTimezone
	}
	if p.timeZone == "" || p.timeZone == "Local" { // time.LoadLocation takes both, and means this machine
		return fmt.Errorf("settings.report_timezone: %q; an IANA name such as Etc/UTC expected", p.timeZone)
	}
	if _, err := time.LoadLocation(p.timeZone); err != nil {
		return fmt.Errorf("settings.report_timezone: %w", err)
	}
	return nil
}

func (p *Provider) setCurrencies(c Config) error {
	p.digitsOwn = map[string]int{}
	for code, digits := range c.CurrencyDigits {
		cur, err := models.ParseCurrency(code)
		if err != nil {
			return fmt.Errorf("settings.currency_digits: %w", err)
		}
		if digits < 0 || digits > 4 {
			return fmt.Errorf("settings.currency_digits.%s: %d; 0 to 4 expected", code, digits)
		}
		p.digitsOwn[cur] = digits
	}
	return nil
}

func (p *Provider) setAccounts(c Config) error {
	p.accounts = map[string]bool{}
	for i, account := range c.Accounts {
		if strings.TrimSpace(account) == "" {
			return fmt.Errorf("settings.accounts[%d]: empty", i)
		}
		if !strings.HasPrefix(account, "acct_") {
			p.warn(fmt.Sprintf("settings.accounts[%d] does not begin with acct_: no event will name it so", i))
		}
		p.accounts[account] = true
	}
	return nil
}
