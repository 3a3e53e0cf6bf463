// Package generic is the provider made by configuration only: a payment service that signs its callbacks with a shared secret or an
// Ed25519 key, and writes its statements as delimited text, needs settings, not code. README.md beside this file lists the keys;
// presets holds the configurations that are shipped, and testdata a kit for each of them.
//
// It does not cover certificates, RSA, encrypted bodies and XML; callbacks that carry no amount are kept for an API read.
package generic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Name is the provider's name in the configuration.
const Name = "generic"

// Provider is one account of a provider described by settings. All it needs is worked out by New; it is read-only after.
type Provider struct {
	name       string
	publicURL  string
	form       bool // the content is a form; else JSON
	signature  signature
	clock      clock
	items      items
	challenge  challenge
	fields     fields
	events     []eventRow
	replies    replies
	statements statements
	zone       string
	warnings   []string
}

// New reads the settings. Paths of secrets (file:PATH) are relative to dir. An unknown key, a value that makes no sense, and
// a secret that is missing, empty or blank are errors that name the setting by its full path.
func New(settings json.RawMessage, dir string) (*Provider, error) {
	keys, err := readObject(settings)
	if err != nil {
		return nil, err
	}
	return build(keys, dir)
}

func readObject(raw json.RawMessage) (map[string]any, error) {
	v, err := parse.StrictJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	keys, ok := v.Any().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("settings: missing: the provider %s is made by its settings", Name)
	}
	return keys, nil
}

var providerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

func build(keys map[string]any, dir string) (*Provider, error) {
	s := parse.NewSection("settings", keys)
	p := &Provider{}
	s.Ignore("comment", "path")
	if p.name = s.Text("provider", Name); !providerName.MatchString(p.name) {
		s.Fail("provider", "%q: letters, digits, - and _ expected, it stands in reports and in the names of files", p.name)
	}
	p.publicURL = s.Text("public_url", "")
	p.form = s.Word("content", "json", "json", "form") == "form"
	p.readZone(s)
	p.readItems(s)
	p.readSignature(s, dir)
	p.readChallenge(s)
	p.readFields(s)
	p.readEvents(s)
	p.checkUnsigned(s)
	p.readReplies(s)
	p.readStatements(s)
	s.Close()
	if s.Broken() != nil {
		return nil, s.Broken()
	}
	p.warn()
	return p, nil
}

// Name is the name the settings give the provider ("demopay"), as it stands in reports; without one, "generic".
func (p *Provider) Name() string { return p.name }

// Calendar is the zone of the statement's business day, else of the statement, else of the settings, else UTC. The day begins at
// midnight unless the settings have a day_cut.
func (p *Provider) Calendar() (zone string, cut time.Duration) {
	return cmp.Or(p.statements.dayZone, p.zone), p.statements.dayCut
}

// Warnings are settings that work but protect less than they seem to, for the start-up and the doctor to say.
func (p *Provider) Warnings() []string { return p.warnings }

func (p *Provider) readZone(s *parse.Section) {
	p.zone = s.Zone("timezone", "UTC")
	if st := s.Object("statement"); st != nil {
		p.zone = st.Zone("timezone", p.zone)
	}
}

func (p *Provider) warn() {
	say := func(format string, args ...any) { p.warnings = append(p.warnings, fmt.Sprintf(format, args...)) }
	if p.clock.on() && !p.signature.covers(p.clock.from) {
		say("settings.signature.timestamp: not part of the signed text: whoever replays an old callback can write a new time")
	}
	if !p.signature.coversContent() {
		say("settings.signature: does not cover the body: confirm its amounts by another way before you rely on them")
	}
	if p.fields.livemode.set() && p.fields.live == nil {
		say("settings.livemode: not set: test traffic is not told from live traffic")
	}
}

// refuse is the verdict on what is not proven genuine, or not for us.
func refuse(reason models.Reason, detail string) error {
	return &models.Rejection{Reason: reason, Detail: detail}
}
