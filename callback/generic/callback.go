package generic

import (
	"context"
	"fmt"

	"paybook/models"
)

// Verify checks signature, age and account, in this order, and reads the one event of a callback. A genuine message that lacks
// a needed field, or has one that makes no sense, is a models.EventUnparsable.
func (p *Provider) Verify(_ context.Context, cb models.Callback) ([]models.Event, error) {
	r := &request{cb: cb, publicURL: p.publicURL}
	if err := p.signature.check(r); err != nil {
		return nil, err
	}
	if err := p.clock.check(r); err != nil {
		return nil, err
	}
	if err := p.readable(r); err != nil {
		return nil, err
	}
	if err := p.fields.ours(r); err != nil {
		return nil, err
	}
	e, err := p.event(r)
	if err != nil {
		e = models.Event{ID: e.ID, Kind: models.EventUnparsable, OccurredAt: e.OccurredAt, TestMode: e.TestMode, Detail: err.Error()}
	}
	return []models.Event{e}, nil
}

func (p *Provider) readable(r *request) error {
	if p.form {
		r.readForm()
		for name, values := range r.form {
			if len(values) > 1 {
				return refuse(models.ReasonMalformed, fmt.Sprintf("the form gives %q twice", clip(name)))
			}
		}
	} else if !r.readJSON().IsObject() && r.bodyErr == nil {
		return refuse(models.ReasonMalformed, "the body is no JSON object")
	}
	if r.bodyErr != nil {
		return refuse(models.ReasonMalformed, clip(r.bodyErr.Error()))
	}
	return nil
}

// event reads the fields. On an error the event holds what was read before.
func (p *Provider) event(r *request) (e models.Event, err error) {
	f := &p.fields
	e.TestMode = f.testMode(r)
	if e.ID, err = readID(&f.eventID, r); err != nil {
		return e, err
	}
	typ, status := f.eventType.text(r), f.status.text(r)
	if typ == "" && f.eventType.set() {
		return e, fmt.Errorf("%s: missing", f.eventType.name)
	}
	if e.OccurredAt, err = f.occurredAt.read(r); err != nil {
		return e, fmt.Errorf("%s: %w", f.occurredAt.name, err)
	}
	if e.Kind, err = p.kind(typ, status, f.success.text(r)); err != nil {
		return e, err
	}
	if e.Kind == models.EventUnknown {
		e.Detail = fmt.Sprintf("no row of settings.events is for type %q, status %q", clip(typ), clip(status))
		return e, nil
	}
	if err := p.readIDs(r, &e); err != nil {
		return e, err
	}
	return e, p.readMoney(r, &e)
}

func (p *Provider) readIDs(r *request, e *models.Event) (err error) {
	f := &p.fields
	read := func(from *field) string {
		if err != nil {
			return ""
		}
		var id string
		id, err = readID(from, r)
		return id
	}
	e.TransactionID, e.ParentID = read(&f.transactionID), read(&f.parentID)
	e.OrderID, e.RefundOrderID = read(&f.orderID), read(&f.refundOrderID)
	if err != nil {
		return err
	}
	if e.TransactionID == "" && kindNeeds[e.Kind].id {
		return fmt.Errorf("%s: missing", f.transactionID.name)
	}
	return nil
}

// readMoney reads amount and currency. An event that needs none may have them all the same.
func (p *Provider) readMoney(r *request, e *models.Event) (err error) {
	f := &p.fields
	amount, currency := f.amount.text(r), f.currency.text(r)
	if !kindNeeds[e.Kind].money && (amount == "" || currency == "") {
		return nil
	}
	if amount == "" || currency == "" {
		return fmt.Errorf("%s or %s: missing", f.amount.name, f.currency.name)
	}
	e.Money, e.Kind, err = f.amount.read(r, currency, e.Kind)
	return err
}
