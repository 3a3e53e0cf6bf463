package cmd

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile/alert"
)

// alertKeys are the keys of a sink, beside those that every sink has.
var alertKeys = map[string][]string{
	"log":      nil,
	"webhook":  {"url", "secret"},
	"feishu":   {"url", "secret"},
	"dingtalk": {"url", "secret"},
	"wecom":    {"url"},
	"slack":    {"url"},
	"email":    {"server", "user", "password", "sender", "to"},
}

const alertKinds = "log, webhook, feishu, dingtalk, wecom, slack or email"

// Alert is one configured sink. Sink is made when there is a log and a clock.
type Alert struct {
	alert.Route
	kind string
	open func(log *slog.Logger, now func() time.Time) alert.Sink
}

// readAlerts reads who is told. Without any, what is the matter is in the log only.
func readAlerts(s *section, accounts []*Account) []Alert {
	if !s.has("alerts") {
		return nil
	}
	list := s.keys["alerts"]
	if list.Kind != yaml.SequenceNode {
		s.fail("alerts", "a list expected, each item with - in front")
		return nil
	}
	var out []Alert
	for i, node := range list.Content {
		kind := ""
		if k := child(node, "kind"); k != nil {
			kind = k.Value
		}
		own, known := alertKeys[kind]
		if !known {
			s.r.fail(node, "alerts[%d].kind: %q: %s expected", i, kind, alertKinds)
			return nil
		}
		keys := append([]string{"name", "kind", "accounts", "kinds", "min", "balanced", "digest", "time_zone", "lang"}, own...)
		item := s.r.section(node, fmt.Sprintf("alerts[%d].", i), keys...)
		a := readAlert(item, kind, accounts)
		if s.r.err() != nil {
			return nil
		}
		if slices.ContainsFunc(out, func(other Alert) bool { return other.Name == a.Name }) {
			item.fail("name", "%s is the name of another sink too", a.Name)
		}
		out = append(out, a)
	}
	return out
}

func readAlert(s *section, kind string, accounts []*Account) Alert {
	a := Alert{kind: kind}
	a.Name = s.text("name", kind)
	if !accountName.MatchString(a.Name) {
		s.fail("name", "%q: small letters, digits, - and _ expected", a.Name)
	}
	for i, name := range s.list("accounts") {
		if !slices.ContainsFunc(accounts, func(x *Account) bool { return x.Name == name }) && !strings.HasPrefix(name, "bank/") {
			s.failItem("accounts", i, "no account %q", name)
		}
		a.Accounts = append(a.Accounts, name)
	}
	for i, text := range s.list("kinds") {
		if !slices.Contains(allGapKinds, models.GapKind(text)) {
			s.failItem("kinds", i, "unknown kind of gap %q", text)
		}
		a.Kinds = append(a.Kinds, models.GapKind(text))
	}
	a.Min = s.whole("min", 1, 1, 1_000_000)
	a.Balanced = s.word("balanced", "false", "true", "false") == "true"
	a.Lang = s.word("lang", "en", "en", "zh")
	a.Digest, a.Zone = s.clock("digest", never), time.UTC
	if len(accounts) > 0 {
		a.Zone = accounts[0].Zone
	}
	if text := s.text("time_zone", ""); text != "" {
		zone, err := time.LoadLocation(text)
		if err != nil || text == "Local" {
			s.fail("time_zone", "%q: a name such as Asia/Shanghai expected", text)
		}
		a.Zone = zone
	}
	a.open = readSink(s, kind)
	return a
}

func readSink(s *section, kind string) func(*slog.Logger, func() time.Time) alert.Sink {
	if kind == "email" {
		mailbox := readEmail(s)
		return func(*slog.Logger, func() time.Time) alert.Sink { return mailbox }
	}
	address, client := "", (*http.Client)(nil)
	if kind != "log" {
		address, client = readSinkURL(s)
	}
	secret := ""
	if slices.Contains(alertKeys[kind], "secret") {
		secret = secretText(s, "secret")
	}
	var key []byte
	if kind == "webhook" {
		var err error
		if key, err = alert.ParseSecret(secret); err != nil {
			s.fail("secret", "%v", err)
		}
	}
	return func(log *slog.Logger, now func() time.Time) alert.Sink {
		switch kind {
		case "webhook":
			return &alert.Webhook{URL: address, Key: key, Client: client, Now: now}
		case "feishu":
			return &alert.Feishu{URL: address, Secret: secret, Client: client, Now: now}
		case "dingtalk":
			return &alert.DingTalk{URL: address, Secret: secret, Client: client, Now: now}
		case "wecom":
			return &alert.WeCom{URL: address, Client: client}
		case "slack":
			return &alert.Slack{URL: address, Client: client}
		}
		return &alert.Log{Log: log}
	}
}

// readSinkURL reads an address, which may hold a key: no message shows it. Only its host can be reached.
func readSinkURL(s *section) (string, *http.Client) {
	text := s.text("url", "")
	u, err := url.Parse(text)
	switch {
	case text == "":
		s.fail("url", "missing: the address to post to")
		return "", nil
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		s.fail("url", "an address such as https://… expected, without a user in it")
		return "", nil
	case u.Scheme == "http" && !isNear(u.Hostname()):
		s.fail("url", "https expected: http is for localhost and for addresses of a private network")
	}
	host := u.Host
	if u.Port() == "" && u.Scheme == "http" {
		host = net.JoinHostPort(u.Hostname(), "80")
	}
	return text, outbound([]string{host})
}

func readEmail(s *section) *alert.Email {
	m := &alert.Email{Server: s.address("server", ""), User: s.text("user", ""), Password: secretText(s, "password")}
	if host, _, err := net.SplitHostPort(m.Server); err != nil || host == "" {
		s.fail("server", "HOST:PORT of the mail server expected, such as smtp.example.com:587")
	}
	if (m.User == "") != (m.Password == "") {
		s.fail("user", "user and password go together")
	}
	var err error
	if m.From, err = mail.ParseAddress(s.text("sender", "")); err != nil {
		s.fail("sender", "an address such as paybook@example.com expected")
	}
	for i, text := range s.list("to") {
		to, err := mail.ParseAddress(text)
		if err != nil {
			s.failItem("to", i, "an address such as finance@example.com expected")
		}
		m.To = append(m.To, to)
	}
	if len(m.To) == 0 {
		s.fail("to", "missing: who is to get it")
	}
	return m
}

// post is who is told, ready to be used.
func (a *app) post(c *Config, book *ledger.Ledger, log *slog.Logger) *alert.Post {
	p := &alert.Post{Book: book, Now: a.now, Log: log}
	for _, account := range c.Accounts {
		p.Accounts = append(p.Accounts, account.Name)
	}
	for _, configured := range c.Alerts {
		r := configured.Route
		r.Sink = configured.open(log, a.now)
		p.Routes = append(p.Routes, r)
	}
	return p
}
