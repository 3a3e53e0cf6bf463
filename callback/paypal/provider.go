// Package paypal knows PayPal: its signed webhooks and its settlement and transaction detail reports. The old IPN, a form
// that is sent back to be checked, is another product and not spoken.
//
// Facts about formats come from PayPal's documentation (developer.paypal.com: webhooks, event names, reports) and its API
// descriptions. Signatures are checked here, offline: asking PayPal (verify-webhook-signature) needs credentials and the
// network for each callback, and libraries that do it change some bodies on the way.
package paypal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
)

// Name is the provider's name in the configuration.
const Name = "paypal"

// Defaults of settings that may be left out.
const (
	nameDefault     = "messageverificationcerts.paypal.com"
	maxAgeDefault   = 4 * 24 * 60 * 60 // seconds: PayPal tries for three days and promises no new time for a retry
	timeZoneDefault = "America/Los_Angeles"
)

// simulatorID is the webhook id of every event that PayPal's webhook simulator sends, to whatever address it is told.
const simulatorID = "WEBHOOK_ID"

// maxAgeMax is the widest max_age_seconds: thirty days. Beyond it, most likely a misplaced zero, the age protects against nothing.
const maxAgeMax = 30 * 24 * 60 * 60

// certHostsDefault are the hosts PayPal serves its certificates from.
var certHostsDefault = []string{"api.paypal.com", "api.sandbox.paypal.com", "api-m.paypal.com", "api-m.sandbox.paypal.com"}

// Config is an account's settings. Files are relative to the folder New is told.
type Config struct {
	// WebhookIDs are the ids of our subscriptions: what a message is signed for, and not told by it. A webhook that is made
	// anew has a new id, so list both for a while.
	WebhookIDs []string `json:"webhook_ids"`
	// AllowedCertHosts are the only hosts a certificate is taken from. Default: PayPal's four.
	AllowedCertHosts []string `json:"allowed_cert_hosts"`
	// CertificateCommonName is the name the signing certificate must carry. Default messageverificationcerts.paypal.com.
	CertificateCommonName *string `json:"certificate_common_name"`
	// TrustedRoots are PEM files of the authorities to trust. Absent: those of the system.
	TrustedRoots []string `json:"trusted_roots"`
	// CertificateCache is a JSON file, certificate URL → PEM file beside it: such a certificate is not downloaded, but checked
	// like any other. Absent, or for other URLs: downloaded once and kept in memory.
	CertificateCache *string `json:"certificate_cache"`
	// MaxAgeSeconds is how old a transmission may be at receipt, 1 to 2592000. Default 345600, four days.
	MaxAgeSeconds *int64 `json:"max_age_seconds"`
	// ReportTimezone is the zone of the account's reports, an IANA name. Default America/Los_Angeles.
	ReportTimezone *string `json:"report_timezone"`
	// OrderIDField is where the shop puts its order number: invoice_id (default) or custom_id.
	OrderIDField *string `json:"order_id_field"`
	// MerchantIDs are the PayPal accounts whose messages and reports are ours. Absent: not compared.
	MerchantIDs []string `json:"merchant_ids"`
	// BalanceReport names the columns of the balance report, which everybody orders with columns of his own, in the words of the
	// provider that is made by configuration (statement). Absent: such a report is recognised, not compared.
	BalanceReport json.RawMessage `json:"balance_report"`
	// Livemode is what messages must be; those of the other mode are kept as test traffic. Absent: not compared.
	Livemode *bool `json:"livemode"`
	// ClientID and ClientSecret are the REST app's. Absent: payments can't be asked about. Reports come by SFTP and need none.
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	// API is where to ask. Default https://api-m.paypal.com, or https://api-m.sandbox.paypal.com where Livemode is false.
	API string `json:"api"`
}

// Provider is one configured account. It is safe for any number of goroutines.
type Provider struct {
	webhookIDs  []string
	certHosts   []string
	commonName  string
	trust       trust
	downloads   *downloads
	maxAge      time.Duration
	timeZone    string
	orderField  orderField
	merchantIDs []string
	livemode    *bool
	balance     *balance // nil: not compared
	api         *api
}

// New reads an account's settings; paths in them are relative to dir. The error names the setting.
func New(settings json.RawMessage, dir string) (*Provider, error) {
	var c Config
	if err := parse.Settings(settings, &c); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Provider{
		webhookIDs: c.WebhookIDs, certHosts: c.AllowedCertHosts, commonName: or(c.CertificateCommonName, nameDefault),
		downloads: newDownloads(internet()), maxAge: time.Duration(or(c.MaxAgeSeconds, maxAgeDefault)) * time.Second,
		timeZone: or(c.ReportTimezone, timeZoneDefault), orderField: orderFields[or(c.OrderIDField, orderFieldDefault)],
		merchantIDs: c.MerchantIDs, livemode: c.Livemode,
	}
	if p.certHosts == nil {
		p.certHosts = certHostsDefault
	}
	var err error
	if p.trust, err = loadTrust(c, dir); err != nil {
		return nil, err
	}
	if p.balance, err = readBalance(c.BalanceReport); err != nil {
		return nil, err
	}
	p.api, err = newAPI(c)
	return p, err
}

// check refuses everything that could open the door, or keep it shut without anybody knowing why.
func (c Config) check() error {
	switch {
	case len(c.WebhookIDs) == 0:
		return errors.New("settings.webhook_ids: empty; give the id of the webhook as the developer dashboard shows it")
	case c.AllowedCertHosts != nil && len(c.AllowedCertHosts) == 0:
		return errors.New("settings.allowed_cert_hosts: empty; leave it out for PayPal's own hosts")
	case c.TrustedRoots != nil && len(c.TrustedRoots) == 0:
		return errors.New("settings.trusted_roots: empty; leave it out for the system's authorities")
	case c.MerchantIDs != nil && len(c.MerchantIDs) == 0:
		return errors.New("settings.merchant_ids: empty; leave it out to compare none")
	case c.CertificateCommonName != nil && !isID(*c.CertificateCommonName):
		return errors.New("settings.certificate_common_name: empty, or no name")
	case c.OrderIDField != nil && orderFields[*c.OrderIDField].v2 == "":
		return fmt.Errorf("settings.order_id_field: %q; invoice_id or custom_id expected", clip(*c.OrderIDField))
	}
	for name, list := range map[string][]string{"webhook_ids": c.WebhookIDs, "merchant_ids": c.MerchantIDs} {
		if i := slices.IndexFunc(list, func(id string) bool { return !isID(id) || strings.ContainsAny(id, "| \t") }); i >= 0 {
			return fmt.Errorf("settings.%s[%d]: empty, or no id", name, i)
		}
	}
	if i := slices.IndexFunc(c.AllowedCertHosts, func(h string) bool { return !isHost(h) }); i >= 0 {
		return fmt.Errorf("settings.allowed_cert_hosts[%d]: a host name in lower case expected, such as api.paypal.com, without port or path", i)
	}
	if age := or(c.MaxAgeSeconds, maxAgeDefault); age < 1 || age > maxAgeMax {
		return fmt.Errorf("settings.max_age_seconds: %d, expected 1 to %d", age, maxAgeMax)
	}
	return checkZone(or(c.ReportTimezone, timeZoneDefault))
}

func checkZone(name string) error {
	if name == "" || name == "Local" { // time.LoadLocation takes both, and means this machine
		return fmt.Errorf("settings.report_timezone: %q; an IANA name such as America/Los_Angeles expected", name)
	}
	if _, err := time.LoadLocation(name); err != nil {
		return fmt.Errorf("settings.report_timezone: %w", err)
	}
	return nil
}

func or[T any](given *T, otherwise T) T { return *cmp.Or(given, &otherwise) }

// Name is Name, as a method for the two halves' interfaces.
func (p *Provider) Name() string { return Name }

// Calendar is the zone of the account's reports; their day begins at midnight.
func (p *Provider) Calendar() (zone string, cut time.Duration) { return p.timeZone, 0 }

// Warnings are things about the settings that are allowed but worth a line at start-up.
func (p *Provider) Warnings() []string {
	var list []string
	if p.livemode == nil {
		list = append(list, "settings.livemode is not set: messages of the sandbox are booked like live ones")
	}
	if slices.Contains(p.webhookIDs, simulatorID) {
		list = append(list, "settings.webhook_ids: "+simulatorID+" is what the simulator signs for: anybody can send made-up events with it")
	}
	if p.balance != nil && !p.balance.HasFooter() {
		list = append(list, balanceSetting+".footer is not set: a balance report that was cut between two rows cannot be told from a whole one")
	}
	return list
}

// Expiries is when each certificate that was given as a file ends, by its file.
func (p *Provider) Expiries() map[string]time.Time { return p.trust.expiries }
