// Package adyen is everything we know about Adyen: its Standard webhook and its settlement details report.
//
// Facts about formats come from Adyen's documentation (docs.adyen.com: webhooks, dispute webhooks, currency codes, settlement
// details report, payment accounting report) and from the source of its Go library (adyen-go-api-library, src/hmacvalidator).
// The library itself is not used: eight fields and one MAC need no generated client, and it knows one key at a time only.
// The older forms of the webhook (SOAP, form fields) and the platform webhooks, which are signed otherwise, are not spoken.
package adyen

import (
	"encoding/json"
	"time"

	"paybook/callback/parse"
)

// Name is the provider's name in the configuration.
const Name = "adyen"

// Defaults of settings that may be left out.
const (
	defaultAck      = "[accepted]"       // the body Adyen asked for before the status alone counted
	defaultTimeZone = "Europe/Amsterdam" // Adyen's own; an account may be set to another
)

// Config is the settings of one account. Comment, provider and path are allowed for people and tools, and ignored.
type Config struct {
	// HMACKeysHex are the endpoint's HMAC keys, 64 hex digits each. While a key is changed, list both.
	HMACKeysHex []string `json:"hmac_keys_hex"`
	// BasicAuth is what the endpoint is told to send in Authorization. Absent: the header is not looked at.
	BasicAuth *BasicAuth `json:"basic_auth"`
	// MerchantAccounts are the merchant accounts whose events and report rows are ours.
	MerchantAccounts []string `json:"merchant_accounts"`
	// AuthorisedMeansPaid is true where Adyen captures by itself and tells of no capture, so that an authorisation is the payment: one
	// bool for all merchant accounts, or an object of merchant account → bool. Default false: paid on CAPTURE.
	AuthorisedMeansPaid json.RawMessage `json:"authorised_means_paid"`
	// Livemode is what events must say in "live"; the others are kept as test traffic. Absent: not compared.
	Livemode *bool `json:"livemode"`
	// CurrencyDigits overrides how many decimals Adyen's minor unit of a currency stands for: {"CLP": 0}.
	CurrencyDigits map[string]int `json:"currency_digits"`
	// ReportTimezone is the account's time zone, an IANA name. Default Europe/Amsterdam.
	ReportTimezone *string `json:"report_timezone"`
	// TimeZoneLetters says which IANA zone the letters in a report's TimeZone column stand for: {"IST": "Asia/Kolkata"}.
	TimeZoneLetters map[string]string `json:"time_zone_letters"`
	// AckBody is the answer to what was accepted. Default [accepted].
	AckBody *string `json:"ack_body"`
	// ReportUser and ReportPassword are those of the report user, such as report@Company.ExampleShop; ReportAPIKey is the key of a report
	// service user, and takes their place. Absent: reports can't be downloaded.
	ReportUser     string `json:"report_user"`
	ReportPassword string `json:"report_password"`
	ReportAPIKey   string `json:"report_api_key"`
	// ReportBatches are the merchant accounts whose settlement details reports are downloaded, each with the number of a batch that is
	// closed, from which on newer ones are looked for: {"ExampleShopECOM": 42}.
	ReportBatches map[string]int `json:"report_batches"`
	// API is where reports are. Default https://ca-live.adyen.com, or https://ca-test.adyen.com where Livemode is false.
	API string `json:"api"`
}

// BasicAuth is a user and a password, as they were entered at Adyen.
type BasicAuth struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// Provider listens to one Adyen endpoint and reads the reports of its merchant accounts. It does not change after New.
type Provider struct {
	keys      [][]byte
	auth      *credentials // nil: not asked for
	merchants map[string]bool
	paid      map[string]bool // merchant accounts whose authorisations are payments
	livemode  *bool
	digitsOwn map[string]int
	timeZone  string
	letters   map[string]*time.Location // as configured
	common    map[string]*time.Location // what the letters mean to most
	ack       string
	reports   reports
	warnings  []string
}

// New reads the settings of one account. Its error names the setting that is missing, unknown or makes no sense. Nothing
// in these settings is a file, so dir is not used.
func New(settings json.RawMessage, _ string) (*Provider, error) {
	var c Config
	if err := parse.Settings(settings, &c); err != nil {
		return nil, err
	}
	p := &Provider{livemode: c.Livemode}
	for _, set := range []func(Config) error{p.setKeys, p.setAuth, p.setMerchants, p.setPaid, p.setCurrencies, p.setZones, p.setAck, p.setReports} {
		if err := set(c); err != nil {
			return nil, err
		}
	}
	if c.Livemode == nil {
		p.warn("settings.livemode is not set: test events are booked like live ones")
	}
	return p, nil
}

// Name is "adyen".
func (p *Provider) Name() string { return Name }

// Calendar is the account's report zone; its day begins at midnight.
func (p *Provider) Calendar() (zone string, cut time.Duration) { return p.timeZone, 0 }

// Warnings are things about the settings that are allowed but worth a line at start-up. They hold no secret.
func (p *Provider) Warnings() []string { return p.warnings }

func (p *Provider) warn(text string) { p.warnings = append(p.warnings, text) }
