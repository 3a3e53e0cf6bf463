package queue_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"paybook/callback"
	"paybook/callback/queue"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// Every message three times, refunds before their payments: each is in the book once, and nothing is left in the queue.
func TestAtLeastOnceInExactlyOnceBooked(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := newStand(t, book, ledgertest.StartNATS(t))
		const n = 40
		var msgs []*nats.Msg
		for i := range n {
			id, order := fmt.Sprintf("P%d", i), fmt.Sprintf("O%d", i)
			ledgertest.Order(t, book, order, "49.99", "USD")
			for _, m := range []*nats.Msg{payment(id, order), refund("R"+id, id, order)} {
				msgs = append(msgs, m, m, m)
			}
		}
		rand.Shuffle(len(msgs), func(i, j int) { msgs[i], msgs[j] = msgs[j], msgs[i] })
		s.run()
		s.publish(msgs...)
		s.idle()
		s.stop()
		if rows, minor := transactions(t, book); rows != 2*n || minor != n*(4999+999) {
			t.Errorf("%d rows of %d in all, want %d of %d", rows, minor, 2*n, n*(4999+999))
		}
		for i := range n {
			order := fmt.Sprintf("O%d", i)
			if o := orders(t, book, order)[order]; o.Status != models.PartRefunded || o.RefundedMinor != 999 {
				t.Errorf("%s: %s, %d refunded; want part_refunded, 999", order, o.Status, o.RefundedMinor)
			}
		}
		for _, cb := range callbacks(t, book) {
			if cb.Deliveries != 3 || !cb.Verified || cb.Path != "/callbacks/demopay" || cb.Method != http.MethodPost {
				t.Errorf("evidence %+v, want it verified and three deliveries", cb)
			}
		}
		if got := s.result("demopay booked"); got != 6*n {
			t.Errorf("%d booked, want %d", got, 6*n)
		}
		if dead := s.dead(); len(dead) != 0 {
			t.Errorf("%d dead letters", len(dead))
		}
	})
}

// The same callback by HTTP and by the queue at once is one transaction.
func TestHTTPAndQueueAtOnce(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := newStand(t, book, ledgertest.StartNATS(t))
		e := echo.New()
		s.server.Mount(e.Group(""))
		s.run()
		const n = 20
		var both sync.WaitGroup
		for i := range n {
			ledgertest.Order(t, book, fmt.Sprintf("O%d", i), "49.99", "USD")
			m := payment(fmt.Sprintf("P%d", i), fmt.Sprintf("O%d", i))
			both.Go(func() { s.publish(m) })
			both.Go(func() {
				req := httptest.NewRequest(http.MethodPost, "/callbacks/demopay", strings.NewReader(string(m.Data)))
				for name, values := range m.Header {
					req.Header[http.CanonicalHeaderKey(name)] = values
				}
				rec := httptest.NewRecorder()
				e.ServeHTTP(rec, req)
				if rec.Code != http.StatusOK || rec.Body.String() != `{"code":0,"message":"ok"}` {
					t.Errorf("HTTP answers %d %s", rec.Code, rec.Body)
				}
			})
		}
		both.Wait()
		s.idle()
		s.stop()
		if rows, minor := transactions(t, book); rows != n || minor != n*4999 {
			t.Errorf("%d rows of %d in all, want %d of %d", rows, minor, n, n*4999)
		}
		for i := range n {
			order := fmt.Sprintf("O%d", i)
			if o := orders(t, book, order)[order]; o.Status != models.Paid {
				t.Errorf("%s is %s", order, o.Status)
			}
		}
	})
}

// Two consumers share the work, and neither does what the other has done.
func TestTwoConsumers(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		n := ledgertest.StartNATS(t)
		few := func(o *queue.Options) { o.Workers = 4 }
		s, other := newStand(t, book, n, few), newStand(t, book, n, few)
		s.connect()
		var start sync.WaitGroup // both find nothing there, and both make it
		for _, each := range []*stand{s, other} {
			start.Go(func() {
				if err := each.consumer.Prepare(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		start.Wait()
		for i := range 60 {
			s.publish(payment(fmt.Sprintf("P%d", i), ""))
		}
		s.start()
		other.start()
		s.idle()
		s.stop()
		other.stop()
		if a, b := s.result("demopay booked"), other.result("demopay booked"); a+b != 60 {
			t.Errorf("%d and %d booked, want 60 together", a, b)
		}
		if rows, _ := transactions(t, book); rows != 60 {
			t.Errorf("%d rows", rows)
		}
	})
}

// The server is killed in the middle, several times: what it had acknowledged is booked, once.
func TestServerKilledInTheMiddle(t *testing.T) {
	t.Parallel() // it mostly waits
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := newStand(t, book, ledgertest.StartNATS(t), func(o *queue.Options) { o.AckWait = 2 * time.Second })
		s.provider.slow = time.Millisecond
		s.run()
		const n = 300
		stored := make(chan bool)
		go func() {
			defer close(stored)
			for i := range n {
				s.publish(payment(fmt.Sprintf("P%d", i), ""))
			}
		}()
		for range 3 {
			time.Sleep(100 * time.Millisecond)
			s.nats.Restart(t)
		}
		<-stored
		s.idle()
		s.stop()
		if rows, minor := transactions(t, book); rows != n || minor != n*4999 {
			t.Errorf("%d rows of %d in all, want %d of %d", rows, minor, n, n*4999)
		}
		if log := s.log.String(); strings.Count(log, "queue away") > 4 || !strings.Contains(log, "queue back") {
			t.Error("the log does not say once each time that the queue was away and is back")
		}
	})
}

// A server that is not there at the start is waited for.
func TestServerComesLater(t *testing.T) {
	t.Parallel() // it mostly waits
	n := ledgertest.StartNATS(t)
	n.Kill()
	book := ledgertest.Open(t, "sqlite:"+t.TempDir()+"/app.db")
	s := newStand(t, book, n)
	if err := s.consumer.Prepare(t.Context()); err != nil {
		t.Fatal("a server that is away is no error: ", err)
	}
	s.start()
	time.Sleep(1500 * time.Millisecond) // a second try
	n.Restart(t)
	s.connect()
	s.wait("the stream", func() bool { _, err := s.js.Stream(t.Context(), "CALLBACKS"); return err == nil })
	s.publish(payment("P1", ""))
	s.idle()
	s.stop()
	if rows, _ := transactions(t, book); rows != 1 {
		t.Errorf("%d rows", rows)
	}
	if log := s.log.String(); strings.Count(log, "queue not usable") != 1 || !strings.Contains(log, "queue works again") {
		t.Error("the log does not say once that the queue is away, and that it is back")
	}
}

const childEnv = "QUEUE_TEST_CHILD" // its value: URL of NATS, database

// child is a consumer that is killed between the commit of its third message and the acknowledgement.
func child() int {
	url, dsn, _ := strings.Cut(os.Getenv(childEnv), " ")
	ctx := context.Background()
	book, err := ledger.Open(ctx, dsn, ledger.Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	server := &callback.Server{Book: book, Accounts: []callback.Account{{Name: "demopay", Provider: provider(&testing.T{})}}}
	c := queue.New(server, queue.Options{URL: url, AckWait: time.Second, Workers: 1})
	left := 3
	c.BeforeAck(func() {
		if left--; left == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	fmt.Println(c.Run(ctx))
	return 1
}

// Killed between commit and acknowledgement: the redelivery is a duplicate.
func TestKilledBeforeTheAck(t *testing.T) {
	t.Parallel() // it mostly waits
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		n := ledgertest.StartNATS(t)
		book := ledgertest.Open(t, dsn)
		s := newStand(t, book, n, func(o *queue.Options) { o.AckWait = time.Second })
		s.connect()
		if err := s.consumer.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			s.publish(payment(fmt.Sprintf("P%d", i), ""))
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+n.URL+" "+dsn)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("the child ended with %v: %s", err, out)
		}
		if rows, _ := transactions(t, book); rows != 3 {
			t.Fatalf("%d rows after the kill, want 3", rows)
		}
		s.start()
		s.idle()
		s.stop()
		if rows, minor := transactions(t, book); rows != 5 || minor != 5*4999 {
			t.Errorf("%d rows of %d in all, want 5 of %d", rows, minor, 5*4999)
		}
		twice := 0
		for _, cb := range callbacks(t, book) {
			if cb.Deliveries == 2 {
				twice++
			}
		}
		if twice != 1 {
			t.Errorf("%d callbacks were delivered twice, want the one that was committed and not acknowledged", twice)
		}
	})
}

// What takes longer than the server's patience is not delivered a second time.
func TestSlowWorkIsNotDeliveredTwice(t *testing.T) {
	t.Parallel() // it mostly waits
	book := ledgertest.Open(t, "sqlite:"+t.TempDir()+"/app.db")
	s := newStand(t, book, ledgertest.StartNATS(t), func(o *queue.Options) { o.AckWait = time.Second })
	s.provider.slow = 3 * time.Second
	s.run()
	s.publish(payment("P1", ""))
	s.idle()
	s.stop()
	if list := callbacks(t, book); len(list) != 1 || list[0].Deliveries != 1 {
		t.Errorf("%+v; want one delivery", list)
	}
}

// At the end what is in flight is finished and acknowledged.
func TestEndDrains(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+t.TempDir()+"/app.db")
	s := newStand(t, book, ledgertest.StartNATS(t))
	s.provider.slow = 500 * time.Millisecond
	s.run()
	const n = 30
	for i := range n {
		s.publish(payment(fmt.Sprintf("P%d", i), ""))
	}
	s.wait("something in flight", func() bool {
		c, err := s.js.Consumer(t.Context(), "CALLBACKS", "paybook")
		return err == nil && c.CachedInfo().NumAckPending > 0
	})
	s.stop()
	c, err := s.js.Consumer(t.Context(), "CALLBACKS", "paybook")
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := transactions(t, book)
	if i := c.CachedInfo(); i.NumAckPending != 0 || rows+int(i.NumPending) != n {
		t.Errorf("%d unacknowledged, %d waiting, %d booked; want 0, and all %d", i.NumAckPending, i.NumPending, rows, n)
	}
}

// Messages that wait are committed together.
func TestGroupCommit(t *testing.T) {
	var mu sync.Mutex
	largest := 0
	options := ledger.Options{OnBatch: func(n int) { mu.Lock(); largest = max(largest, n); mu.Unlock() }}
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		largest = 0
		s := newStand(t, book, ledgertest.StartNATS(t))
		s.connect()
		if err := s.consumer.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			s.publish(payment(fmt.Sprintf("P%d", i), ""))
		}
		s.start()
		s.idle()
		s.stop()
		if rows, _ := transactions(t, book); rows != 200 || largest < 10 {
			t.Errorf("%d rows, at most %d callbacks in one commit; want 200 and many", rows, largest)
		}
	}, options)
}

// A stream that somebody deletes under our feet is made again.
func TestStreamDeleted(t *testing.T) {
	t.Parallel() // it mostly waits
	book := ledgertest.Open(t, "sqlite:"+t.TempDir()+"/app.db")
	s := newStand(t, book, ledgertest.StartNATS(t))
	s.run()
	s.publish(payment("P1", ""))
	s.idle()
	if err := s.js.DeleteStream(t.Context(), "CALLBACKS"); err != nil {
		t.Fatal(err)
	}
	s.wait("the stream", func() bool { _, err := s.js.Stream(t.Context(), "CALLBACKS"); return err == nil })
	s.publish(payment("P2", ""))
	s.idle()
	s.stop()
	if rows, _ := transactions(t, book); rows != 2 {
		t.Errorf("%d rows, want 2", rows)
	}
}

// A stream of the operator's own keeps its messages, and they are done all the same.
func TestStreamWithLimits(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+t.TempDir()+"/app.db")
	s := newStand(t, book, ledgertest.StartNATS(t))
	s.connect()
	if _, err := s.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "CALLBACKS", Subjects: []string{"callbacks.>"}}); err != nil {
		t.Fatal(err)
	}
	s.publish(payment("P1", ""))
	s.run()
	s.publish(payment("P2", ""), forged("P3", ""))
	deep := payment("P4", "")
	deep.Subject = "callbacks.demopay.more"
	s.publish(deep)
	s.idle()
	s.stop()
	if rows, _ := transactions(t, book); rows != 2 {
		t.Errorf("%d rows, want 2", rows)
	}
	dead := s.dead()
	if len(dead) != 2 || dead[1].Subject != "callbacks-dead.demopay_more" && dead[0].Subject != "callbacks-dead.demopay_more" {
		t.Errorf("dead letters %+v", dead)
	}
}

// What the example's gateway publishes is understood, and a stranger cannot choose the time of receipt through it.
func TestExampleIsUnderstood(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+t.TempDir()+"/app.db")
	s := newStand(t, book, ledgertest.StartNATS(t))
	s.run()
	m := payment("P1", "")
	req := httptest.NewRequest(http.MethodPost, "/callbacks/demopay?a=b%20c", bytes.NewReader(m.Data))
	for name, values := range m.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("App-Received-At", "2020-01-01T00:00:00Z")
	at := time.Now().Add(-time.Minute).UTC().Truncate(time.Microsecond)
	published, err := asMessage(req, at)
	if err != nil {
		t.Fatal(err)
	}
	if status := forward(t.Context(), s.js, published); status != http.StatusOK {
		t.Fatalf("the gateway answers %d", status)
	}
	s.idle()
	s.stop()
	list := callbacks(t, book)
	if len(list) != 1 || !list[0].Verified || list[0].Query != "a=b%20c" || !list[0].ReceivedAt.Equal(at) || !bytes.Equal(list[0].Body, m.Data) {
		t.Errorf("evidence %+v", list)
	}
}
