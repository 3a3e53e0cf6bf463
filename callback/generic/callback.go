package generic

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"paybook/models"
)

// Verify checks signature, age and account, in this order, and reads the event of a callback, or of each of its items. A genuine
// message that lacks a needed field, or has one that makes no sense, is a models.EventUnparsable; an item that is not genuine
// refuses all of them.
func (p *Provider) Verify(_ context.Context, cb models.Callback) ([]models.Event, error) {
	items, err := p.proven(&request{cb: cb, publicURL: p.publicURL, isForm: p.form})
	if err != nil {
		return nil, err
	}
	for _, r := range items {
		if err := p.fields.ours(r); err != nil {
			return nil, err
		}
	}
	events := make([]models.Event, len(items))
	for i, r := range items {
		e, err := p.event(r)
		if err != nil {
			e = models.Event{ID: e.ID, Kind: models.EventUnparsable, OccurredAt: e.OccurredAt, TestMode: e.TestMode, Detail: err.Error()}
		}
		events[i] = e
	}
	return events, nil
}

// proven are the items of a callback once all of it is known to be genuine; without items it is the callback itself.
func (p *Provider) proven(r *request) ([]*request, error) {
	if err := cmp.Or(p.signature.checkSender(r), p.signature.checkDoor(r)); err != nil {
		return nil, err
	}
	if !p.signature.perItem {
		if err := p.prove(r); err != nil {
			return nil, err
		}
	}
	if err := p.readable(r); err != nil {
		return nil, err
	}
	items, err := p.items.split(r)
	for _, item := range items {
		if p.signature.perItem {
			if err := p.prove(item); err != nil {
				return nil, err
			}
		}
		item.wrong = nil // a place of the signed text that was not there is no matter any more
	}
	return items, err
}

func (p *Provider) prove(r *request) error {
	if err := p.signature.check(r); err != nil {
		return err
	}
	return p.clock.check(r)
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
	if e.ID, err = readID(&f.eventID, r); err != nil && !f.looseID {
		return e, err
	}
	if f.looseID {
		r.wrong = nil // what is not signed is a stranger's, and no reason to distrust the rest
	}
	e.TestMode = f.testMode(r)
	typ, status, success := f.eventType.text(r), f.status.text(r), f.success.text(r)
	if r.wrong != nil {
		return e, r.wrong
	}
	if typ == "" && f.eventType.set() {
		return e, fmt.Errorf("%s: missing", f.eventType.name)
	}
	if e.OccurredAt, err = f.occurredAt.read(r); err != nil && f.occurredAt.loose {
		e.OccurredAt = r.cb.ReceivedAt.UTC()
	} else if err != nil {
		return e, fmt.Errorf("%s: %w", f.occurredAt.name, err)
	}
	if f.occurredAt.loose {
		r.wrong = nil
	}
	if e.Kind, e.OnlyKnown, err = p.kind(typ, status, success); err != nil {
		return e, err
	}
	if e.Kind == models.EventUnknown {
		_ = p.readIDs(r, &e) // for people; it moves nothing, whatever they say
		e.Detail = fmt.Sprintf("settings.events makes no event of type %q, status %q", clip(typ), clip(status))
		return e, nil
	}
	if err := p.readIDs(r, &e); err != nil {
		return e, err
	}
	if err := p.readMoney(r, &e); err != nil {
		return e, err
	}
	return e, r.wrong
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
		return cmp.Or(r.wrong, fmt.Errorf("%s: missing", f.transactionID.name))
	}
	if e.ParentID == e.TransactionID && strings.HasPrefix(string(e.Kind), "payment.") {
		e.ParentID = "" // where one place of the message serves payments and what belongs to them
	}
	return p.readAliases(r, e)
}

// readAliases reads the further names of the movement; its id is then listed with them.
func (p *Provider) readAliases(r *request, e *models.Event) error {
	for _, text := range p.fields.aliases.texts(r) {
		alias, err := checkID(p.fields.aliases.name, text)
		if err != nil {
			return err
		}
		if e.Aliases == nil && e.TransactionID != "" {
			e.Aliases = []string{e.TransactionID}
		}
		if !slices.Contains(e.Aliases, alias) {
			e.Aliases = append(e.Aliases, alias)
		}
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
		return cmp.Or(r.wrong, fmt.Errorf("%s or %s: missing", f.amount.name, f.currency.name))
	}
	e.Money, e.Kind, err = f.amount.read(r, currency, e.Kind)
	return err
}
