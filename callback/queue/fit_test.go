package queue_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"paybook/callback/queue"
	"paybook/ledger/ledgertest"
)

// What is on the server and does not fit is refused, and the message names the setting; nothing is changed on the server.
func TestMisfits(t *testing.T) {
	n := ledgertest.StartNATS(t)
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	const name, subject = "CALLBACKS", "callbacks.*"
	stream := func(name string, subjects ...string) jetstream.StreamConfig {
		return jetstream.StreamConfig{Name: name, Subjects: subjects}
	}
	explicit := jetstream.ConsumerConfig{Durable: "paybook", FilterSubject: subject, AckPolicy: jetstream.AckExplicitPolicy}
	with := func(change func(*jetstream.ConsumerConfig)) *jetstream.ConsumerConfig {
		c := explicit
		change(&c)
		return &c
	}
	for what, c := range map[string]struct {
		streams  []jetstream.StreamConfig
		consumer *jetstream.ConsumerConfig
		options  func(*queue.Options)
		want     string // "": it fits
	}{
		"nothing there":               {},
		"nothing there, none made":    {options: func(o *queue.Options) { o.NoCreate = true }, want: "queue.stream: there is no stream CALLBACKS"},
		"wider stream":                {streams: []jetstream.StreamConfig{stream(name, "callbacks.>")}},
		"stream of everything ours":   {streams: []jetstream.StreamConfig{stream(name, "other", "callbacks.*", "callbacks-dead.*")}},
		"other subjects":              {streams: []jetstream.StreamConfig{stream(name, "orders.>")}, want: "queue.subject: the stream CALLBACKS takes orders.>, and not callbacks.*"},
		"one account only":            {streams: []jetstream.StreamConfig{stream(name, "callbacks.demopay")}, want: "queue.subject"},
		"subject of another stream":   {streams: []jetstream.StreamConfig{stream("SHOP", subject)}, want: "queue.stream: there is no stream CALLBACKS, and callbacks.* goes into the stream SHOP"},
		"no dead letters, none made":  {streams: []jetstream.StreamConfig{stream(name, subject)}, options: func(o *queue.Options) { o.NoCreate = true }, want: "queue.dead_subject"},
		"dead letters of one account": {streams: []jetstream.StreamConfig{stream(name, subject), stream("D", "callbacks-dead.a")}, want: "queue.dead_subject"},
		"no consumer, none made":      {streams: []jetstream.StreamConfig{stream(name, subject), stream("D", "callbacks-dead.>")}, options: func(o *queue.Options) { o.NoCreate = true }, want: "queue.durable"},
		"fitting consumer":            {streams: []jetstream.StreamConfig{stream(name, subject)}, consumer: &explicit},
		"no acknowledgement": {streams: []jetstream.StreamConfig{stream(name, subject)}, consumer: with(func(c *jetstream.ConsumerConfig) { c.AckPolicy = jetstream.AckNonePolicy }),
			want: "queue.durable: the consumer paybook of the stream CALLBACKS has the ack policy"},
		"acknowledges all before": {streams: []jetstream.StreamConfig{stream(name, subject)}, consumer: with(func(c *jetstream.ConsumerConfig) { c.AckPolicy = jetstream.AckAllPolicy }),
			want: "queue.durable"},
		"gives up before us":     {streams: []jetstream.StreamConfig{stream(name, subject)}, consumer: with(func(c *jetstream.ConsumerConfig) { c.MaxDeliver = 5 }), want: "max_deliver"},
		"gives up long after us": {streams: []jetstream.StreamConfig{stream(name, subject)}, consumer: with(func(c *jetstream.ConsumerConfig) { c.MaxDeliver = 5000 }), want: "max_deliver"},
		"brings no bodies":       {streams: []jetstream.StreamConfig{stream(name, subject)}, consumer: with(func(c *jetstream.ConsumerConfig) { c.HeadersOnly = true }), want: "headers_only"},
		"small fetches":          {streams: []jetstream.StreamConfig{stream(name, subject)}, consumer: with(func(c *jetstream.ConsumerConfig) { c.MaxRequestBatch = 1 }), want: "max_batch 1"},
		"short fetches":          {streams: []jetstream.StreamConfig{stream(name, subject)}, consumer: with(func(c *jetstream.ConsumerConfig) { c.MaxRequestExpires = 500 * time.Millisecond }), want: "max_expires 500ms"},
		"dead letters that nobody keeps": {streams: []jetstream.StreamConfig{stream(name, subject), {Name: "D", Subjects: []string{"callbacks-dead.*"}, Retention: jetstream.InterestPolicy}},
			want: "queue.dead_subject: the stream D keeps only what a consumer waits for"},
		"dead letters that may go": {streams: []jetstream.StreamConfig{stream(name, subject), {Name: "D", Subjects: []string{"callbacks-dead.*"}, MaxMsgs: 10}}},
		"takes one account":        {streams: []jetstream.StreamConfig{stream(name, subject)}, consumer: with(func(c *jetstream.ConsumerConfig) { c.FilterSubject = "callbacks.a" }), want: "takes callbacks.a"},
		"takes what is not ours": {streams: []jetstream.StreamConfig{stream(name, subject, "other")}, consumer: with(func(c *jetstream.ConsumerConfig) { c.FilterSubject = "" }),
			want: "takes other besides callbacks.*"},
	} {
		t.Run(what, func(t *testing.T) {
			change := []func(*queue.Options){}
			if c.options != nil {
				change = append(change, c.options)
			}
			s := newStand(t, book, n, change...)
			s.connect()
			for _, config := range c.streams {
				if _, err := s.js.CreateStream(t.Context(), config); err != nil {
					t.Fatal(err)
				}
			}
			if c.consumer != nil {
				if _, err := s.js.CreateConsumer(t.Context(), name, *c.consumer); err != nil {
					t.Fatal(err)
				}
			}
			before := s.inventory()
			state, checkErr := queue.Check(t.Context(), s.options)
			if got := s.inventory(); got != before {
				t.Errorf("Check changed the server from %s to %s", before, got)
			}
			err := s.consumer.Prepare(t.Context())
			var misfit *queue.Misfit
			switch {
			case c.want == "" && (err != nil || checkErr != nil || state.Version == ""):
				t.Errorf("got %v, Check %+v %v", err, state, checkErr)
			case c.want != "" && (!errors.As(err, &misfit) || !strings.Contains(err.Error(), c.want) || checkErr == nil):
				t.Errorf("got %v, Check %v; want %s", err, checkErr, c.want)
			case c.want != "" && s.inventory() != before:
				t.Errorf("a misfit changed the server from %s to %s", before, s.inventory())
			case c.want == "" && what != "nothing there":
				if err := s.consumer.Prepare(t.Context()); err != nil {
					t.Errorf("a second time: %v", err)
				}
			}
			for _, name := range s.streams() {
				if err := s.js.DeleteStream(t.Context(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A push consumer of the same name is no pull consumer.
func TestPushConsumer(t *testing.T) {
	s := newStand(t, ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db")), ledgertest.StartNATS(t))
	s.connect()
	if _, err := s.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "CALLBACKS", Subjects: []string{"callbacks.*"}}); err != nil {
		t.Fatal(err)
	}
	push := jetstream.ConsumerConfig{Durable: "paybook", DeliverSubject: "elsewhere", AckPolicy: jetstream.AckExplicitPolicy}
	if _, err := s.js.CreatePushConsumer(t.Context(), "CALLBACKS", push); err != nil {
		t.Fatal(err)
	}
	if err := s.consumer.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "queue.durable") || !strings.Contains(err.Error(), "push") {
		t.Errorf("got %v", err)
	}
}

// A changed ack_wait reaches the consumer that is there; nothing else of it is touched.
func TestAckWaitFollowsTheConfiguration(t *testing.T) {
	n := ledgertest.StartNATS(t)
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	for _, wait := range []time.Duration{30 * time.Second, 5 * time.Second} {
		s := newStand(t, book, n, func(o *queue.Options) { o.AckWait = wait })
		s.connect()
		if err := s.consumer.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		c, err := s.js.Consumer(t.Context(), "CALLBACKS", "paybook")
		if err != nil {
			t.Fatal(err)
		}
		if has := c.CachedInfo().Config; has.AckWait != wait || has.MaxDeliver != -1 || has.MaxAckPending != -1 || has.AckPolicy != jetstream.AckExplicitPolicy {
			t.Errorf("the consumer is %+v, want ack_wait %v", has, wait)
		}
	}
}

// Who is not let in is told so at once, and no secret is in any message.
func TestNotLetIn(t *testing.T) {
	n := ledgertest.StartNATS(t, "--user", "edge", "--pass", "CANARY-right")
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	for what, change := range map[string]func(*queue.Options){
		"nothing given":  func(*queue.Options) {},
		"wrong password": func(o *queue.Options) { o.User, o.Password = "edge", "CANARY-wrong" },
		"wrong token":    func(o *queue.Options) { o.Token = "CANARY-token" },
		"wrong in URL":   func(o *queue.Options) { o.URL = strings.Replace(n.URL, "//", "//edge:CANARY-url@", 1) },
	} {
		s := newStand(t, book, n, change)
		err := s.consumer.Prepare(t.Context())
		var misfit *queue.Misfit
		if _, checkErr := queue.Check(t.Context(), s.options); checkErr == nil || strings.Contains(checkErr.Error(), "CANARY") {
			t.Errorf("%s: Check says %v", what, checkErr)
		}
		if !errors.As(err, &misfit) || !strings.Contains(err.Error(), n.URL) || strings.Contains(err.Error()+s.log.String(), "CANARY") {
			t.Errorf("%s: %v", what, err)
		}
	}
	s := newStand(t, book, n, func(o *queue.Options) { o.User, o.Password = "edge", "CANARY-right" })
	if err := s.consumer.Prepare(t.Context()); err != nil {
		t.Error(err)
	}
}

// A server without JetStream is no error that ends the program: it may be turned on. The log says what to do, once.
func TestCheckOfAServerThatIsAway(t *testing.T) {
	state, err := queue.Check(t.Context(), queue.Options{URL: "nats://me:CANARY@127.0.0.1:1"})
	if err == nil || strings.Contains(err.Error(), "CANARY") || !strings.Contains(err.Error(), "nats://127.0.0.1:1") || state.Address != "nats://127.0.0.1:1" {
		t.Errorf("%+v, %v", state, err)
	}
}

func (s *stand) streams() (names []string) {
	s.t.Helper()
	list := s.js.StreamNames(s.t.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	if err := list.Err(); err != nil && !errors.Is(err, jetstream.ErrEndOfData) {
		s.t.Fatal(err)
	}
	return names
}

// inventory is what is on the server, in one line.
func (s *stand) inventory() string {
	s.t.Helper()
	out := ""
	for _, name := range s.streams() {
		stream, err := s.js.Stream(s.t.Context(), name)
		if err != nil {
			s.t.Fatal(err)
		}
		info := stream.CachedInfo()
		out += fmt.Sprintf("%s %v %v %d consumers; ", name, info.Config.Subjects, info.Config.Retention, info.State.Consumers)
	}
	return out
}
