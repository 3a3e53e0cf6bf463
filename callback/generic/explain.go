package generic

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// explainedMax is how many items of a callback are gone through one by one.
const explainedMax = 20

// Explain tells how a callback's signature was checked: the signed text of each template, what each secret makes of it, and the
// clocks. Of a secret that is sent as it is (static_token, basic) it tells only whether it is right.
func (p *Provider) Explain(_ context.Context, cb models.Callback) []models.Step {
	r := &request{cb: cb, publicURL: p.publicURL, isForm: p.form}
	var steps []models.Step
	if p.signature.doors != nil {
		steps = append(steps, secretStep(models.ReasonBasicAuth, p.signature.checkDoor(r), "settings.signature.basic_auth"))
	}
	if !p.signature.perItem {
		return append(steps, p.explain(r, "")...)
	}
	if p.readable(r) != nil {
		return steps
	}
	items, err := p.items.split(r)
	if err != nil {
		return steps
	}
	for i, item := range items[:min(len(items), explainedMax)] {
		steps = append(steps, p.explain(item, fmt.Sprintf("item %d of %d: ", i+1, len(items)))...)
	}
	return steps
}

func (p *Provider) explain(r *request, which string) []models.Step {
	sig := &p.signature
	err := sig.check(r)
	var steps []models.Step
	switch sig.kind {
	case "hmac", "ed25519":
		steps = append(sig.texts(r, which), sig.step(r, err, which))
	default:
		steps = append(steps, secretStep(sig.reason(), err, "settings.signature.secrets"),
			models.Step{Name: "signed text", OK: true, Detail: which + "nothing of the message is signed"})
	}
	if p.clock.on() {
		steps = append(steps, p.clock.step(r, which))
	}
	return steps
}

// secretStep is about a secret that is sent as it is: nothing of it is shown, nor of what was sent in its place.
func secretStep(reason models.Reason, err error, setting string) models.Step {
	step := models.Step{Name: string(reason), OK: err == nil, Value: "as configured in " + setting, Detail: "sent as it is, so not shown"}
	if err != nil {
		step.Value, step.Detail = "", parse.Detail(err)
	}
	return step
}

// texts are the signed texts of the templates, one that several make once.
func (sig *signature) texts(r *request, which string) []models.Step {
	var steps []models.Step
	for i := range sig.templates {
		step := sig.templates[i].step(r, which)
		same := slices.IndexFunc(steps, func(s models.Step) bool { return s.Value != "" && s.Value == step.Value })
		if same >= 0 {
			steps[same].Detail += "; the same of " + sig.templates[i].String()
			continue
		}
		steps = append(steps, step)
	}
	return steps
}

// step is the text that a template makes of the request, with passwords in headers masked.
func (t *template) step(r *request, which string) models.Step {
	shown := *r
	shown.cb.Headers = r.cb.Headers.Clone()
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie", "X-Callback-Token"} {
		if shown.cb.Headers.Get(name) != "" {
			shown.cb.Headers.Set(name, "***")
		}
	}
	var text bytes.Buffer
	_, whole := t.write(&text, &shown, nil)
	step := models.Step{Name: "signed text", OK: true, Value: parse.Shown(text.String()), Detail: which + "template " + t.String()}
	if !whole {
		step.Value, step.Detail = "", which+"a value of the template "+t.String()+" is missing"
	}
	return step
}

// String is the template as the settings have it.
func (t *template) String() string {
	var b strings.Builder
	for _, parts := range t.segments {
		for _, p := range parts {
			if p.from == nil {
				b.Write(p.literal)
			} else {
				b.WriteString("{" + p.from.String() + "}")
			}
		}
	}
	return b.String()
}

// step compares what was found with what each secret gives. Prefixes: the whole MAC would be a signature for whatever text was put
// in here.
func (sig *signature) step(r *request, err error, which string) models.Step {
	step := models.Step{Name: string(models.ReasonSignature), OK: err == nil}
	var found []string
	for _, c := range append(sig.form.candidates(r.signature), sig.keyForm.candidates(r.signature)...) {
		found = append(found, parse.Prefix(c))
	}
	if r.signature != "" {
		step.Value = which + strings.Join(found, ", ")
	}
	var tried []string
	for i, pool := range sig.macs {
		for n := range sig.templates {
			m := pool.get()
			if _, ok := sig.templates[n].write(m.hash, r, nil); ok {
				given := fmt.Sprintf("secret %d of %d gives %s", i+1, len(sig.macs), parse.Prefix(encodeMAC(m.hash.Sum(nil), sig.encoding)))
				if !slices.Contains(tried, given) { // two templates may make one text
					tried = append(tried, given)
				}
			}
			pool.put(m)
		}
	}
	if len(sig.keys) > 0 {
		tried = append(tried, fmt.Sprintf("%d public keys tried (Ed25519)", len(sig.keys)))
	}
	step.Detail = strings.Join(tried, ", ")
	if err != nil {
		step.Detail = strings.TrimSuffix(parse.Detail(err)+"; "+step.Detail, "; ")
	}
	return step
}

func (c *clock) step(r *request, which string) models.Step {
	text := r.find(&c.from)
	err := c.check(r)
	step := models.Step{Name: string(models.ReasonTimestamp), OK: err == nil, Value: which + clip(text)}
	sent, _, wrong := instant(text, c.unit)
	if wrong != nil {
		step.Detail = parse.Detail(err)
		return step
	}
	step.Detail = fmt.Sprintf("sent %s; %s before and %s ahead are allowed", parse.Apart(sent, r.cb.ReceivedAt), c.past, c.future)
	return step
}
