package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"paybook/callback"
	"paybook/models"
)

// callbackOptions are the doctor's flags about one callback.
type callbackOptions struct {
	file, account, at string
	full              bool
}

// diagnosis is what the doctor says of one callback.
type diagnosis struct {
	Account    string        `json:"account"`
	Provider   string        `json:"provider"`
	ReceivedAt time.Time     `json:"received_at"` // the clock it was checked by
	Verified   bool          `json:"verified"`
	Reason     models.Reason `json:"reason"` // "" when verified
	Detail     string        `json:"detail"`
	Status     int           `json:"status"` // HTTP status of the answer, when it is refused
	Steps      []models.Step `json:"steps"`
	Events     []saidEvent   `json:"events"` // what it says; [] when it is refused
	Hints      []string      `json:"hints"`
}

// saidEvent is an event as the message states it. Amounts are decimal text in major units.
type saidEvent struct {
	Event         models.EventKind `json:"event"`
	EventID       string           `json:"event_id"`
	TransactionID string           `json:"transaction_id"`
	ParentID      string           `json:"parent_id"`
	OrderID       string           `json:"order_id"`
	RefundOrderID string           `json:"refund_order_id"`
	Amount        string           `json:"amount"`
	Currency      string           `json:"currency"`
	OccurredAt    *time.Time       `json:"occurred_at"`
	TestMode      bool             `json:"test_mode"`
	Detail        string           `json:"detail"`
}

// explainCallback checks one saved callback again and tells how. Nothing is booked, and no database is needed.
func explainCallback(ctx context.Context, a *app, o callbackOptions, format string) error {
	req, err := readSavedRequest(a.in, o.file)
	if err != nil {
		return err
	}
	conf, err := a.config()
	if err != nil {
		return err
	}
	account, err := callbackAccount(conf, o.account, req.Account)
	if err != nil {
		return err
	}
	if err := req.setTime(o.at, a.now); err != nil {
		return err
	}
	req.Callback.Account = account.Name
	d, err := diagnose(ctx, conf, account, req)
	if err != nil {
		return err
	}
	d.mask(account, req.Callback)
	d.clip(o.full)
	if format == "json" {
		err = printJSON(a.out, d)
	} else {
		err = a.printDiagnosis(d)
	}
	if err == nil && !d.Verified {
		err = errLook
	}
	return err
}

// callbackAccount is the account asked for, else the one the file names, else the only one there is.
func callbackAccount(conf *Config, asked, told string) (*Account, error) {
	switch {
	case asked != "":
		return conf.account(asked)
	case len(conf.Accounts) == 0:
		return nil, conf.noAccounts()
	case len(conf.Accounts) == 1:
		return conf.Accounts[0], nil
	}
	account, err := conf.account(told)
	if err != nil {
		return nil, fmt.Errorf("the file's path does not end in an account's name: say which by --account: %w", err)
	}
	return account, nil
}

// setTime settles the time of receipt, which signatures are judged by: the one asked for, the file's, or now.
func (req *savedRequest) setTime(at string, now func() time.Time) error {
	replayed := req.Headers.Get(callback.ReplayHeader)
	req.Headers.Del(callback.ReplayHeader)
	for _, given := range []struct{ name, text string }{{"--at", at}, {"header " + callback.ReplayHeader, replayed}} {
		if given.text == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339Nano, given.text)
		if err != nil {
			return fmt.Errorf("%s %q: expected YYYY-MM-DDTHH:MM:SS and Z or +HH:MM", given.name, given.text)
		}
		req.ReceivedAt = t.UTC()
		return nil
	}
	if req.ReceivedAt.IsZero() {
		req.ReceivedAt = now().UTC()
		req.notes = append(req.notes, "the file does not say when it was received: checked as if it came now; name the time by --at")
	}
	return nil
}

// diagnose goes the way of the server, and asks the provider how it came to its verdict. An error means that it could not be told.
func diagnose(ctx context.Context, conf *Config, account *Account, req savedRequest) (*diagnosis, error) {
	d := &diagnosis{Account: account.Name, Provider: account.ProviderName, ReceivedAt: req.ReceivedAt, Events: []saidEvent{}, Hints: append([]string{}, req.notes...)}
	d.Steps = []models.Step{requestStep(req.Callback)}
	events, err := account.Provider.Verify(ctx, req.Callback)
	if e, ok := account.Provider.(callback.Explainer); ok {
		d.Steps = append(d.Steps, e.Explain(ctx, req.Callback)...)
	}
	var refused *models.Rejection
	switch {
	case errors.As(err, &refused):
		d.refuse(account.Provider, refused)
		d.Hints = append(d.Hints, hints(ctx, conf, account, req.Callback)...)
		return d, nil
	case err != nil:
		return nil, fmt.Errorf("could not be checked: %w", err)
	}
	for i := range events {
		d.Events = append(d.Events, said(&events[i]))
	}
	if d.Status, d.Detail = statusOf(req.Callback); d.Status == 0 {
		d.Verified = true
	}
	return d, nil
}

// statusOf is what the server answers before it asks the provider, and why; 0 when it does ask.
func statusOf(cb models.Callback) (status int, why string) {
	encoding := cb.Headers.Get("Content-Encoding")
	switch {
	case cb.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "the server takes POST only"
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return http.StatusUnsupportedMediaType, "Content-Encoding " + encoding + ": the server takes none, for a callback is signed as sent"
	case len(cb.Body) > callback.BodyMax:
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("%d bytes of body: the server takes %d, unless limits.body says more", len(cb.Body), callback.BodyMax)
	}
	return 0, ""
}

func requestStep(cb models.Callback) models.Step {
	step := models.Step{Name: "request", OK: true, Value: cb.Method + " " + cb.Path, Detail: count(len(cb.Body), "byte") + " of body"}
	if status, why := statusOf(cb); status != 0 {
		step.OK, step.Detail = false, why
	}
	return step
}

// refuse adds the verdict itself, unless a step has told it already.
func (d *diagnosis) refuse(p callback.Provider, why *models.Rejection) {
	d.Reason, d.Detail = why.Reason, why.Detail
	d.Status, _, _ = p.Reply(models.Answer{Reason: why.Reason})
	if !slices.ContainsFunc(d.Steps, func(s models.Step) bool { return !s.OK && s.Name == string(why.Reason) }) {
		d.Steps = append(d.Steps, models.Step{Name: string(why.Reason), Detail: why.Detail})
	}
}

func said(e *models.Event) saidEvent {
	s := saidEvent{Event: e.Kind, EventID: e.ID, TransactionID: e.TransactionID, ParentID: e.ParentID, OrderID: e.OrderID,
		RefundOrderID: e.RefundOrderID, TestMode: e.TestMode, Detail: e.Detail}
	if e.Money.Currency != "" {
		s.Amount, s.Currency = e.Money.Text(), e.Money.Currency
	}
	if !e.OccurredAt.IsZero() {
		at := e.OccurredAt.UTC()
		s.OccurredAt = &at
	}
	return s
}

// hints tries what most often goes wrong on the way to a file, or between a provider and the server, and tells what would have helped.
func hints(ctx context.Context, conf *Config, account *Account, cb models.Callback) []string {
	var list []string
	for _, v := range []struct {
		what string
		body []byte
	}{
		{"without the line breaks around its body: an editor adds them", bytes.Trim(cb.Body, "\r\n")},
		{"with line feeds in place of CR LF in its body: the file was converted", bytes.ReplaceAll(cb.Body, []byte("\r\n"), []byte("\n"))},
		{"with CR LF in place of line feeds in its body: the file was converted", bytes.ReplaceAll(cb.Body, []byte("\n"), []byte("\r\n"))},
		{"with its JSON written without blanks: something on the way has formatted the body", compactJSON(cb.Body)},
	} {
		changed := cb
		changed.Body = v.body
		if v.body != nil && !bytes.Equal(v.body, cb.Body) && verifies(ctx, account.Provider, changed) {
			list = append(list, "it is genuine "+v.what)
		}
	}
	for _, other := range conf.Accounts {
		if other != account && verifies(ctx, other.Provider, cb) {
			list = append(list, fmt.Sprintf("it is genuine for account %s: its notification address may be that of the wrong account", other.Name))
		}
	}
	return list
}

func compactJSON(body []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, body) != nil {
		return nil
	}
	return out.Bytes()
}

func verifies(ctx context.Context, p callback.Provider, cb models.Callback) bool {
	_, err := p.Verify(ctx, cb)
	return err == nil
}
