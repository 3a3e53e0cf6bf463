package queue

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"paybook/callback"
)

const (
	fetchWait   = time.Second      // of one fetch for its first message: the end waits for it, so that nothing it brings is lost on the way
	prepareTime = 10 * time.Second // at the start, for a server that answers slowly
	troubleWait = time.Second      // before another try after anything failed
)

// Consumer takes callbacks from JetStream into the book.
type Consumer struct {
	server  *callback.Server
	o       Options
	book    gate
	slots   chan struct{} // one taken for each message in flight
	busy    sync.WaitGroup
	conn    *nats.Conn
	place   *place      // nil: to be looked up (again)
	unsure  atomic.Bool // it is to be looked up again before the next round
	failing bool        // the last round failed, and has been told

	beforeAck func() // for tests that kill us between commit and acknowledgement
}

// New makes a consumer that hands what it takes to server.
func New(server *callback.Server, o Options) *Consumer {
	o.setDefaults()
	return &Consumer{server: server, o: o, book: gate{ask: server.Book.Ready, log: o.Log}, slots: make(chan struct{}, o.Workers)}
}

// Prepare connects, and finds or makes the streams and the consumer. Its error is a *Misfit, or ctx's: a server that is away is only
// logged, and Run goes on trying.
func (c *Consumer) Prepare(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	err := c.connected(limited)
	var misfit *Misfit
	if errors.As(err, &misfit) || ctx.Err() != nil {
		c.close()
		return err
	}
	c.told(err)
	return nil
}

// Run takes messages until ctx ends, waits for those in flight (Options.Drain at most; what takes longer will be delivered again), and
// returns nil. It returns a *Misfit if Prepare, which it calls if nobody has, finds one.
func (c *Consumer) Run(ctx context.Context) error {
	if c.place == nil && !c.failing {
		if err := c.Prepare(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	defer c.close()
	for ctx.Err() == nil {
		err := c.round(ctx)
		c.told(err)
		if err != nil {
			c.place = nil // it may have been deleted
			sleep(ctx, troubleWait)
		}
	}
	c.drain()
	return nil
}

// round is one fetch. Its messages are handled side by side, so that the book commits them together; it does not wait for them.
func (c *Consumer) round(ctx context.Context) error {
	if err := c.connected(ctx); err != nil {
		return err
	}
	if !c.book.open() {
		sleep(ctx, troubleWait/4)
		return nil
	}
	n := c.take(ctx)
	defer func() { c.give(n) }()
	if n == 0 {
		return nil
	}
	p := c.place
	batch, err := p.pull.Fetch(n, jetstream.FetchMaxWait(fetchWait))
	if err != nil {
		return c.unlessAway(err)
	}
	for msg := range batch.Messages() {
		n--
		c.busy.Go(func() {
			defer c.give(1)
			c.handle(ctx, p, msg)
		})
	}
	return c.unlessAway(batch.Error())
}

// connected sees to a connection, and to streams and consumer.
func (c *Consumer) connected(ctx context.Context) error {
	var err error
	if c.conn == nil || c.conn.IsClosed() {
		c.place = nil
		if c.conn, err = connectUnless(ctx, &c.o); err != nil {
			return err
		}
	}
	if c.unsure.Swap(false) || c.place == nil {
		c.place, err = ensure(ctx, c.conn, &c.o)
	}
	return c.unlessAway(err)
}

// errAway is a connection that is lost: that is told when it happens, and it comes back by itself.
var errAway = errors.New("the queue is away")

func (c *Consumer) unlessAway(err error) error {
	if !c.conn.IsConnected() {
		return errAway
	}
	return err
}

// told logs the first of a row of failures, and the end of it.
func (c *Consumer) told(err error) {
	switch {
	case errors.Is(err, errAway):
		return
	case err != nil && !c.failing:
		c.o.Log.Error("queue not usable, trying again until it is", "stream", c.o.Stream, "error", explain(err))
	case err == nil && c.failing:
		c.o.Log.Info("queue works again", "stream", c.o.Stream)
	}
	c.failing = err != nil
}

// explain adds what to do to an error that says little.
func explain(err error) string {
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return plain(err) + ": start nats-server with -js, or allow JetStream to this account"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return plain(err) + ": JetStream does not answer; does the user have the permission for $JS.API.> and _INBOX.>?"
	}
	return plain(err)
}

// take waits until a good part of the slots is free and takes all that are: a batch that comes one by one is no batch. 0: ctx ended.
func (c *Consumer) take(ctx context.Context) int {
	n := 0
	for least := max(1, c.o.Workers/4); n < least; n++ {
		select {
		case c.slots <- struct{}{}:
		case <-ctx.Done():
			c.give(n)
			return 0
		}
	}
	for {
		select {
		case c.slots <- struct{}{}:
			n++
		default:
			return n
		}
	}
}

func (c *Consumer) give(n int) {
	for range n {
		<-c.slots
	}
}

// drain waits for what is in flight.
func (c *Consumer) drain() {
	done := make(chan struct{})
	go func() { c.busy.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(c.o.Drain):
		c.o.Log.Warn("queue: messages left unacknowledged at the end, they will be delivered again", "count", len(c.slots), "after", c.o.Drain.String())
	}
}

func (c *Consumer) close() {
	if c.conn == nil {
		return
	}
	if err := c.conn.FlushTimeout(time.Second); err != nil && c.conn.IsConnected() { // terminations are not confirmed one by one
		c.o.Log.Warn("queue: the last answers may not have arrived, the messages will be delivered again", "error", plain(err))
	}
	c.conn.Close()
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
