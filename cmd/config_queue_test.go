package cmd

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/callback/queue"
)

func TestConfigQueue(t *testing.T) {
	dir := writeFiles(t, map[string]string{"secret": "CANARY-file\n", "whole.yaml": `queue:
  url: "nats://a:4222, tls://b:4222"
  stream: SHOP
  subject: shop.callbacks
  durable: books
  dead_subject: shop.dead
  max_deliver: 5
  ack_wait: 10s
  user: me
  password: file:secret
  create: false
`, "token.yaml": "queue: {url: 'nats://a', token: '${TOKEN}'}\n", "creds.yaml": "queue: {url: 'nats://a', credentials: some.creds}\n", "none.yaml": "listen: ':1'\n"})
	defaults := queue.Options{URL: "nats://a", Stream: "CALLBACKS", Subject: "callbacks", Durable: "paybook", DeadSubject: "callbacks-dead", MaxDeliver: 20, AckWait: 30 * time.Second}
	with := func(change func(*queue.Options)) *queue.Options {
		o := defaults
		change(&o)
		return &o
	}
	for file, c := range map[string]struct {
		env  map[string]string
		want *queue.Options
	}{
		"whole.yaml": {nil, &queue.Options{URL: "nats://a:4222, tls://b:4222", Stream: "SHOP", Subject: "shop.callbacks", Durable: "books", DeadSubject: "shop.dead",
			MaxDeliver: 5, AckWait: 10 * time.Second, User: "me", Password: "CANARY-file", NoCreate: true}},
		"token.yaml": {map[string]string{"TOKEN": "CANARY-env"}, with(func(o *queue.Options) { o.Token = "CANARY-env" })},
		"creds.yaml": {nil, with(func(o *queue.Options) { o.Credentials = filepath.Join(dir, "some.creds") })},
		"none.yaml":  {nil, nil},
	} {
		conf, err := loadConfig(filepath.Join(dir, file), lookup(c.env))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if got, want := fmt.Sprintf("%#v", conf.Queue), fmt.Sprintf("%#v", c.want); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
		if printed := fmt.Sprintf("%v %+v %s", conf.Queue, conf.Queue, conf.Queue); strings.Contains(printed, "CANARY") {
			t.Errorf("%s: printed as %s", file, printed)
		}
	}
	conf, err := loadConfig(filepath.Join(dir, "none.yaml"), lookup(map[string]string{"APP_QUEUE_URL": "nats://a", "APP_QUEUE_TOKEN": "CANARY-env"}))
	if err != nil || conf.Queue == nil || conf.Queue.Token != "CANARY-env" || conf.Queue.Stream != "CALLBACKS" {
		t.Errorf("from the environment alone: %#v, %v", conf.Queue, err)
	}
}

func TestConfigQueueRefused(t *testing.T) {
	for text, want := range map[string]string{
		"queue:\n  stream: A\n":                                                          "queue.url: missing",
		"queue: {}\n":                                                                    "queue.url: missing",
		"queue: nats://CANARY\n":                                                         "queue: keys and values expected",
		"queue:\n  url: CANARY:4222\n":                                                   "app.yaml:2: queue.url: an address",
		"queue:\n  url: http://me:CANARY@a\n":                                            "app.yaml:2: queue.url: an address",
		"queue:\n  url: nats://me:CANARY@h:x y\n":                                        "app.yaml:2: queue.url: an address",
		"queue:\n  url: nats://\n":                                                       "queue.url: an address",
		"queue:\n  url: nats://a\n  streams: A\n":                                        "app.yaml:3: queue.streams: unknown key",
		"queue:\n  url: nats://a\n  stream: A.B\n":                                       "app.yaml:3: queue.stream",
		"queue:\n  url: nats://a\n  durable: 'a b'\n":                                    "app.yaml:3: queue.durable",
		"queue:\n  url: nats://a\n  subject: callbacks.*\n":                              "app.yaml:3: queue.subject",
		"queue:\n  url: nats://a\n  subject: callbacks.>\n":                              "app.yaml:3: queue.subject",
		"queue:\n  url: nats://a\n  dead_subject: callbacks\n":                           "app.yaml:3: queue.dead_subject",
		"queue:\n  url: nats://a\n  dead_subject: callbacks.dead\n":                      "app.yaml:3: queue.dead_subject",
		"queue:\n  url: nats://a\n  max_deliver: 0\n":                                    "app.yaml:3: queue.max_deliver",
		"queue:\n  url: nats://a\n  ack_wait: 10ms\n":                                    "app.yaml:3: queue.ack_wait",
		"queue:\n  url: nats://a\n  create: maybe\n":                                     "app.yaml:3: queue.create",
		"queue:\n  url: nats://a\n  user: me\n":                                          "app.yaml:3: queue.user: queue.user and queue.password go together",
		"queue:\n  url: nats://a\n  password: CANARY\n":                                  "go together",
		"queue:\n  url: nats://a\n  token: '  '\n":                                       "app.yaml:3: queue.token: empty",
		"queue:\n  url: nats://a\n  token: '${EMPTY}'\n":                                 "app.yaml:3: queue.token: empty",
		"queue:\n  url: nats://a\n  token: '${UNSET}'\n":                                 "app.yaml:3: queue.token: environment variable UNSET is not set",
		"queue:\n  url: nats://a\n  password: file:nosuch\n  user: me\n":                 "app.yaml:3: queue.password",
		"queue:\n  url: nats://a\n  user: me\n  password: CANARY\n  token: CANARY-two\n": "there is more than one",
		"queue:\n  url: nats://me:CANARY@a\n  token: CANARY-two\n":                       "there is more than one",
	} {
		file := filepath.Join(writeFiles(t, map[string]string{"app.yaml": text}), "app.yaml")
		_, err := loadConfig(file, lookup(map[string]string{"EMPTY": ""}))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}
