// Package wechatpay knows WeChat Pay (微信支付) APIv3: its encrypted, signed callbacks and its daily bills. The XML interface
// of version 2 is not spoken.
package wechatpay

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"paybook/callback/parse"
)

// Name is the provider's name in the configuration.
const Name = "wechatpay"

// toleranceDefault is WeChat Pay's own rule: a callback signed five minutes ago or more is refused.
const toleranceDefault = 300

// apiKeyLen is fixed by the provider: the APIv3 key's characters are the AES-256 key.
const apiKeyLen = 32

// Config is an account's settings. Files may be relative to the folder New is told.
type Config struct {
	// MchID is the merchant number; in service-provider mode the service provider's (sp_mchid).
	MchID string `json:"mchid"`
	// AppID and AppIDs are the apps whose payments are ours; in service-provider mode the service provider's (sp_appid). One
	// merchant number can serve several apps.
	AppID  string   `json:"appid"`
	AppIDs []string `json:"appids"`
	// SubMchIDs turns service-provider mode on and lists the merchants served (sub_mchid).
	SubMchIDs []string `json:"sub_mchids"`
	// APIv3Key is the 32 characters that callbacks are encrypted with.
	APIv3Key string `json:"api_v3_key"`
	// PlatformCerts: certificate serial (40 upper-case hex digits, leading zeros kept) → PEM file.
	PlatformCerts map[string]string `json:"platform_certs"`
	// PublicKeys: key id (PUB_KEY_ID_…) → PEM file. While a merchant moves from certificates to the public key the provider
	// signs with either, so both may be set.
	PublicKeys map[string]string `json:"public_keys"`
	// ToleranceSeconds is how far Wechatpay-Timestamp may be from the time of receipt; exactly so far is refused. 1 to 86400;
	// default 300.
	ToleranceSeconds *int `json:"timestamp_tolerance_seconds"`
	// MerchantPrivateKey signs what we ask of WeChat Pay (apiclient_key.pem): a file, or the PEM itself. Absent: bills can't be
	// downloaded, and orders not be asked about.
	MerchantPrivateKey string `json:"merchant_private_key"`
	// MerchantSerial is the serial of the merchant's API certificate, to which that key belongs: 40 hex digits.
	MerchantSerial string `json:"merchant_serial"`
	// API is where to ask. Default https://api.mch.weixin.qq.com.
	API string `json:"api"`
	// DownloadHosts are further hosts that bills may be downloaded from. Default: none but API's.
	DownloadHosts []string `json:"download_hosts"`
}

// Provider is one configured account. It is safe for any number of goroutines.
type Provider struct {
	mchID     string
	appIDs    []string
	subMchIDs []string // not empty: service-provider mode
	resource  cipher.AEAD
	keys      map[string]verifyKey // by what Wechatpay-Serial may say
	tolerance time.Duration
	api       api
	warnings  []string
}

// New reads an account's settings; paths in them are relative to dir. The error names the setting.
func New(settings json.RawMessage, dir string) (*Provider, error) {
	var c Config
	if err := parse.Settings(settings, &c); err != nil {
		return nil, err
	}
	p := &Provider{mchID: c.MchID, subMchIDs: c.SubMchIDs, keys: map[string]verifyKey{}}
	if c.AppID != "" {
		p.appIDs = append(p.appIDs, c.AppID)
	}
	p.appIDs = append(p.appIDs, c.AppIDs...)
	if err := c.check(p.appIDs); err != nil {
		return nil, err
	}
	p.tolerance = toleranceDefault * time.Second
	if c.ToleranceSeconds != nil {
		p.tolerance = time.Duration(*c.ToleranceSeconds) * time.Second
	}
	if err := p.loadKeys(c, dir); err != nil {
		return nil, err
	}
	var err error
	if p.api, err = newAPI(c, dir); err != nil {
		return nil, err
	}
	p.warn(c)
	block, err := aes.NewCipher([]byte(c.APIv3Key))
	if err != nil {
		return nil, fmt.Errorf("settings.api_v3_key: %w", err)
	}
	p.resource, err = cipher.NewGCM(block)
	return p, err
}

func (c Config) check(appIDs []string) error {
	switch {
	case !isID(c.MchID):
		return errors.New("settings.mchid: empty, or no merchant number")
	case len(appIDs) == 0 || !all(appIDs, isID):
		return errors.New("settings.appid: empty; name the app, or the apps in appids")
	case !all(c.SubMchIDs, isID):
		return errors.New("settings.sub_mchids: holds an empty entry")
	case !parse.Visible(c.APIv3Key):
		return errors.New("settings.api_v3_key: empty")
	case len(c.APIv3Key) != apiKeyLen:
		return fmt.Errorf("settings.api_v3_key: %d bytes, an APIv3 key has %d", len(c.APIv3Key), apiKeyLen)
	case len(c.PlatformCerts)+len(c.PublicKeys) == 0:
		return errors.New("settings: neither platform_certs nor public_keys: no signature could be checked")
	case c.ToleranceSeconds != nil && (*c.ToleranceSeconds < 1 || *c.ToleranceSeconds > parse.ToleranceMax):
		return fmt.Errorf("settings.timestamp_tolerance_seconds: %d, expected 1 to %d", *c.ToleranceSeconds, parse.ToleranceMax)
	}
	return nil
}

// warn notes what is allowed and one-sided. A merchant that has only the public key lacks nothing: new ones get no certificate.
func (p *Provider) warn(c Config) {
	if len(c.PublicKeys) == 0 {
		p.warnings = append(p.warnings, "settings.public_keys: empty; WeChat Pay is moving merchants from platform certificates to its public key, "+
			"and each callback signed with that would be refused: add the key under its id ("+publicKeyPrefix+"…)")
	}
	if p.tolerance > toleranceDefault*time.Second {
		p.warnings = append(p.warnings, fmt.Sprintf("settings.timestamp_tolerance_seconds: a copied callback stays good for %s; WeChat Pay's own rule is %d s",
			p.tolerance, toleranceDefault))
	}
}

// Warnings are things about the settings that are allowed but worth a line at start-up. They hold no secret.
func (p *Provider) Warnings() []string { return p.warnings }

func all(list []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !ok(s) })
}

// Name is Name, as a method for the two halves' interfaces.
func (p *Provider) Name() string { return Name }

// Calendar is Beijing's calendar day.
func (p *Provider) Calendar() (zone string, cut time.Duration) { return "Asia/Shanghai", 0 }

// Expiries is when each platform certificate ends, by serial. Public keys have no end and are not in it.
func (p *Provider) Expiries() map[string]time.Time {
	out := map[string]time.Time{}
	for serial, k := range p.keys {
		if !k.notAfter.IsZero() {
			out[serial] = k.notAfter
		}
	}
	return out
}
