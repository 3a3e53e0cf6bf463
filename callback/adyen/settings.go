package adyen

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// keyLen is the length of an HMAC key in bytes; the Customer Area shows it as 64 hex digits.
const keyLen = 32

// setKeys refuses everything that could open the door. A key of zeros is one: HMAC fills up with zeros, so that it signs like
// no key at all.
func (p *Provider) setKeys(c Config) error {
	if len(c.HMACKeysHex) == 0 {
		return errors.New("settings.hmac_keys_hex: empty; give the endpoint's HMAC key (64 hex digits)")
	}
	for i, text := range c.HMACKeysHex {
		name := fmt.Sprintf("settings.hmac_keys_hex[%d]", i)
		if !parse.Visible(text) {
			return fmt.Errorf("%s: empty", name)
		}
		key, err := hex.DecodeString(text)
		switch {
		case err != nil:
			return fmt.Errorf("%s: not hex; give the HMAC key as the Customer Area shows it, 64 hex digits", name)
		case len(key) != keyLen:
			return fmt.Errorf("%s: %d bytes, an HMAC key has %d (64 hex digits)", name, len(key), keyLen)
		case bytes.Count(key, []byte{0}) == keyLen:
			return fmt.Errorf("%s: nothing but zeros", name)
		}
		p.keys = append(p.keys, key)
	}
	return nil
}

func (p *Provider) setAuth(c Config) error {
	switch {
	case c.BasicAuth == nil:
		return nil
	case !parse.Visible(c.BasicAuth.Username):
		return errors.New("settings.basic_auth.username: empty")
	case !parse.Visible(c.BasicAuth.Password):
		return errors.New("settings.basic_auth.password: empty")
	case strings.Contains(c.BasicAuth.Username, ":"):
		return errors.New("settings.basic_auth.username: holds a colon, which ends a user name on its way") // RFC 7617, section 2
	}
	p.auth = newCredentials(*c.BasicAuth)
	return nil
}

func (p *Provider) setMerchants(c Config) error {
	if len(c.MerchantAccounts) == 0 {
		return errors.New("settings.merchant_accounts: empty; name the merchant accounts whose events are ours")
	}
	p.merchants = map[string]bool{}
	for i, account := range c.MerchantAccounts {
		switch {
		case !parse.Visible(account):
			return fmt.Errorf("settings.merchant_accounts[%d]: empty", i)
		case strings.TrimSpace(account) != account:
			return fmt.Errorf("settings.merchant_accounts[%d]: has blanks or a line break around it", i)
		}
		p.merchants[account] = true
	}
	return nil
}

// setPaid takes one answer for all merchant accounts, or one for each.
func (p *Provider) setPaid(c Config) error {
	const name = "settings.authorised_means_paid"
	p.paid = map[string]bool{}
	if c.AuthorisedMeansPaid == nil {
		return nil
	}
	var all *bool
	if json.Unmarshal(c.AuthorisedMeansPaid, &all) == nil && all != nil {
		for account := range p.merchants {
			p.paid[account] = *all
		}
		return nil
	}
	var each map[string]*bool
	if json.Unmarshal(c.AuthorisedMeansPaid, &each) != nil || each == nil {
		return errors.New(name + ": true, false, or an object of merchant account and true or false expected")
	}
	for _, account := range slices.Sorted(maps.Keys(each)) {
		switch {
		case !p.merchants[account]:
			return fmt.Errorf("%s.%s: not one of settings.merchant_accounts", name, clip(account))
		case each[account] == nil:
			return fmt.Errorf("%s.%s: true or false expected", name, clip(account))
		}
		p.paid[account] = *each[account]
	}
	return nil
}

func (p *Provider) setCurrencies(c Config) error {
	p.digitsOwn = map[string]int{}
	for _, code := range slices.Sorted(maps.Keys(c.CurrencyDigits)) {
		cur, err := models.ParseCurrency(code)
		if err != nil {
			return fmt.Errorf("settings.currency_digits: %w", err)
		}
		digits := c.CurrencyDigits[code]
		if digits < 0 || digits > 4 {
			return fmt.Errorf("settings.currency_digits.%s: %d; 0 to 4 expected", code, digits)
		}
		p.digitsOwn[cur] = digits
	}
	return nil
}

func (p *Provider) setZones(c Config) error {
	p.timeZone, p.letters, p.common = defaultTimeZone, map[string]*time.Location{}, map[string]*time.Location{}
	if c.ReportTimezone != nil {
		p.timeZone = *c.ReportTimezone
	}
	if _, err := location(p.timeZone); err != nil {
		return fmt.Errorf("settings.report_timezone: %w", err)
	}
	for letters, name := range commonLetters {
		zone, err := location(name)
		if err != nil {
			return err // this machine has no time zones
		}
		p.common[letters] = zone
	}
	for _, letters := range slices.Sorted(maps.Keys(c.TimeZoneLetters)) {
		zone, err := location(c.TimeZoneLetters[letters])
		switch {
		case !parse.Visible(letters):
			return errors.New("settings.time_zone_letters: an empty key; the letters of a TimeZone column expected")
		case err != nil:
			return fmt.Errorf("settings.time_zone_letters.%s: %w", clip(letters), err)
		}
		p.letters[letters] = zone
	}
	return nil
}

// location is time.LoadLocation without the names that mean this machine.
func location(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%q; an IANA name such as Europe/Amsterdam expected", name)
	}
	return time.LoadLocation(name)
}

func (p *Provider) setAck(c Config) error {
	p.ack = defaultAck
	if c.AckBody == nil {
		return nil
	}
	if !parse.Visible(*c.AckBody) {
		return errors.New("settings.ack_body: empty; leave it out for " + defaultAck)
	}
	if p.ack = *c.AckBody; p.ack != defaultAck {
		p.warn("settings.ack_body is not " + defaultAck + ": endpoints of the older kind take no other answer")
	}
	return nil
}
