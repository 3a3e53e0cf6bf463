package cmd

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"paybook/callback/queue"
)

// Names as NATS takes them.
var (
	queueName    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	queueSubject = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){0,7}$`)
)

// readQueue reads where callbacks come from besides HTTP; nil: from nowhere. Messages never hold a value that may be secret.
func readQueue(s *section) *queue.Options {
	q := s.object("queue", "url", "stream", "subject", "durable", "dead_subject", "max_deliver", "ack_wait", "credentials", "user", "password", "token", "create")
	o := &queue.Options{
		URL:         q.text("url", ""),
		Stream:      q.matching("stream", "CALLBACKS", queueName, "letters, digits, - and _"),
		Durable:     q.matching("durable", "paybook", queueName, "letters, digits, - and _"),
		Subject:     q.matching("subject", "callbacks", queueSubject, "a subject without wildcards such as callbacks or shop.callbacks"),
		DeadSubject: q.matching("dead_subject", "callbacks-dead", queueSubject, "a subject without wildcards such as callbacks-dead"),
		MaxDeliver:  q.whole("max_deliver", 20, 1, 10_000),
		AckWait:     q.duration("ack_wait", 30*time.Second, time.Second, time.Hour),
		NoCreate:    q.word("create", "true", "true", "false") == "false",
	}
	if o.URL == "" {
		if s.has("queue") {
			q.fail("url", "missing: write the server's address such as nats://queue.example.com:4222")
		}
		return nil
	}
	if !isQueueURL(o.URL) {
		q.fail("url", "an address such as nats://queue.example.com:4222 or tls://… expected, several separated by commas")
	}
	if o.Subject == o.DeadSubject || strings.HasPrefix(o.DeadSubject, o.Subject+".") || strings.HasPrefix(o.Subject, o.DeadSubject+".") {
		q.fail("dead_subject", "%s and queue.subject (%s) lie inside each other: a dead letter would be taken for a callback", o.DeadSubject, o.Subject)
	}
	readQueueLogin(q, o)
	return o
}

// readQueueLogin reads the one way in which we say who we are.
func readQueueLogin(q *section, o *queue.Options) {
	secret := func(key string) string {
		if _, set := q.override(key); !set && !q.has(key) {
			return ""
		}
		text := q.text(key, "")
		if strings.TrimSpace(text) == "" {
			q.fail(key, "empty: leave the key out if the server asks for none")
		}
		return text
	}
	o.User, o.Password, o.Token, o.Credentials = secret("user"), secret("password"), secret("token"), secret("credentials")
	if (o.User == "") != (o.Password == "") {
		q.fail("user", "queue.user and queue.password go together")
	}
	ways := 0
	for _, given := range []bool{o.User != "", o.Token != "", o.Credentials != "", strings.Contains(o.URL, "@")} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		q.fail("url", "one of queue.user with queue.password, queue.token, queue.credentials, or a login in queue.url expected; there is more than one")
	}
	if o.Credentials != "" && !strings.Contains(o.Credentials, "-----BEGIN") {
		o.Credentials = q.r.path(o.Credentials)
		q.r.used(o.Credentials, "secret")
	}
}

func isQueueURL(text string) bool {
	for part := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(part))
		if err != nil || u.Hostname() == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return false
		}
	}
	return true
}

// matching is a text of a certain form.
func (s *section) matching(key, fallback string, form *regexp.Regexp, expected string) string {
	text := s.text(key, fallback)
	if !form.MatchString(text) {
		s.fail(key, "%q: %s expected", text, expected)
	}
	return text
}
