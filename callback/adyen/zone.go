package adyen

import (
	"time"

	"paybook/callback/parse"
)

// commonLetters are the letters that reports are known to print, for the zones Adyen offers first. Letters are not unique in
// the world (CST, IST): settings.time_zone_letters adds others and has the last word about these.
var commonLetters = map[string]string{
	"CET": "Europe/Amsterdam", "CEST": "Europe/Amsterdam",
	"GMT": "Europe/London", "BST": "Europe/London",
	"PST": "America/Los_Angeles", "PDT": "America/Los_Angeles",
	"EST": "America/New_York", "EDT": "America/New_York",
	"UTC": "UTC",
}

// rowTime is a column of local time as UTC. The letters beside it name a zone, not an offset: Adyen's own sample has CET in June.
func (p *Provider) rowTime(t *parse.Table, column string, account *time.Location) (time.Time, error) {
	letters := t.Get("TimeZone")
	zone := p.zoneOf(letters, account)
	if zone == nil {
		return time.Time{}, t.Fail("TimeZone", "%q: letters we do not know; say in settings.time_zone_letters which zone they stand for", clip(letters))
	}
	at, err := t.Time(column, zone)
	if err != nil {
		return at, err
	}
	return disambiguate(at, zone, letters), nil
}

// zoneOf is nil for letters that nobody explains.
func (p *Provider) zoneOf(letters string, account *time.Location) *time.Location {
	if zone := p.letters[letters]; zone != nil {
		return zone
	}
	if letters == "" || ownLetters(letters, account) {
		return account
	}
	return p.common[letters]
}

// ownLetters says whether the account's zone is called so in winter or summer. Then that is what they stand for.
func ownLetters(letters string, account *time.Location) bool {
	for _, month := range []time.Month{time.January, time.July} {
		if name, _ := time.Date(2026, month, 1, 12, 0, 0, 0, account).Zone(); name == letters {
			return true
		}
	}
	return false
}

// disambiguate picks, of the hour that autumn has twice, the one the letters name.
func disambiguate(at time.Time, zone *time.Location, letters string) time.Time {
	local := at.In(zone)
	if name, _ := local.Zone(); name == letters {
		return at
	}
	for _, shift := range []time.Duration{-time.Hour, time.Hour} {
		other := local.Add(shift)
		if name, _ := other.Zone(); name == letters && other.Format(time.DateTime) == local.Format(time.DateTime) {
			return other.UTC()
		}
	}
	return at
}
