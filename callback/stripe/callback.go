package stripe

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// Verify proves the bytes before it reads them, then says what they mean: always exactly one event. Age is the signature's
// age at receipt; an event that happened years ago and is sent again today, signed anew, is fine.
func (p *Provider) Verify(_ context.Context, cb models.Callback) ([]models.Event, error) {
	sig, err := readSignature(strings.Join(cb.Headers.Values("Stripe-Signature"), ","))
	if err != nil {
		return nil, refuse(models.ReasonSignature, "%v", err)
	}
	if !p.matches(sig, cb.Body) {
		return nil, refuse(models.ReasonSignature,
			"no v1 fits any of the %d signing secrets: a forgery, a changed body, or the secret of another endpoint", len(p.secrets))
	}
	// Only now: whether a forged timestamp is too old is nobody's business.
	if err := p.checkAge(cb.ReceivedAt.Unix() - sig.at); err != nil {
		return nil, err
	}
	doc, err := parse.JSON(cb.Body)
	if err != nil {
		return nil, refuse(models.ReasonMalformed, "%v", err)
	}
	if !doc.IsObject() {
		return nil, refuse(models.ReasonMalformed, "a JSON object expected")
	}
	if err := p.checkAccount(doc); err != nil {
		return nil, err
	}
	return []models.Event{p.event(doc)}, nil
}

// Reply is 200 for whatever is kept, but for what is genuine and cannot be read: 200 would say that it was understood. Stripe reads the
// status only, and counts anything but 2xx as a failure to be tried again.
func (p *Provider) Reply(a models.Answer) (status int, contentType, body string) {
	const json = "application/json"
	switch {
	case a.Outcome == models.OutcomeUnreadable:
		return http.StatusBadRequest, json, `{"error":"unreadable"}`
	case a.Accepted():
		return http.StatusOK, json, `{"received":true}`
	case a.Reason == "":
		return http.StatusServiceUnavailable, json, `{"error":"try again"}`
	}
	status = http.StatusUnauthorized
	switch a.Reason {
	case models.ReasonMerchant:
		status = http.StatusForbidden
	case models.ReasonMalformed:
		status = http.StatusBadRequest
	case models.ReasonTooLarge:
		status = http.StatusRequestEntityTooLarge
	}
	return status, json, fmt.Sprintf(`{"error":%q}`, a.Reason)
}

// signature is a Stripe-Signature header: t=<unix seconds>,v1=<hex>,v1=<hex>,v0=<hex>.
type signature struct {
	time string // as sent, because that text is signed
	at   int64  // the same in unix seconds
	v1   [][]byte
}

// readSignature skips a v1 that is no hex and every scheme but v1 (v0 is for Stripe's own tests): one bad entry must not
// spoil a good one while a secret is rolled. Hex in upper case is taken like hex in lower case.
func readSignature(header string) (signature, error) {
	var s signature
	if header == "" {
		return s, errors.New("no Stripe-Signature header")
	}
	for pair := range strings.SplitSeq(header, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		switch key {
		case "t":
			at, err := strconv.ParseInt(value, 10, 64)
			if s.time != "" || err != nil || at < 0 || strconv.FormatInt(at, 10) != value {
				return s, errors.New("Stripe-Signature: exactly one t in whole unix seconds expected")
			}
			s.time, s.at = value, at
		case "v1":
			if mac, err := hex.DecodeString(value); err == nil {
				s.v1 = append(s.v1, mac)
			}
		}
	}
	if s.time == "" {
		return s, errors.New("Stripe-Signature: no t")
	}
	return s, nil
}

// matches tries every secret with every v1. The key is the whole secret as text, whsec_ included and nothing decoded, other
// than Standard Webhooks has it with the same prefix.
func (p *Provider) matches(s signature, body []byte) bool {
	for _, secret := range p.secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(s.time))
		mac.Write([]byte{'.'})
		mac.Write(body)
		want := mac.Sum(nil)
		for _, got := range s.v1 {
			if hmac.Equal(want, got) {
				return true
			}
		}
	}
	return false
}

// checkAge takes whole seconds, as Stripe's clock counts them: the tolerance itself is still in, one second more is out.
// Stripe's libraries have no bound ahead; without one, a message signed for next year would be good until then.
func (p *Provider) checkAge(seconds int64) error {
	if seconds > p.tolerance {
		return refuse(models.ReasonTimestamp, "signed %d s before it came, %d s allowed", seconds, p.tolerance)
	}
	if seconds < -p.toleranceFuture {
		return refuse(models.ReasonTimestamp, "signed %d s ahead of our clock, %d s allowed: is the clock right?", -seconds, p.toleranceFuture)
	}
	return nil
}

// checkAccount refuses events of connected accounts that nobody listed. The account is in "account" or, in thin events and newer
// snapshots, in "context" alone; with neither the event is our own.
func (p *Provider) checkAccount(doc parse.Value) error {
	account := connectedAccount(doc)
	id := account.Text()
	if !account.Exists() || p.accounts[id] {
		return nil
	}
	return refuse(models.ReasonMerchant, "an event of connected account %q, which settings.accounts does not list", clip(id))
}

// connectedAccount is the connected account that an event names; it does not exist when the event is our own.
func connectedAccount(doc parse.Value) parse.Value {
	for _, key := range []string{"account", "context"} {
		if v := doc.Get(key); v.Exists() && v.Any() != "" {
			return v
		}
	}
	return parse.Value{}
}

func refuse(reason models.Reason, format string, args ...any) error {
	return &models.Rejection{Reason: reason, Detail: clip(fmt.Sprintf(format, args...))}
}

// clip keeps what a stranger wrote short, and whole as UTF-8, because a database refuses half a letter.
func clip(s string) string {
	const lengthMax = 200
	if len(s) > lengthMax {
		s = s[:lengthMax] + "…"
	}
	return strings.ToValidUTF8(s, "")
}
