package cmd

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"paybook/reconcile"
	"paybook/reconcile/source"
)

// Account is one configured account of a provider.
type Account struct {
	Name         string
	ProviderName string // as configured, such as "generic"; Provider.Name may say more
	Provider     provider
	Zone         *time.Location // of its business day and of times without an offset
	Cut          time.Duration  // when its business day begins, from local midnight; negative: the evening before
	Edge         time.Duration  // near a bound of the day, an unmatched row waits for the neighbouring day
	Lag          int            // days that missing_provider may wait, for providers that settle in batches
	Elsewhere    bool           // its orders are not kept here
	Fees         []reconcile.FeeRule
	settings     string   // a hash of the provider's settings, as they were read
	Statements   []string // patterns of the daily run's files, already joined with the configuration's folder

	Remotes  []source.Remote  // where its statements are fetched from
	FetchMax int64            // bytes of one fetched file
	Schedule *source.Schedule // when its runs are made by themselves; nil: never
	Silence  Silence          // when it is an alarm that no callbacks come
}

// accountName is what may stand in a URL and in a file's name as it is.
var accountName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

func readAccounts(s *section) []*Account {
	if !s.has("accounts") {
		return nil
	}
	list := s.keys["accounts"]
	if list.Kind != yaml.SequenceNode {
		s.fail("accounts", "a list expected, each item with - in front")
		return nil
	}
	var accounts []*Account
	lines := map[string]int{}
	for i, node := range list.Content {
		if node.Tag == "!!null" {
			s.r.fail(node, "accounts[%d]: empty", i)
		}
		item := s.r.section(node, fmt.Sprintf("accounts[%d].", i), "name", "provider", "time_zone", "statements", "day_cut", "edge", "lag",
			"orders", "livemode", "settings", "settings_file", "fees", "fetch", "schedule", "silence")
		a := readAccount(item)
		if first, twice := lines[a.Name]; twice {
			item.fail("name", "%s is the name of another account too, line %d", a.Name, first)
		}
		if s.r.err() != nil {
			return nil
		}
		lines[a.Name] = item.keys["name"].Line
		accounts = append(accounts, a)
	}
	return accounts
}

func readAccount(s *section) *Account {
	a := &Account{
		Name:         s.text("name", ""),
		ProviderName: s.text("provider", ""),
		Edge:         s.duration("edge", 10*time.Second, 0, 12*time.Hour),
		Lag:          s.whole("lag", 0, 0, 31),
		Elsewhere:    s.word("orders", "here", "here", "elsewhere") == "elsewhere",
	}
	if !accountName.MatchString(a.Name) {
		s.fail("name", "%q: small letters, digits, - and _ expected, it stands in the address /callbacks/NAME", a.Name)
	}
	for i, pattern := range s.list("statements") {
		if strings.TrimSpace(pattern) == "" {
			s.fail("statements", "[%d]: empty", i)
		}
		if err := checkPattern(pattern); err != nil {
			s.fail("statements", "[%d]: %q: %v", i, pattern, err)
		}
		a.Statements = append(a.Statements, s.r.path(pattern))
	}
	if a.ProviderName == "" {
		s.fail("provider", "missing; there is: %s", providerNames())
	}
	if s.r.err() == nil {
		a.Provider = readProvider(s, a)
	}
	if a.Provider != nil {
		readCalendar(s, a)
		checkDated(s, a)
		readFetch(s, a)
		a.Schedule, a.Silence = readSchedule(s, a), readSilence(s, a)
	}
	a.Fees = readFees(s)
	return a
}

// checkDated refuses a pattern that would find every day's file for each, but for a provider that settles in batches: their files are
// numbered, and may hold any day.
func checkDated(s *section, a *Account) {
	if p, ok := a.Provider.(reconcile.BatchSettler); ok && p.SettlesInBatches() {
		return
	}
	for i, pattern := range s.list("statements") {
		if !placeholder.MatchString(pattern) {
			s.fail("statements", "[%d]: %q: names no day, so that every day would read the same file; put %s where the date stands in its name", i, pattern, knownPlaceholders)
		}
	}
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}?|\}`)

const knownPlaceholders = "{date}, {yyyymmdd} or {yymmdd}"

// checkPattern refuses a pattern that would never find a day's file. Outside the placeholders braces mean nothing.
func checkPattern(pattern string) error {
	found := placeholder.FindAllString(pattern, -1)
	for _, p := range found {
		if p != "{date}" && p != "{yyyymmdd}" && p != "{yymmdd}" {
			return fmt.Errorf("unknown placeholder %s; there is %s", p, knownPlaceholders)
		}
	}
	if _, err := filepath.Match(placeholder.ReplaceAllString(pattern, "0"), ""); err != nil {
		return errors.New("no pattern: a [ or a \\ is not closed")
	}
	return nil
}

// readProvider hands the provider its settings, which stand here or in a file of their own.
func readProvider(s *section, a *Account) provider {
	if providers[a.ProviderName] == nil {
		s.fail("provider", "unknown provider %q; there is: %s", a.ProviderName, providerNames())
		return nil
	}
	r, node := s.r, s.keys["settings"]
	if s.has("settings_file") {
		if s.has("settings") {
			s.fail("settings_file", "settings stand here too; keep one of the two")
			return nil
		}
		r, node = settingsFile(s)
	}
	if node == nil || node.Tag == "!!null" {
		node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: s.node.Line}
	}
	if r.err() == nil && node.Kind != yaml.MappingNode {
		r.fail(node, "account %s: settings: keys and values expected", a.Name)
	}
	raw := r.json(withLivemode(s, node))
	if r.err() != nil {
		return nil
	}
	a.settings = fmt.Sprintf("%x", sha256.Sum256(raw))
	return newProvider(r, node, a, raw)
}

func newProvider(r *reader, node *yaml.Node, a *Account, raw json.RawMessage) provider {
	p, err := providers[a.ProviderName](raw, r.dir)
	if err != nil {
		r.fail(locate(node, err.Error()), "account %s: %v", a.Name, err)
		return nil
	}
	return p
}

func settingsFile(s *section) (*reader, *yaml.Node) {
	path := s.r.path(s.text("settings_file", ""))
	raw, err := os.ReadFile(path)
	if err != nil {
		s.fail("settings_file", "%v; the path is relative to the folder of the configuration file", err)
		return s.r, nil
	}
	s.r.used(path, "settings")
	node, err := parseFile(path, raw)
	if err != nil && s.r.err() == nil {
		*s.r.first = err
	}
	return s.r.beside(path), node
}

// withLivemode adds the account's livemode to the settings, which is where the providers that mark test traffic look.
func withLivemode(s *section, settings *yaml.Node) *yaml.Node {
	if !s.has("livemode") || settings.Kind != yaml.MappingNode {
		return settings
	}
	s.word("livemode", "", "true", "false")
	for i := 0; i < len(settings.Content); i += 2 {
		if settings.Content[i].Value == "livemode" {
			s.fail("livemode", "stands in the settings too; keep one of the two")
		}
	}
	both := *settings
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "livemode", Line: s.keys["livemode"].Line}
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: s.text("livemode", ""), Line: key.Line}
	both.Content = append(append([]*yaml.Node{}, settings.Content...), key, value)
	return &both
}

// readCalendar takes the provider's own day unless the account says otherwise.
func readCalendar(s *section, a *Account) {
	zone, cut := a.Provider.Calendar()
	name := s.text("time_zone", zone)
	location, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" { // the last two would mean this machine
		s.fail("time_zone", "%q: a name such as Asia/Shanghai expected", name)
		location = time.UTC
	}
	a.Zone, a.Cut = location, cut
	if text := s.text("day_cut", ""); text != "" {
		if a.Cut, err = parseCut(text); err != nil {
			s.fail("day_cut", "%v", err)
		}
	}
}

// parseCut reads when a business day begins. From noon on it is the evening before, as acquirers mean it: 23:00 is the same as
// -01:00, one hour before midnight.
func parseCut(text string) (time.Duration, error) {
	clock, negative := strings.CutPrefix(text, "-")
	at, err := time.Parse("15:04", clock)
	if err != nil || len(clock) != len("15:04") || negative && at.Hour() >= 12 {
		return 0, fmt.Errorf("%q: HH:MM expected, 00:00 to 11:59 in the morning, 12:00 to 23:59 the evening before", text)
	}
	cut := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	switch {
	case negative:
		return -cut, nil
	case cut >= 12*time.Hour:
		return cut - 24*time.Hour, nil
	}
	return cut, nil
}

// settingPath finds what a provider's message is about: settings.signature.secrets[0].
var settingPath = regexp.MustCompile(`^settings((?:\.[A-Za-z0-9_]+|\[[0-9]+\])+)`)

// locate is the node of the setting that a provider's message names, as deep as it exists, for the line.
func locate(node *yaml.Node, message string) *yaml.Node {
	match := settingPath.FindStringSubmatch(message)
	if match == nil {
		return node
	}
	steps := strings.FieldsFunc(match[1], func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	for _, step := range steps {
		next := child(node, step)
		if next == nil {
			return node
		}
		node = next
	}
	return node
}

func child(node *yaml.Node, step string) *yaml.Node {
	if i, err := strconv.Atoi(step); err == nil && node.Kind == yaml.SequenceNode {
		if i < len(node.Content) {
			return node.Content[i]
		}
		return nil
	}
	for i := 0; node.Kind == yaml.MappingNode && i < len(node.Content); i += 2 {
		if node.Content[i].Value == step {
			return node.Content[i+1]
		}
	}
	return nil
}

// warnings are settings that work but protect less than they seem to, one line each.
func (a *Account) warnings() []string {
	var out []string
	if p, ok := a.Provider.(interface{ Warnings() []string }); ok {
		for _, text := range p.Warnings() {
			out = append(out, "account "+a.Name+": "+text)
		}
	}
	return out
}

// dirOf is the folder in which a pattern begins to vary.
func dirOf(pattern string) string {
	fixed := pattern
	if i := strings.IndexAny(pattern, "*?[{"); i >= 0 {
		fixed = pattern[:i]
	}
	return filepath.Dir(fixed + "x") // with "x" a folder's own slash stays a folder
}
