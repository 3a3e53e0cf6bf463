package queue_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"paybook/callback/queue"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// What is forged is kept as evidence, dies once, and is never booked.
func TestForged(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := newStand(t, book, ledgertest.StartNATS(t))
		ledgertest.Order(t, book, "O1", "49.99", "USD")
		s.run()
		m := forged("P1", "O1")
		m.Header.Add("X-Two", "a")
		m.Header.Add("X-Two", "b")
		m.Header.Set("Nats-Expected-Stream", "CALLBACKS") // would forbid to store the dead letter
		m.Header.Set(queue.DeadReason, "made up")
		s.publish(m, payment("P2", ""))
		s.idle()
		s.stop()
		if rows, _ := transactions(t, book); rows != 1 || orders(t, book, "O1")["O1"].Status != models.Unpaid {
			t.Errorf("%d rows, the order is %s; want only the genuine one", rows, orders(t, book, "O1")["O1"].Status)
		}
		refused, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{Reason: models.ReasonSignature})
		if err != nil || len(refused) != 1 || refused[0].Verified || refused[0].Status != 401 || !bytes.Equal(refused[0].Body, m.Data) {
			t.Fatalf("evidence %+v, %v", refused, err)
		}
		for name := range refused[0].Headers {
			if strings.HasPrefix(name, "Nats-") || strings.HasPrefix(name, "App-") {
				t.Errorf("the evidence has the header %s, which is not the provider's", name)
			}
		}
		dead := s.dead()
		if len(dead) != 1 {
			t.Fatalf("%d dead letters, want 1", len(dead))
		}
		d := dead[0]
		for name, want := range map[string]string{queue.DeadReason: "signature", queue.DeadDeliveries: "1", queue.DeadStream: "CALLBACKS", queue.DeadSequence: "1",
			queue.DeadSubject: "callbacks.demopay", "X-Demo-Signature": m.Header.Get("X-Demo-Signature")} {
			if got := d.Header.Get(name); got != want {
				t.Errorf("header %s: %q, want %q", name, got, want)
			}
		}
		if d.Subject != "callbacks-dead.demopay" || !bytes.Equal(d.Data, m.Data) || len(d.Header["X-Two"]) != 2 || d.Header.Get("App-Received-At") == "" ||
			d.Header.Get(queue.DeadDetail) == "" || d.Header.Get("Nats-Expected-Stream") != "" || len(d.Header[queue.DeadReason]) != 1 {
			t.Errorf("dead letter %s %v", d.Subject, d.Header)
		}
		if s.result("demopay refused") != 1 || s.result("demopay booked") != 1 {
			t.Errorf("counted %v", s.results)
		}
	})
}

// What dies, and why; none of it is booked, and the good ones among them are.
func TestPoisonAmongGoodOnes(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := newStand(t, book, ledgertest.StartNATS(t), func(o *queue.Options) { o.MaxDeliver = 3 })
		s.server.BodyMax = 4096
		s.run()
		s.provider.set("POISON")
		unknown := payment("U1", "")
		unknown.Subject = "callbacks.nobody"
		large := payment("L1", "")
		large.Data = append(large.Data, bytes.Repeat([]byte(" "), 5000)...)
		packed := payment("Z1", "")
		packed.Header.Set("content-encoding", "gzip")
		timeless := payment("T1", "")
		timeless.Header.Set("App-Received-At", "yesterday")
		twice := payment("T2", "")
		now := time.Now().Format(time.RFC3339Nano)
		twice.Header["App-Received-At"], twice.Header["app-received-at"] = []string{now}, []string{now}
		old := payment("T3", "")
		old.Header.Set("App-Received-At", time.Now().Add(-time.Hour).Format(time.RFC3339Nano))
		empty := nats.NewMsg("callbacks.demopay")
		cases := []struct {
			m      *nats.Msg
			reason string
		}{{payment("POISON", ""), "failed"}, {unknown, "unknown_account"}, {large, "too_large"}, {packed, "malformed"}, {timeless, "malformed"}, {twice, "malformed"},
			{old, "timestamp"}, {empty, "signature"}}
		for i, c := range cases {
			s.publish(payment(fmt.Sprintf("GOOD%d", i), ""), c.m)
		}
		s.idle()
		s.stop()
		if rows, _ := transactions(t, book); rows != len(cases) {
			t.Errorf("%d rows, want the %d good ones", rows, len(cases))
		}
		reasons := map[string]string{}
		for _, d := range s.dead() {
			reasons[string(d.Data)] = d.Header.Get(queue.DeadReason)
			if want := map[bool]string{true: "3", false: "1"}[d.Header.Get(queue.DeadReason) == "failed"]; d.Header.Get(queue.DeadDeliveries) != want {
				t.Errorf("%s died after %s deliveries, want %s", d.Header.Get(queue.DeadReason), d.Header.Get(queue.DeadDeliveries), want)
			}
		}
		for _, c := range cases {
			if got := reasons[string(c.m.Data)]; got != c.reason {
				t.Errorf("%.60s: died of %q, want %q", c.m.Data, got, c.reason)
			}
		}
		if s.result(" refused") != 1 || s.result("demopay dead") != 1 || s.result("demopay again") != 2 {
			t.Errorf("counted %v; a name from outside must not be one", s.results)
		}
	})
}

// A fault of ours ends neither the consumer nor the message's life before its time.
func TestPanicIsAFailure(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	s := newStand(t, book, ledgertest.StartNATS(t))
	s.run()
	s.provider.set("panic")
	s.publish(payment("panic", ""), payment("P1", ""))
	s.wait("two tries", func() bool { return s.result("demopay again") >= 2 })
	s.provider.set("")
	s.idle()
	s.stop()
	if rows, _ := transactions(t, book); rows != 2 || len(s.dead()) != 0 {
		t.Errorf("%d rows, %d dead letters; want 2 and 0", rows, len(s.dead()))
	}
}

// A row that the database will not take is the message's fault, also when it is alone: it dies after its deliveries, the rest is booked.
func TestRowThatCannotBeWritten(t *testing.T) {
	t.Parallel() // it mostly waits
	file := filepath.Join(t.TempDir(), "app.db")
	book := ledgertest.Open(t, "sqlite:"+file, ledger.Options{Patience: time.Second})
	execSQL(t, file, "CREATE TRIGGER no BEFORE INSERT ON transactions WHEN NEW.transaction_id = 'BAD' BEGIN SELECT RAISE(ABORT, 'not this one'); END")
	s := newStand(t, book, ledgertest.StartNATS(t), func(o *queue.Options) { o.MaxDeliver = 2 })
	s.run()
	s.publish(payment("BAD", ""))
	s.idle()
	s.publish(payment("GOOD", ""))
	s.idle()
	s.stop()
	if rows, _ := transactions(t, book); rows != 1 {
		t.Errorf("%d rows, want the good one", rows)
	}
	if dead := s.dead(); len(dead) != 1 || dead[0].Header.Get(queue.DeadReason) != "failed" || dead[0].Header.Get(queue.DeadDeliveries) != "2" {
		t.Errorf("dead letters %+v", dead)
	}
}

// Without a place for the dead letter the message stays; and killed between the two steps, the dead letter is there once.
func TestNeverTerminatedBeforeTheDeadLetterIsStored(t *testing.T) {
	t.Parallel() // it mostly waits
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	s := newStand(t, book, ledgertest.StartNATS(t))
	s.connect()
	full := jetstream.StreamConfig{Name: "CALLBACKS_DEAD", Subjects: []string{"callbacks-dead.*"}, MaxMsgSize: 10}
	if _, err := s.js.CreateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	s.run()
	s.publish(forged("P1", ""))
	s.wait("two tries", func() bool { return s.result("demopay again") >= 2 })
	if n := len(s.dead()); n != 0 || s.result("demopay refused") != 0 {
		t.Errorf("%d dead letters in a stream that takes none", n)
	}
	full.MaxMsgSize = -1
	if _, err := s.js.UpdateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	s.idle()
	s.stop()
	dead := s.dead()
	if len(dead) != 1 {
		t.Fatalf("%d dead letters", len(dead))
	}
	again := &nats.Msg{Subject: dead[0].Subject, Header: dead[0].Header, Data: dead[0].Data}
	if ack, err := s.js.PublishMsg(t.Context(), again); err != nil || !ack.Duplicate {
		t.Errorf("the same dead letter a second time: %+v, %v; want a duplicate", ack, err)
	}
}

// A message for which the dead letter has no room stays, and the log says what to do.
func TestDeadLetterTooLargeForTheServer(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	s := newStand(t, book, ledgertest.StartNATS(t))
	s.run()
	m := forged("P1", "")
	m.Data = append(m.Data, bytes.Repeat([]byte(" "), 1<<20-300-len(m.Data))...)
	s.publish(m)
	s.wait("two tries", func() bool { return s.result("demopay again") >= 2 })
	s.stop()
	if len(s.dead()) != 0 || !strings.Contains(s.log.String(), "max_payload") {
		t.Errorf("%d dead letters; the log must name max_payload", len(s.dead()))
	}
	if list := callbacks(t, book); len(list) != 1 || list[0].Reason != models.ReasonSignature {
		t.Errorf("evidence %+v", list)
	}
}

// A message that ends the program each time, before anybody can say so, dies too.
func TestMessageThatNobodyComesBackFrom(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	s := newStand(t, book, ledgertest.StartNATS(t), func(o *queue.Options) { o.MaxDeliver = 2 })
	s.connect()
	if err := s.consumer.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.publish(payment("P1", ""))
	c, err := s.js.Consumer(t.Context(), "CALLBACKS", "paybook")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		msg, err := c.Next(jetstream.FetchMaxWait(patience))
		if err != nil {
			t.Fatal(err)
		}
		if err := msg.Nak(); err != nil { // as if the server had waited in vain
			t.Fatal(err)
		}
	}
	s.start()
	s.idle()
	s.stop()
	dead := s.dead()
	if rows, _ := transactions(t, book); rows != 0 || len(dead) != 1 || dead[0].Header.Get(queue.DeadReason) != "failed" || dead[0].Header.Get(queue.DeadDeliveries) != "11" {
		t.Fatalf("%d rows, dead letters %+v", rows, dead)
	}
	if got := replay(s); got["booked"].Now != "no_order" {
		t.Errorf("replayed %+v", got)
	}
}

// Dead letters are brought again at their own time: booked and gone, or left.
func TestReplayOfDeadLetters(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := newStand(t, book, ledgertest.StartNATS(t), func(o *queue.Options) { o.MaxDeliver = 2 })
		if err := s.consumer.Replay(t.Context(), func(queue.DeadLetter) error { t.Error("a dead letter before there is any"); return nil }); err != nil {
			t.Fatal(err)
		}
		ledgertest.Order(t, book, "O1", "49.99", "USD")
		s.run()
		s.provider.set("POISON")
		old := payment("POISON1", "O1") // as old as its signature may be: in a moment it would be too old, but for its own time
		at := time.Now()
		old.Header.Set("App-Received-At", at.Format(time.RFC3339Nano))
		unknown := payment("U1", "")
		unknown.Subject = "callbacks.nobody"
		s.publish(old, payment("POISON2", ""), forged("F1", ""), unknown)
		s.idle()
		s.stop()
		if n := len(s.dead()); n != 4 {
			t.Fatalf("%d dead letters, want 4", n)
		}
		s.provider.set("POISON2")
		want := map[string]string{"failed": "failed", "signature": "signature", "unknown_account": "unknown_account"}
		got := replay(s)
		if len(got) != 4 || got["booked"].Account != "demopay" || got["booked"].Now != "applied" || got["booked"].Deliveries != "2" {
			t.Errorf("replayed %+v", got)
		}
		for reason, now := range want {
			if d := got[reason]; d.Booked || !strings.HasPrefix(d.Now, now) {
				t.Errorf("%s: %+v", reason, d)
			}
		}
		if o := orders(t, book, "O1")["O1"]; o.Status != models.Paid {
			t.Errorf("the order is %s", o.Status)
		}
		cb, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{Outcome: models.OutcomeApplied})
		if err != nil || len(cb) != 1 || !cb[0].ReceivedAt.Equal(at.UTC().Truncate(time.Microsecond)) {
			t.Errorf("evidence %+v, %v; want its own time of receipt %v", cb, err, at)
		}
		s.provider.set("")
		if got := replay(s); len(got) != 3 || got["booked"].Now != "no_order" {
			t.Errorf("replayed %+v", got)
		}
		if n := len(s.dead()); n != 2 {
			t.Errorf("%d dead letters are left, want the forged and the unknown", n)
		}
		if rows, _ := transactions(t, book); rows != 2 {
			t.Errorf("%d rows, want 2", rows)
		}
	})
}

// replay is what became of every dead letter, by "booked" or the reason why it had died.
func replay(s *stand) map[string]queue.DeadLetter {
	s.t.Helper()
	out := map[string]queue.DeadLetter{}
	err := s.consumer.Replay(s.t.Context(), func(d queue.DeadLetter) error {
		name := d.Reason
		if d.Booked {
			name = "booked"
		}
		out[name] = d
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}
