// Package alipay knows Alipay (支付宝) of mainland China: its signed form callbacks (异步通知, RSA2) and its daily bills.
//
// The callback's fields, states, signature and answer are those of Alipay's documents 异步通知 and alipay.trade.refund. Where
// those leave the signed text open, it is made as Alipay's own libraries make it (alipay-easysdk, Signer.java; alipay-sdk-nodejs-all,
// src/alipay.ts): empty values stay in, sign and sign_type stay out. alipay_cert_sn is treated as github.com/smartwalle/alipay does.
// The bills (alipay.data.dataservice.bill.downloadurl.query, bill_type trade and signcustomer) have no public format: columns,
// preamble and closing lines are read off bills that merchants have shown. The test kit in testdata/alipay follows all of it.
package alipay

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"paybook/callback/parse"
)

// Name is the provider's name in the configuration.
const Name = "alipay"

// Config is an account's settings. Files may be relative to the folder New is told. Where a list is allowed, a single text is
// a list of one.
type Config struct {
	// AppID is the application (app_id) whose payments are ours; a list when one seller serves several. With a service provider's
	// application it is the service provider's.
	AppID texts `json:"app_id"`
	// SellerID is the account that is paid, 16 digits that begin with 2088 (PID). Its bills are those of this account.
	SellerID string `json:"seller_id"`
	// SellerEmail is the seller's login. It only counts in a message that names no seller_id.
	SellerEmail *string `json:"seller_email"`
	// AlipayPublicKey names the files with Alipay's public key (not the application's): PEM, or the bare base64 that Alipay hands
	// out. While it changes, list the new and the previous one.
	AlipayPublicKey texts `json:"alipay_public_key"`
	// AlipayCert names the certificates that take the public key's place in certificate mode (alipayCertPublicKey_RSA2.crt). While
	// it changes, list both.
	AlipayCert texts `json:"alipay_cert"`
	// AlipayCertSN are the numbers (alipay_cert_sn) those certificates must have, for a check that the right file lies there.
	AlipayCertSN texts `json:"alipay_cert_sn"`
	// AppPrivateKey signs what we ask of Alipay, as the first application of AppID: a file, or the key itself, PEM or bare base64. Absent:
	// bills can't be downloaded, and trades not be asked about.
	AppPrivateKey string `json:"app_private_key"`
	// AppCert and AlipayRootCert are the application's certificate (appCertPublicKey_….crt) and Alipay's roots (alipayRootCert.crt), files
	// whose numbers are told with each question in certificate mode. Absent: public key mode.
	AppCert        string `json:"app_cert"`
	AlipayRootCert string `json:"alipay_root_cert"`
	// BillType is which bill is downloaded: trade (default), or signcustomer.
	BillType string `json:"bill_type"`
	// API is where to ask. Default https://openapi.alipay.com, and /gateway.do there.
	API string `json:"api"`
	// DownloadHosts are the hosts that bills may be downloaded from beside API's. Default dwbillcenter.alipay.com.
	DownloadHosts []string `json:"download_hosts"`
}

// Provider is one configured account. It is safe for any number of goroutines.
type Provider struct {
	appIDs      []string
	sellerID    string
	sellerEmail string // "": not configured
	keys        []verifyKey
	api         api
	warnings    []string
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
	p := &Provider{appIDs: c.AppID, sellerID: c.SellerID}
	if c.SellerEmail != nil {
		p.sellerEmail = *c.SellerEmail
	}
	p.lookAtIDs()
	if err := p.loadKeys(c, dir); err != nil {
		return nil, err
	}
	var err error
	p.api, err = newAPI(c, dir)
	return p, err
}

func (c Config) check() error {
	if len(c.AppID) == 0 {
		return errors.New("settings.app_id: empty; give the application's number")
	}
	for i, id := range c.AppID {
		if !isID(id) {
			return fmt.Errorf("settings.%s: empty, or no application number", c.AppID.name("app_id", i))
		}
	}
	switch {
	case !isID(c.SellerID):
		return errors.New("settings.seller_id: empty, or no account number; give the 16 digits that begin with 2088")
	case c.SellerEmail != nil && !isID(*c.SellerEmail):
		return errors.New("settings.seller_email: empty, or no login; leave the key out if there is none")
	case len(c.AlipayPublicKey)+len(c.AlipayCert) == 0:
		return errors.New("settings: neither alipay_public_key nor alipay_cert: no signature could be checked")
	case len(c.AlipayCertSN) > 0 && len(c.AlipayCert) == 0:
		return errors.New("settings.alipay_cert_sn: given without alipay_cert")
	}
	return nil
}

var (
	appIDShape  = regexp.MustCompile(`^20\d{14}$`)
	accountID   = regexp.MustCompile(`^2088\d{12}$`)
	warnLooksAs = "settings.%s: %q does not look like one (%s); every message with another number will be refused"
)

// lookAtIDs warns of the two numbers changed for each other, and of others that are none.
func (p *Provider) lookAtIDs() {
	for _, id := range p.appIDs {
		if !appIDShape.MatchString(id) || accountID.MatchString(id) {
			p.warnings = append(p.warnings, fmt.Sprintf(warnLooksAs, "app_id", clip(id), "16 digits, the year first"))
		}
	}
	if !accountID.MatchString(p.sellerID) {
		p.warnings = append(p.warnings, fmt.Sprintf(warnLooksAs, "seller_id", clip(p.sellerID), "16 digits, 2088 first"))
	}
}

// Name is Name, as a method for the two halves' interfaces.
func (p *Provider) Name() string { return Name }

// Calendar is Beijing's calendar day.
func (p *Provider) Calendar() (zone string, cut time.Duration) { return "Asia/Shanghai", 0 }

// Warnings are things about the settings that are allowed but worth a line at start-up. They hold no secret.
func (p *Provider) Warnings() []string { return p.warnings }

// Expiries is when each certificate ends (UTC), by its alipay_cert_sn. Public keys have no end and are not in it.
func (p *Provider) Expiries() map[string]time.Time {
	out := map[string]time.Time{}
	for _, k := range p.keys {
		if k.sn != "" {
			out[k.sn] = k.notAfter
		}
	}
	return out
}
