package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"paybook/callback"
)

// delivery is one delivery of one message.
type delivery struct {
	*message
	from    *place
	msg     jetstream.Msg
	account string
	times   uint64 // it has been delivered so often, this one included
}

func (c *Consumer) delivered(p *place, msg jetstream.Msg) (*delivery, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return nil, err
	}
	m := &message{subject: msg.Subject(), stream: meta.Stream, sequence: meta.Sequence.Stream, stored: meta.Timestamp, header: msg.Headers(), data: msg.Data()}
	return &delivery{message: m, from: p, msg: msg, account: m.account(c.o.Subject), times: meta.NumDelivered}, nil
}

// handle is the whole way of one message. ctx ends when the consumer shall: then what is being booked is still booked.
func (c *Consumer) handle(ctx context.Context, p *place, msg jetstream.Msg) {
	d, err := c.delivered(p, msg)
	if err != nil {
		c.o.Log.Error("queue: this is no message of JetStream", "subject", msg.Subject(), "error", plain(err))
		return
	}
	defer keepAlive(msg, p.ackWait)()
	if d.times > c.hopeless() {
		c.bury(ctx, d, Dead, reasonFailed, "no delivery of it ever came to an end: did it end the program each time?")
		return
	}
	for try := 1; ; try++ {
		if !c.book.wait(ctx) {
			c.again(d)
			return
		}
		r := c.receive(context.WithoutCancel(ctx), d.arrival(d.account))
		failed := r.Err != nil && !errors.Is(r.Err, callback.ErrNoAccount)
		// while the book is away the message waits for it here, so that its deliveries are not used up; once, because the book may
		// also be failing for this very message
		if !failed || try > 1 || c.book.doubt() {
			c.settle(ctx, d, r)
			return
		}
	}
}

// settle tells the server what became of it.
func (c *Consumer) settle(ctx context.Context, d *delivery, r callback.Result) {
	switch {
	case errors.Is(r.Err, callback.ErrNoAccount):
		c.bury(ctx, d, Refused, reasonUnknownAccount, "no such account is configured")
	case r.Err != nil && d.times >= uint64(c.o.MaxDeliver):
		c.bury(ctx, d, Dead, reasonFailed, r.Err.Error())
	case r.Err != nil:
		c.again(d)
	case r.Reason != "":
		c.bury(ctx, d, Refused, string(r.Reason), r.Detail)
	default:
		c.done(ctx, d)
	}
}

// hopeless is a number of deliveries that none reaches which comes back at all, were it only to say that it failed.
func (c *Consumer) hopeless() uint64 { return uint64(max(10, 2*c.o.MaxDeliver)) }

// receive hands it to the one way into the book. A fault of ours in there must not end the consumer.
func (c *Consumer) receive(ctx context.Context, a callback.Arrival) (r callback.Result) {
	defer func() {
		if p := recover(); p != nil {
			r = callback.Result{Err: fmt.Errorf("panicked: %v\n%s", p, debug.Stack())}
			c.o.Log.Error("callback failed", "account", a.Account, "request_id", a.RequestID, "error", r.Err.Error())
		}
	}()
	return c.server.Receive(ctx, a)
}

// done acknowledges what is committed, and waits until the server has confirmed that. Unconfirmed it comes again, as a duplicate.
func (c *Consumer) done(ctx context.Context, d *delivery) {
	if c.beforeAck != nil {
		c.beforeAck()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	if err := d.msg.DoubleAck(ctx); err != nil {
		c.o.Log.Debug("queue: booked but not acknowledged, it will come again", "message", d.id(), "error", plain(err))
	}
	c.observe(d, Booked)
}

// again gives it back.
func (c *Consumer) again(d *delivery) {
	if err := d.msg.NakWithDelay(c.o.pause(d.times)); err != nil {
		c.o.Log.Debug("queue: not given back, it comes again by itself", "message", d.id(), "error", plain(err))
	}
	c.observe(d, Again)
}

func (c *Consumer) observe(d *delivery, r Result) {
	if c.o.Observe == nil {
		return
	}
	if account := d.account; c.server.Has(account) {
		c.o.Observe(account, r)
	} else {
		c.o.Observe("", r) // text from outside
	}
}

// keepAlive tells the server that the message is being worked on, for as long as that takes longer than half of its patience.
func keepAlive(msg jetstream.Msg, ackWait time.Duration) (stop func()) {
	ended := make(chan struct{})
	go func() {
		beat := time.NewTicker(max(ackWait/2, time.Millisecond))
		defer beat.Stop()
		for {
			select {
			case <-ended:
				return
			case <-beat.C:
				_ = msg.InProgress() // unheard it is delivered twice, which is no harm
			}
		}
	}()
	return func() { close(ended) }
}
