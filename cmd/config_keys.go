package cmd

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/time/rate"

	"paybook/ledger/shop"
)

// secretMin is how long an API key is at least: what can be guessed protects nothing.
const secretMin = 16

// rateMax is beyond what one process can answer.
const rateMax = 100_000

// readAPIKeys reads who may call the shop's routes.
func readAPIKeys(s *section) []shop.Key {
	if s.keys["api_keys"] == nil {
		return nil
	}
	list := s.keys["api_keys"]
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 { // an empty list would mean "this machine only" to us, and "nobody" to its writer
		s.fail("api_keys", "a list expected, each item with - in front; leave the key out for none")
		return nil
	}
	var keys []shop.Key
	names, secrets := map[string]int{}, map[shop.Secret]string{}
	for i, node := range list.Content {
		item := s.r.section(node, fmt.Sprintf("api_keys[%d].", i), "name", "secrets", "scopes", "rate", "burst")
		k := readAPIKey(item, secrets)
		if first, twice := names[k.Name]; twice {
			item.fail("name", "%s is the name of another key too, line %d", k.Name, first)
		}
		if s.r.err() != nil {
			return nil
		}
		names[k.Name] = item.keys["name"].Line
		keys = append(keys, k)
	}
	return keys
}

// readAPIKey reads one key. secrets are those of the keys before it, with their places.
func readAPIKey(s *section, secrets map[shop.Secret]string) shop.Key {
	k := shop.Key{Name: s.text("name", ""), Scopes: readScopes(s)}
	if !accountName.MatchString(k.Name) {
		s.fail("name", "%q: small letters, digits, - and _ expected", k.Name)
	}
	for i, text := range s.list("secrets") {
		place := fmt.Sprintf("%ssecrets[%d]", s.path, i)
		secret, err := readAPISecret(text)
		if err != nil {
			s.failItem("secrets", i, "%v", err)
		} else if first, twice := secrets[secret]; twice {
			s.failItem("secrets", i, "the same as %s: give every key its own", first)
		}
		secrets[secret] = place
		k.Secrets = append(k.Secrets, secret)
	}
	if len(k.Secrets) == 0 {
		s.fail("secrets", "missing: a list of secrets, of which each is right; several while you change them")
	}
	k.Rate, k.Burst = readRate(s)
	return k
}

// readAPISecret takes a secret itself or its hash. No message holds it.
func readAPISecret(text string) (shop.Secret, error) {
	const prefix = "sha256:"
	if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		sum, err := hex.DecodeString(text[len(prefix):])
		switch {
		case err != nil || len(sum) != len(shop.Secret{}):
			return shop.Secret{}, fmt.Errorf("sha256: and 64 hexadecimal digits expected, as `printf %%s \"$KEY\" | sha256sum` prints them")
		case shop.Secret(sum) == shop.HashSecret("") || shop.Secret(sum) == shop.HashSecret("\n"):
			return shop.Secret{}, fmt.Errorf("the hash of nothing: KEY was empty when `printf %%s \"$KEY\" | sha256sum` was typed")
		}
		return shop.Secret(sum), nil
	}
	switch {
	case len(text) < secretMin:
		return shop.Secret{}, fmt.Errorf("at least %d characters expected; `openssl rand -hex 24` makes a good one", secretMin)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return shop.Secret{}, fmt.Errorf("visible ASCII characters without blanks expected: it is sent in a header")
	}
	return shop.HashSecret(text), nil
}

// readScopes is what a key may do; without a list everything.
func readScopes(s *section) []shop.Scope {
	if !s.has("scopes") {
		return shop.Scopes()
	}
	var out []shop.Scope
	for i, text := range s.list("scopes") {
		scope := shop.Scope(text)
		if !slices.Contains(shop.Scopes(), scope) {
			s.failItem("scopes", i, "unknown scope %q; there is: %s", text, strings.Join(scopeNames(shop.Scopes()), ", "))
		}
		out = append(out, scope)
	}
	if len(out) == 0 {
		s.fail("scopes", "empty: such a key could do nothing; leave it out for all")
	}
	return out
}

func scopeNames(scopes []shop.Scope) []string {
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = string(scope)
	}
	return names
}

// readRate is how many requests a second a key may send, and how many at one moment; 0 for no limit.
func readRate(s *section) (perSecond rate.Limit, burst int) {
	if text := s.text("rate", ""); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n > 0 && n <= rateMax) {
			s.fail("rate", "%q: requests a second expected, such as 50 or 0.5, up to %d", text, rateMax)
		}
		perSecond = rate.Limit(n)
	} else if s.has("burst") {
		s.fail("burst", "means nothing without rate, the requests a second")
	}
	return perSecond, s.whole("burst", int(math.Ceil(float64(perSecond))), 1, rateMax)
}
