package ask

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"paybook/models"
)

// Base is the address of an API: the setting, or else the provider's own. It must be https, so that nobody listens in, but on this
// machine or at an address of a private network, where stand-ins for tests are. The error names the setting and does not repeat it.
func Base(setting, given, otherwise string) (*url.URL, error) {
	if given == "" {
		given = otherwise
	}
	u, err := url.Parse(given)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return nil, fmt.Errorf("settings.%s: no address; expected one such as %s", setting, otherwise)
	case u.User != nil:
		return nil, fmt.Errorf("settings.%s: holds a user or password; expected an address such as %s", setting, otherwise)
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, fmt.Errorf("settings.%s: holds a query or fragment; expected an address such as %s", setting, otherwise)
	case u.Scheme != "https" && !(u.Scheme == "http" && isLocal(u.Hostname())):
		return nil, fmt.Errorf("settings.%s: https expected", setting)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u, nil
}

func isLocal(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (addr.IsLoopback() || addr.IsPrivate())
}

// Link is an address that a provider's answer told, to be followed with the care that its base is: to one of the hosts only, which are
// those the account may ask, and with a base of https by https, also where the provider writes http.
func Link(base *url.URL, hosts []string, told string) (*url.URL, error) {
	u, err := url.Parse(told)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%s tells an address for the download that is none", base.Host)
	case !slices.Contains(hosts, u.Host):
		return nil, fmt.Errorf("%s tells %s for the download, which is not one of the account's hosts (%s); if it is right, add it to settings.download_hosts",
			base.Host, u.Host, strings.Join(hosts, ", "))
	}
	if base.Scheme == "https" {
		u.Scheme = "https"
	}
	return u, nil
}

// Hosts lists the hosts of addresses and further ones, each once.
func Hosts(more []string, bases ...*url.URL) []string {
	var all []string
	for _, b := range bases {
		all = append(all, b.Host)
	}
	all = append(all, more...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Day is from when to right before when (UTC) a business day is, which begins at cut from midnight in zone, an IANA name. A day that
// has not ended at now is a *models.NotReady: nobody has its statement.
func Day(zone string, cut time.Duration, date, now time.Time) (from, to time.Time, err error) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return from, to, err
	}
	begin := func(days int) time.Time { // the cut is a time of the clock on the wall
		return time.Date(date.Year(), date.Month(), date.Day()+days, 0, 0, int(cut/time.Second), 0, loc).UTC()
	}
	from, to = begin(0), begin(1)
	if now.Before(to) {
		err = &models.NotReady{What: fmt.Sprintf("the day %s ends at %s", date.Format(time.DateOnly), to.Format(time.RFC3339))}
	}
	return from, to, err
}
