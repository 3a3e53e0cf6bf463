// Package acmepay is everything we know about Acme Pay, a payment service that is made up: the smallest whole provider there is, to
// copy from. Only tests are built with it.
package acmepay

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Name is the provider's name in the configuration.
const Name = "acmepay"

// Config is the settings of one account.
type Config struct {
	Secret string `json:"secret"` // what Acme Pay signs with
}

// Provider is one account.
type Provider struct{ secret []byte }

// New reads the settings. Its error names the setting that is missing or unknown.
func New(settings json.RawMessage, _ string) (*Provider, error) {
	var c Config
	if err := parse.Settings(settings, &c); err != nil {
		return nil, err
	}
	if !parse.Visible(c.Secret) {
		return nil, errors.New("settings.secret: empty")
	}
	return &Provider{[]byte(c.Secret)}, nil
}

// Name is "acmepay".
func (p *Provider) Name() string { return Name }

// Calendar is Vienna's calendar day.
func (p *Provider) Calendar() (zone string, cut time.Duration) { return "Europe/Vienna", 0 }

// Verify checks the signature over the body as it came, and only then looks into it.
func (p *Provider) Verify(_ context.Context, cb models.Callback) ([]models.Event, error) {
	mac := hmac.New(sha256.New, p.secret)
	mac.Write(cb.Body)
	signature, err := hex.DecodeString(cb.Headers.Get("Acme-Signature"))
	if err != nil || !hmac.Equal(signature, mac.Sum(nil)) {
		return nil, &models.Rejection{Reason: models.ReasonSignature, Detail: "Acme-Signature does not fit the body"}
	}
	doc, err := parse.JSON(cb.Body)
	if err != nil || !doc.IsObject() {
		return nil, &models.Rejection{Reason: models.ReasonMalformed, Detail: "the body is no JSON object"}
	}
	event, err := read(doc)
	if err != nil { // genuine: it is kept, and can be read again after a fix
		event = models.Event{Kind: models.EventUnparsable, Detail: err.Error()}
	}
	return []models.Event{event}, nil
}

var eventKinds = map[string]models.EventKind{"paid": models.PaymentSucceeded, "refunded": models.RefundSucceeded}

func read(doc parse.Value) (e models.Event, err error) {
	kind, known := eventKinds[doc.Get("type").String()]
	if !known {
		return models.Event{Kind: models.EventUnknown}, nil
	}
	e = models.Event{Kind: kind, TransactionID: doc.Get("id").String(), ParentID: doc.Get("payment").String(), OrderID: doc.Get("order").String()}
	if e.TransactionID == "" {
		return e, errors.New("id: missing")
	}
	if e.Money, err = models.ParseMajor(doc.Get("amount").String(), doc.Get("currency").String()); err != nil {
		return e, fmt.Errorf("amount: %w", err)
	}
	e.OccurredAt, err = parse.LocalTime(doc.Get("at").String(), time.UTC, time.RFC3339)
	return e, err
}

// Reply is the status alone: Acme Pay sends again after anything but 200.
func (p *Provider) Reply(a models.Answer) (status int, contentType, body string) {
	switch {
	case a.Accepted():
		return http.StatusOK, "", ""
	case a.Reason == "":
		return http.StatusServiceUnavailable, "", ""
	}
	return http.StatusUnauthorized, "", ""
}

var entryKinds = map[string]models.TransactionKind{"payment": models.Payment, "refund": models.Refund}

// ReadStatement reads the daily CSV file; it has no control totals.
func (p *Provider) ReadStatement(name string, r io.Reader, _ *time.Location, each func(models.Entry) error) (models.Statement, error) {
	t, err := parse.NewTable(name, r, parse.TableOptions{})
	if err == nil {
		err = t.Need("kind", "id", "payment", "order", "amount", "currency", "time")
	}
	for err == nil {
		var more bool
		if more, err = t.Next(); err != nil || !more {
			break
		}
		var e models.Entry
		if e, err = entry(t); err == nil {
			err = each(e)
		}
	}
	return models.Statement{Compared: true, Title: "settlement"}, err
}

func entry(t *parse.Table) (e models.Entry, err error) {
	kind, known := entryKinds[t.Get("kind")]
	if !known {
		return e, t.Fail("kind", "%q is neither payment nor refund", t.Get("kind"))
	}
	e = models.Entry{Kind: kind, ParentID: t.Get("payment"), OrderID: t.Get("order"), Status: models.StatusSucceeded, Line: t.Line()}
	if e.TransactionID, err = t.ID("id"); err != nil {
		return e, err
	}
	if e.TransactionID == "" {
		return e, t.Fail("id", "empty")
	}
	if e.Money, err = t.Money("amount", t.Get("currency")); err != nil {
		return e, err
	}
	e.OccurredAt, err = t.Time("time", time.UTC, time.RFC3339)
	return e, err
}
