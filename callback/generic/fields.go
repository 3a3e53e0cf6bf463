package generic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"paybook/callback/parse"
	"paybook/models"
)

// field is where a value of the event is found: the first of the places that holds one, else the constant.
type field struct {
	name     string
	from     []source
	constant string
}

func (f *field) set() bool { return len(f.from) > 0 || f.constant != "" }

func (f *field) text(r *request) string {
	for i := range f.from {
		if text := r.find(&f.from[i]); text != "" {
			return text
		}
	}
	return f.constant
}

// texts are what all of the places hold.
func (f *field) texts(r *request) (all []string) {
	for i := range f.from {
		if text := r.find(&f.from[i]); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// fields are all values read from a callback.
type fields struct {
	eventID, eventType, status, success             field
	transactionID, parentID, orderID, refundOrderID field
	currency, account, livemode                     field
	aliases                                         field // further names: every place counts, not only the first
	amount                                          amountField
	occurredAt                                      timeField
	looseID                                         bool     // the event's id is not signed, as timeField.loose
	accounts                                        []string // ours; nil: not compared
	live                                            *bool    // the account's mode; nil: not compared
	liveWord                                        string   // what livemode says when it is live
}

// moving are the fields that decide what is booked.
func (f *fields) moving() []*field {
	return []*field{
		&f.eventType, &f.status, &f.success, &f.transactionID, &f.parentID, &f.orderID, &f.refundOrderID, &f.aliases, &f.amount.field, &f.currency,
	}
}

func (p *Provider) readFields(settings *parse.Section) {
	s := settings.Object("fields")
	if s == nil {
		settings.Fail("fields", "missing: where the values of a callback stand")
		return
	}
	f := &p.fields
	for _, plain := range []struct {
		name string
		into *field
	}{
		{"event_id", &f.eventID}, {"event_type", &f.eventType}, {"status", &f.status}, {"success", &f.success},
		{"transaction_id", &f.transactionID}, {"parent_id", &f.parentID}, {"order_id", &f.orderID},
		{"refund_order_id", &f.refundOrderID}, {"currency", &f.currency}, {"account", &f.account}, {"aliases", &f.aliases},
	} {
		*plain.into = p.readField(s, plain.name, nil)
	}
	for _, id := range []*field{&f.eventID, &f.transactionID, &f.parentID, &f.orderID, &f.refundOrderID, &f.aliases} {
		for i := range id.from {
			id.from[i].id = true
		}
	}
	if code, err := models.ParseCurrency(f.currency.constant); f.currency.constant != "" && (err != nil || code != f.currency.constant) {
		s.Fail("currency.const", "%q is not an ISO 4217 code in upper case", f.currency.constant)
	}
	f.looseID = p.signature.signsNothing() && slices.ContainsFunc(f.eventID.from, func(s source) bool { return s.kind == "header" || s.kind == "query" })
	if _, found := p.signature.unsigned(&f.eventID); found {
		f.looseID = true
	}
	f.amount = p.readAmount(s)
	f.occurredAt = p.readTime(s)
	f.liveWord = "true"
	f.livemode = p.readField(s, "livemode", func(o *parse.Section) { f.liveWord = o.Text("equals", f.liveWord) })
	s.Close()
	if f.accounts = settings.Texts("account"); f.accounts != nil && (slices.Contains(f.accounts, "") || len(f.accounts) == 0) {
		settings.Fail("account", "empty")
	}
	p.needField(settings, "account", f.accounts != nil, &f.account)
	f.live = settings.Flag("livemode")
	p.needField(settings, "livemode", f.live != nil, &f.livemode)
}

// readField reads a field: one place, a list of places, or an object with path, expr and const. more reads further keys of the object.
func (p *Provider) readField(s *parse.Section, name string, more func(*parse.Section)) (f field) {
	f.name = name
	value, where := s.Take(name), s
	key := name
	if object, isObject := value.(map[string]any); isObject {
		where, key = s.Inner(name, object), "path"
		f.constant = where.Text("const", "")
		if more != nil {
			more(where)
		}
		defer where.Close()
	}
	f.from = p.readPlaces(where, key)
	if where != s && where.Has("expr") {
		f.from = append(f.from, readExpression(where))
	}
	if value != nil && !f.set() {
		where.Fail(key, "missing")
	}
	return f
}

// readPlaces reads one place or a list of them, in which {expr} may stand for a place.
func (p *Provider) readPlaces(s *parse.Section, key string) (places []source) {
	list, isList := s.Take(key).([]any)
	if !isList {
		for _, text := range s.Texts(key) {
			places = append(places, p.readSource(s, key, text))
		}
		return places
	}
	for i, item := range list {
		name := fmt.Sprintf("%s[%d]", key, i)
		switch item := item.(type) {
		case string:
			places = append(places, p.readSource(s, name, item))
		case map[string]any:
			o := s.Inner(name, item)
			places = append(places, readExpression(o))
			o.Close()
		default:
			s.Fail(name, "text expected, put it into quotes")
		}
	}
	return places
}

func readExpression(s *parse.Section) source {
	text := s.Need("expr")
	compiled, err := compileExpression(text)
	if err != nil && text != "" {
		s.Fail("expr", "%v", err)
	}
	return source{kind: "expr", name: text, expr: compiled}
}

// readSource reads a place, and refuses one that this content cannot have.
func (p *Provider) readSource(s *parse.Section, key, text string) source {
	from, err := parseSource(text)
	if err != nil {
		s.Fail(key, "%v", err)
	}
	p.checkSource(s, key, from)
	return from
}

func (p *Provider) checkSource(s *parse.Section, key string, from source) {
	switch {
	case (from.kind == "json" || from.kind == "envelope") && p.form:
		s.Fail(key, "%s: the content is a form, so form:NAME is meant", from)
	case from.kind == "form" && !p.form:
		s.Fail(key, "%s: the content is JSON, so $.NAME is meant (or settings.content: form)", from)
	case from.kind == "sig" && cmp.Or(p.signature.form.kind, p.signature.keyForm.kind) != "kv":
		s.Fail(key, "%s: needs settings.signature.parse.form: kv", from)
	case from.kind == "envelope" && !p.items.on():
		s.Fail(key, "%s: needs settings.items; without it $.NAME is meant", from)
	case from.kind == "public_url" && p.publicURL == "":
		s.Fail(key, "needs settings.public_url, the address exactly as it is registered with the provider")
	}
}

// timeField is when the money moved, by the provider's clock.
type timeField struct {
	field
	unit   string // s, ms, auto or rfc3339
	layout string // a Go time layout in place of the unit
	zone   *time.Location
	loose  bool // it is not signed: nonsense in it is a stranger's, and no reason to distrust the rest
}

func (p *Provider) readTime(s *parse.Section) (f timeField) {
	f.unit = "rfc3339"
	f.zone, _ = time.LoadLocation(p.zone) // readZone has refused a bad one
	f.field = p.readField(s, "occurred_at", func(o *parse.Section) {
		f.unit = o.Word("unit", f.unit, "s", "ms", "auto", "rfc3339")
		f.layout = o.Text("layout", "")
	})
	_, f.loose = p.signature.unsigned(&f.field)
	return f
}

// read is the time in UTC. A message without one happened when it came; one that cannot be read is an error.
func (f *timeField) read(r *request) (time.Time, error) {
	text := f.text(r)
	if text == "" {
		return r.cb.ReceivedAt.UTC(), nil
	}
	if f.layout == "" {
		at, _, err := instant(text, f.unit)
		return at, err
	}
	at, err := time.ParseInLocation(f.layout, text, f.zone)
	if err != nil {
		return at, fmt.Errorf("%q is no time, expected %s", clip(text), f.layout)
	}
	return at.UTC(), nil
}

// readID reads an identifier with the very digits it was sent with. "" when the message has none.
func readID(f *field, r *request) (string, error) {
	return checkID(f.name, f.text(r))
}

func checkID(name, text string) (string, error) {
	const max = 255 // far above any provider's, and what a key column can hold anywhere
	if len(text) > max || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "", fmt.Errorf("%s: %q makes no sense as an identifier", name, clip(text))
	}
	return text, nil
}

// ours refuses a genuine message that speaks of another account than the configured ones.
func (f *fields) ours(r *request) error {
	if f.accounts == nil {
		return nil
	}
	if got := f.account.text(r); !slices.Contains(f.accounts, got) {
		return refuse(models.ReasonMerchant, fmt.Sprintf("the message is for account %q, which is not settings.account", clip(got)))
	}
	return nil
}

// testMode says whether a message is of the other mode than the account. One that does not say is not live.
func (f *fields) testMode(r *request) bool {
	return f.live != nil && *f.live != (f.livemode.text(r) == f.liveWord)
}
