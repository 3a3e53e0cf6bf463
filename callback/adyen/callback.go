package adyen

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// Verify proves the sender, then each item, before it reads what they mean: one event for each item. One item that is not genuine
// refuses them all, since Adyen is given one answer for the whole request. An item of another merchant account is left aside where
// others are ours: refused, it would keep ours from being booked for ever. With none of ours the request is refused.
//
// There is no timestamp in what is signed, and Adyen sends again for up to 30 days: a repeat is told by the book, not by its age.
func (p *Provider) Verify(_ context.Context, cb models.Callback) ([]models.Event, error) {
	if p.auth != nil && !p.auth.fit(cb.Headers) {
		return nil, refuse(models.ReasonBasicAuth, "Authorization: not the user and password of settings.basic_auth")
	}
	doc, err := parse.JSON(cb.Body)
	if err != nil {
		return nil, refuse(models.ReasonMalformed, "%v", err)
	}
	items, err := readItems(doc)
	if err != nil {
		return nil, refuse(models.ReasonMalformed, "%v", err)
	}
	for i, it := range items {
		if err := p.checkSignature(it); err != nil {
			return nil, refuse(models.ReasonSignature, "item %d of %d: %v", i+1, len(items), err)
		}
	}
	if !slices.ContainsFunc(items, p.isOurs) { // only now: whose a forgery claims to be is nobody's business
		return nil, refuse(models.ReasonMerchant, "%s", foreign(items[0]))
	}
	events := make([]models.Event, len(items))
	for i, it := range items {
		if p.isOurs(it) {
			events[i] = p.event(it, cb.ReceivedAt)
		} else {
			events[i] = models.Event{Kind: models.EventUnknown, ID: eventID(it), OccurredAt: occurredAt(it, cb.ReceivedAt), Detail: foreign(it)}
		}
		events[i].TestMode = p.otherMode(doc)
	}
	return events, nil
}

func (p *Provider) isOurs(it item) bool { return p.merchants[it.text("merchantAccountCode")] }

func foreign(it item) string {
	return fmt.Sprintf("merchant account %q, which settings.merchant_accounts does not list", clip(it.text("merchantAccountCode")))
}

// otherMode is true for traffic of the other environment. "live" is not signed, so it can only hold an event back, never let
// one in: what lets events in is the key, and test and live have different keys. Missing counts as not live.
func (p *Provider) otherMode(doc parse.Value) bool {
	return p.livemode != nil && *p.livemode != (doc.Get("live").String() == "true")
}

// Reply is [accepted] for whatever is kept, also what is genuine and cannot be read, which other providers are told by a 400: an item
// that is never accepted would hold up all later ones of the endpoint. Adyen reads the status, and endpoints of the older kind the
// body, to the byte.
func (p *Provider) Reply(a models.Answer) (status int, contentType, body string) {
	const plain = "text/plain; charset=utf-8"
	switch {
	case a.Accepted():
		return http.StatusOK, plain, p.ack
	case a.Reason == "":
		return http.StatusServiceUnavailable, plain, "try again"
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
	return status, plain, "refused: " + string(a.Reason)
}

// readItems takes the items out of their wrapping. JSON carries one item as a rule, but any number is allowed.
func readItems(doc parse.Value) ([]item, error) {
	list := doc.Get("notificationItems").List()
	if len(list) == 0 {
		return nil, errors.New("notificationItems: missing or empty")
	}
	items := make([]item, len(list))
	for i, wrapped := range list {
		items[i] = item{wrapped.Get("NotificationRequestItem")}
		if !items[i].IsObject() {
			return nil, fmt.Errorf("notificationItems[%d].NotificationRequestItem: missing", i)
		}
	}
	return items, nil
}

// credentials are hashes, so that comparing them takes as long for a wrong length as for a wrong letter.
type credentials struct{ user, password [sha256.Size]byte }

func newCredentials(a BasicAuth) *credentials {
	return &credentials{sha256.Sum256([]byte(a.Username)), sha256.Sum256([]byte(a.Password))}
}

func (c *credentials) fit(headers http.Header) bool {
	if len(headers.Values("Authorization")) != 1 {
		return false
	}
	user, password, ok := (&http.Request{Header: headers}).BasicAuth()
	got := newCredentials(BasicAuth{user, password})
	same := subtle.ConstantTimeCompare(got.user[:], c.user[:]) & subtle.ConstantTimeCompare(got.password[:], c.password[:])
	return ok && same == 1
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
