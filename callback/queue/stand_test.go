package queue_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"paybook/callback"
	"paybook/callback/generic"
	"paybook/callback/queue"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(child())
	}
	os.Exit(ledgertest.Main(m))
}

// patience guards against a hang; it is no measurement.
const patience = 60 * time.Second

// provider is the account demopay of the recordings: made by configuration, signed by HMAC.
func provider(t testing.TB) callback.Provider {
	t.Helper()
	settings, err := os.ReadFile("../../testdata/demopay/config.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := generic.New(settings, "../../testdata/demopay")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// failing fails on bodies that hold a word, as an error of ours.
type failing struct {
	callback.Provider
	mu   sync.Mutex
	word string // "": none
	slow time.Duration
}

func (f *failing) set(word string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.word = word
}

func (f *failing) Verify(ctx context.Context, cb models.Callback) ([]models.Event, error) {
	f.mu.Lock()
	word := f.word
	f.mu.Unlock()
	if word != "" && bytes.Contains(cb.Body, []byte(word)) {
		if word == "panic" {
			panic("a fault of ours")
		}
		return nil, errors.New("no answer of the key server")
	}
	time.Sleep(f.slow)
	return f.Provider.Verify(ctx, cb)
}

// payment is a genuine callback that tells of a payment of 49.99 USD, signed now.
func payment(id, order string) *nats.Msg { return signed("payment", id, "", order, "49.99") }

func refund(id, parent, order string) *nats.Msg { return signed("refund", id, parent, order, "9.99") }

func signed(kind, id, parent, order, amount string) *nats.Msg {
	now := time.Now()
	body := fmt.Sprintf(`{"event_id":"e-%s","event_type":%q,"created_at":%q,"data":{"trade_no":%q,"parent_trade_no":%q,"merchant_order_no":%q,"trade_status":"SUCCESS",`+
		`"amount":{"value":%q,"currency":"USD"}}}`, id, kind, now.Format(time.RFC3339), id, parent, order, amount)
	stamp := fmt.Sprint(now.UnixMilli())
	mac := hmac.New(sha256.New, []byte("demopay-fixture-secret-TEST-ONLY"))
	fmt.Fprint(mac, stamp+"."+body)
	m := nats.NewMsg("callbacks.demopay")
	m.Data = []byte(body)
	m.Header["x-demo-timestamp"] = []string{stamp} // as HTTP/2 spells it
	m.Header["X-Demo-Signature"] = []string{"sha256=" + hex.EncodeToString(mac.Sum(nil))}
	return m
}

func forged(id, order string) *nats.Msg {
	m := payment(id, order)
	m.Header.Set("X-Demo-Signature", "sha256="+fmt.Sprintf("%064d", 0))
	return m
}

// stand is a consumer on a NATS server and a book.
type stand struct {
	t        *testing.T
	nats     *ledgertest.NATS
	book     *ledger.Ledger
	provider *failing
	server   *callback.Server
	consumer *queue.Consumer
	options  queue.Options
	conn     *nats.Conn
	js       jetstream.JetStream
	log      *lockedBuffer
	stop     func() // ends the consumer, and waits

	mu      sync.Mutex
	results map[string]int // "account result"
}

// newStand does not run the consumer yet.
func newStand(t *testing.T, book *ledger.Ledger, n *ledgertest.NATS, change ...func(*queue.Options)) *stand {
	t.Helper()
	s := &stand{t: t, nats: n, book: book, provider: &failing{Provider: provider(t)}, log: &lockedBuffer{}, results: map[string]int{}}
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.server = &callback.Server{Book: book, Accounts: []callback.Account{{Name: "demopay", Provider: s.provider}}, Log: log, Patience: patience}
	s.options = queue.Options{URL: n.URL, Pause: 20 * time.Millisecond, Drain: patience, Log: log, Observe: func(account string, r queue.Result) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.results[account+" "+string(r)]++
	}}
	for _, f := range change {
		f(&s.options)
	}
	s.renew()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log:\n%s", s.log)
		}
	})
	return s
}

// renew makes another consumer, as a process that starts again does.
func (s *stand) renew() { s.consumer = queue.New(s.server, s.options) }

// run starts the consumer and waits until the streams are there.
func (s *stand) run() {
	s.t.Helper()
	s.connect()
	if err := s.consumer.Prepare(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.start()
}

// start is run for a server that may be away.
func (s *stand) start() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func(c *queue.Consumer) { ended <- c.Run(ctx) }(s.consumer)
	var once sync.Once
	s.stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-ended:
				if err != nil {
					s.t.Errorf("Run: %v", err)
				}
			case <-time.After(patience):
				s.t.Error("the consumer does not end")
			}
		})
	}
	s.t.Cleanup(s.stop)
}

func (s *stand) connect() {
	s.t.Helper()
	if s.conn != nil {
		return
	}
	conn, err := nats.Connect(s.nats.URL, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err == nil {
		s.js, err = jetstream.New(conn)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.conn = conn
	s.t.Cleanup(conn.Close)
}

// publish stores a message, however long the server takes to come back.
func (s *stand) publish(msgs ...*nats.Msg) {
	s.t.Helper()
	for _, m := range msgs {
		s.wait("a message to be stored", func() bool {
			ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
			defer cancel()
			_, err := s.js.PublishMsg(ctx, m)
			return err == nil
		})
	}
}

func (s *stand) wait(what string, f func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// idle waits until the queue is empty: nothing waits, nothing is being worked on.
func (s *stand) idle() {
	s.t.Helper()
	s.wait("an empty queue", func() bool {
		ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
		defer cancel()
		c, err := s.js.Consumer(ctx, "CALLBACKS", "paybook")
		if err != nil {
			return false
		}
		info, err := c.Info(ctx)
		return err == nil && info.NumPending == 0 && info.NumAckPending == 0
	})
}

func (s *stand) result(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.results[name]
}

// dead are the dead letters.
func (s *stand) dead() []*jetstream.RawStreamMsg {
	s.t.Helper()
	stream, err := s.js.Stream(s.t.Context(), "CALLBACKS_DEAD")
	if err != nil {
		s.t.Fatal(err)
	}
	var out []*jetstream.RawStreamMsg
	for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
		m, err := stream.GetMsg(s.t.Context(), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// transactions is how many rows the book has of an account's kind.
func transactions(t *testing.T, book *ledger.Ledger) (n int, minor int64) {
	t.Helper()
	err := book.Transactions(t.Context(), "demopay", time.Time{}.AddDate(2000, 0, 0), time.Time{}.AddDate(3000, 0, 0), func(tr models.Transaction) error {
		n++
		minor += tr.AmountMinor
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, minor
}

func orders(t *testing.T, book *ledger.Ledger, ids ...string) map[string]models.Order {
	t.Helper()
	found, err := book.Orders(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func callbacks(t *testing.T, book *ledger.Ledger) []models.Callback {
	t.Helper()
	list, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{Page: ledger.Page{Limit: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// lockedBuffer is a log that many goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// execSQL changes a SQLite file behind the book's back.
func execSQL(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
