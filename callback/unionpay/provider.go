// Package unionpay knows UnionPay's all-channel payments (银联全渠道, ACP 5.1.0): its signed back-end notifications, the
// fixed-width files of its settlement days, and the signed answer in which such files come. ChinaPay and UMS are others.
package unionpay

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
)

// Name is the provider's name in the configuration.
const Name = "unionpay"

// dayCut is when UnionPay's settlement day begins: at 23:00 Beijing time of the evening before.
const dayCut = -time.Hour

// Config is an account's settings. Files may be relative to the folder New is told.
type Config struct {
	// MerID is our merchant number (商户代码).
	MerID string `json:"merId"`
	// RootCert and MiddleCert are files (PEM, or DER) with the certificates that UnionPay's signing certificates descend from:
	// acp_prod_root.cer and acp_prod_middle.cer. While an authority changes, a PEM file may hold the old and the new one.
	RootCert   string `json:"root_cert"`
	MiddleCert string `json:"middle_cert"`
	// AcceptedCNPart is what must stand between the second and the third @ of the signing certificate's common name. The
	// authority gives certificates to merchants too, so this is what tells UnionPay from any of them. Default: its company name.
	AcceptedCNPart string `json:"accepted_cn_part"`
	// AcceptedCNPartInTest is accepted as well when TestEnvironment is on. Default: 00040000:SIGN.
	AcceptedCNPartInTest string `json:"accepted_cn_part_in_test_environment"`
	// TestEnvironment is for accounts of UnionPay's test environment. Default: off.
	TestEnvironment bool `json:"test_environment"`
	// SignKey signs what we ask of UnionPay: a file, or the PEM itself. UnionPay hands it out inside a .pfx:
	// openssl pkcs12 -in acp_sign.pfx -nodes -nocerts. Absent: files can't be downloaded, and payments not be asked about.
	SignKey string `json:"sign_key"`
	// SignCert is the file of the certificate that belongs to SignKey; its number is told with each question.
	SignCert string `json:"sign_cert"`
	// API and FileAPI are where to ask about payments, and for files. Default: UnionPay's own, those of its test environment where
	// TestEnvironment is on; FileAPI is API where that alone is given.
	API     string `json:"api"`
	FileAPI string `json:"file_api"`
}

// Provider is one configured account. It is safe for any number of goroutines.
type Provider struct {
	merID     string
	cnParts   []string
	authority authority
	api       api
	warnings  []string
}

// New reads an account's settings; paths in them are relative to dir. The error names the setting.
func New(settings json.RawMessage, dir string) (*Provider, error) {
	c := Config{AcceptedCNPart: "中国银联股份有限公司", AcceptedCNPartInTest: "00040000:SIGN"}
	if err := parse.Settings(settings, &c); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Provider{merID: c.MerID, cnParts: []string{c.AcceptedCNPart}}
	if c.TestEnvironment {
		p.cnParts = append(p.cnParts, c.AcceptedCNPartInTest)
		p.warnings = append(p.warnings, "settings.test_environment is on: what UnionPay's test environment signs is booked like live money")
	}
	if !isMerID(c.MerID) {
		p.warnings = append(p.warnings, fmt.Sprintf("settings.merId: %q is not 15 digits, as UnionPay's merchant numbers are: is it complete?", clip(c.MerID)))
	}
	var err error
	if p.authority, err = loadAuthority(c, dir); err != nil {
		return nil, err
	}
	p.api, err = newAPI(c, dir)
	return p, err
}

func (c Config) check() error {
	switch {
	case !isID(c.MerID):
		return errors.New("settings.merId: empty, or no merchant number")
	case !isCNPart(c.AcceptedCNPart):
		return fmt.Errorf("settings.accepted_cn_part: %s", cnPartWrong)
	case !isCNPart(c.AcceptedCNPartInTest):
		return fmt.Errorf("settings.accepted_cn_part_in_test_environment: %s", cnPartWrong)
	}
	return nil
}

// isMerID: 15 digits. What acquirers give out elsewhere may hold letters, so another number is no error.
func isMerID(s string) bool {
	return len(s) == 15 && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

const cnPartWrong = "empty, or holds an @: a name without the part would then be accepted, or none at all"

func isCNPart(s string) bool { return parse.Visible(s) && !strings.Contains(s, "@") }

// Name is Name, as a method for the two halves' interfaces.
func (p *Provider) Name() string { return Name }

// Calendar is the settlement day: Beijing's, from 23:00 of the evening before.
func (p *Provider) Calendar() (zone string, cut time.Duration) { return "Asia/Shanghai", dayCut }

// Expiries is when each configured certificate ends, by its setting and serial. The signing certificate comes with each message.
func (p *Provider) Expiries() map[string]time.Time {
	out := map[string]time.Time{}
	add := func(setting string, certs []*x509.Certificate) {
		for _, c := range certs {
			out[fmt.Sprintf("%s %X", setting, c.SerialNumber)] = c.NotAfter.UTC()
		}
	}
	add("root_cert", p.authority.roots)
	add("middle_cert", p.authority.middles)
	return out
}

// Warnings are settings that work but protect less, for the start-up and the doctor to say.
func (p *Provider) Warnings() []string { return slices.Clone(p.warnings) }
