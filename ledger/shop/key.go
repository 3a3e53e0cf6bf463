package shop

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"

	"golang.org/x/time/rate"
)

// Scope is one thing that an API key may do.
type Scope string

// The scopes.
const (
	OrdersRead  Scope = "orders:read"
	OrdersWrite Scope = "orders:write"
	TokensWrite Scope = "tokens:write"
	StockRead   Scope = "stock:read"
)

// Scopes are all there are.
func Scopes() []Scope { return []Scope{OrdersRead, OrdersWrite, TokensWrite, StockRead} }

// Key is one API key: a name, which owns what is done under it, and the secrets that prove it. Several at once let them be changed without
// a moment in which none is right.
type Key struct {
	Name    string
	Secrets []Secret
	Scopes  []Scope
	Rate    rate.Limit // requests a second in the long run; 0: no limit
	Burst   int        // requests at one moment; at least 1 where there is a Rate
}

// Secret is the SHA-256 hash of a secret: the secret itself is not needed after the start.
type Secret [sha256.Size]byte

// HashSecret is the Secret of a secret's text.
func HashSecret(text string) Secret { return sha256.Sum256([]byte(text)) }

// String hides it: a hash of a poor secret gives the secret away.
func (Secret) String() string { return "sha256:…" }

// find is the key that a secret proves; nil for none. It takes as long for every secret.
func find(keys []Key, text string) *Key {
	given := HashSecret(text)
	var found *Key
	for i := range keys {
		for j := range keys[i].Secrets {
			if subtle.ConstantTimeCompare(given[:], keys[i].Secrets[j][:]) == 1 {
				found = &keys[i]
			}
		}
	}
	return found
}

func (k *Key) may(s Scope) bool { return slices.Contains(k.Scopes, s) }
