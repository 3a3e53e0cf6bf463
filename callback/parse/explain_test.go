package parse_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

func TestShown(t *testing.T) {
	for text, want := range map[string]string{"": "", "红茶\n": "红茶\n", "a\xb2\xe8b": `a\xb2\xe8b`, "\ufffd": "\ufffd", "\xe7\xba": `\xe7\xba`, "茶\xff": `\xe8\x8c\xb6\xff`} {
		if got := parse.Shown(text); got != want {
			t.Errorf("Shown(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestPrefix(t *testing.T) {
	for in, want := range map[string]string{
		"5257a869e7ecebeda32affa62cdca3fa": "5257a869…", "123456789": "12345678…", "1234567支": "1234567…",
		"12345678": "(shorter than 9 characters)", "": "(shorter than 9 characters)",
	} {
		if got := parse.Prefix(in); got != want {
			t.Errorf("Prefix(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestApart(t *testing.T) {
	at := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	for received, want := range map[time.Time]string{at: "0s before it came", at.Add(3 * time.Second): "3s before it came", at.Add(-time.Hour): "1h0m0s ahead of our clock"} {
		if got := parse.Apart(at, received); got != want {
			t.Errorf("Apart = %q, want %q", got, want)
		}
	}
}

func TestDetail(t *testing.T) {
	if got := parse.Detail(&models.Rejection{Reason: models.ReasonKey, Detail: "no such key"}); got != "no such key" {
		t.Errorf("Detail = %q", got)
	}
	if got := parse.Detail(errors.New("other")); got != "other" {
		t.Errorf("Detail = %q", got)
	}
}

// TestExplainRSA: a changed text is told from another key, and no digest is shown whole.
func TestExplainRSA(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signed, changed := sha256.Sum256([]byte("as signed")), sha256.Sum256([]byte("as it came"))
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, signed[:])
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := hex.EncodeToString(changed[:]), hex.EncodeToString(signed[:])
	for name, c := range map[string]struct {
		key       *rsa.PublicKey
		signature []byte
		digest    []byte
		want      string
	}{
		"genuine":        {&key.PublicKey, signature, signed[:], theirs[:8] + "…, which is what was signed"},
		"a changed text": {&key.PublicKey, signature, changed[:], ours[:8] + "…, the signature is of one with digest " + theirs[:8]},
		"another key":    {&other.PublicKey, signature, signed[:], "was not made with this key"},
		"damaged":        {&key.PublicKey, append([]byte{signature[0] ^ 1}, signature[1:]...), signed[:], "was not made with this key"},
		"cut":            {&key.PublicKey, signature[:100], signed[:], "was not made with this key"},
		"empty":          {&key.PublicKey, nil, signed[:], "was not made with this key"},
		"too large":      {&key.PublicKey, []byte(strings.Repeat("\xff", key.Size())), signed[:], "was not made with this key"},
		"another hash":   {&key.PublicKey, signature, signed[:20], "was not made with this key"},
	} {
		got := parse.ExplainRSA(c.key, c.signature, c.digest)
		if !strings.Contains(got, c.want) || strings.Contains(got, ours) || strings.Contains(got, theirs) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
