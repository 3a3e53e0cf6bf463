package paypal

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// Verify proves the bytes as they came, then says what they mean: one event, or one for each payment of a dispute about
// several. A certificate that could not be fetched is no verdict: the error is plain, and PayPal sends again.
func (p *Provider) Verify(ctx context.Context, cb models.Callback) ([]models.Event, error) {
	host, err := p.checkSignature(ctx, cb)
	if err != nil {
		return nil, err
	}
	doc, err := parse.JSON(cb.Body)
	if err != nil {
		return nil, reject(models.ReasonMalformed, "body: %v", err)
	}
	if !doc.IsObject() {
		return nil, reject(models.ReasonMalformed, "body: not a JSON object")
	}
	m := message{doc: doc, resource: doc.Get("resource"), order: p.orderField}
	if err := p.checkMerchant(m); err != nil {
		return nil, err
	}
	events := m.events()
	for i := range events {
		events[i].TestMode = p.livemode != nil && *p.livemode == isSandbox(host)
	}
	return events, nil
}

// isSandbox: nothing in a message says which mode it is of, but the sandbox has certificates of its own.
func isSandbox(host string) bool { return slices.Contains(strings.Split(host, "."), "sandbox") }

// checkMerchant holds the account a message names, where it names one, against ours. That it is for our webhook is proven.
func (p *Provider) checkMerchant(m message) error {
	if p.merchantIDs == nil {
		return nil
	}
	named := []parse.Value{m.resource.Get("payee", "merchant_id")}
	for _, t := range m.resource.Get("disputed_transactions").List() {
		named = append(named, t.Get("seller", "merchant_id"))
	}
	for _, id := range named {
		if id.Exists() && !slices.Contains(p.merchantIDs, id.Text()) {
			return reject(models.ReasonMerchant, "account %q is not in settings.merchant_ids", clip(id.Text()))
		}
	}
	return nil
}

// Reply is 200 for whatever is kept, but for what is genuine and cannot be read: 200 would say that it was understood. PayPal reads the
// status only, and tries again for three days after anything but 2xx.
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

func reject(reason models.Reason, format string, args ...any) error {
	return &models.Rejection{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// clip keeps what a stranger wrote short enough for a log line, and whole characters of it: half a one is refused by databases.
func clip(s string) string {
	const max = 120
	if len(s) > max {
		s = s[:max] + "…"
	}
	return strings.ToValidUTF8(s, "")
}
