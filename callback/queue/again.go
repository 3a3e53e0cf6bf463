package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"paybook/callback"
)

// DeadLetter is one dead letter and what became of it when it was brought again.
type DeadLetter struct {
	Sequence   uint64 // in the stream of the dead letters
	Account    string // as its subject says, configured or not
	Deliveries string // before it died
	Reason     string // why it died
	Booked     bool   // now, and deleted
	Now        string // the outcome, or why it stays
}

// Replay brings every dead letter that is there now the way of a message again, in their order, and deletes those that are booked. each
// is told of every one. It stops with an error when NATS or the book fails, or each returns one; what has been booked until then stays
// booked, and may be brought again without harm. When ctx ends it stops between two.
func (c *Consumer) Replay(ctx context.Context, each func(DeadLetter) error) error {
	conn, err := connect(&c.o)
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	dead, err := deadStream(ctx, js, &c.o)
	if err != nil || dead == nil {
		return err
	}
	last := dead.CachedInfo().State.LastSeq // what dies from now on is for another time
	for at := uint64(1); at <= last && ctx.Err() == nil; at++ {
		raw, err := dead.GetMsg(ctx, at, jetstream.WithGetMsgSubject(c.o.DeadSubject+".*"))
		if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && raw.Sequence > last {
			break
		}
		if err != nil {
			return fmt.Errorf("queue: read the dead letters: %s", explain(err))
		}
		at = raw.Sequence
		letter, err := c.bring(context.WithoutCancel(ctx), dead, raw)
		if err != nil {
			return err
		}
		if err := each(letter); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// deadStream is nil when there is none yet: then nothing has died.
func deadStream(ctx context.Context, js jetstream.JetStream, o *Options) (jetstream.Stream, error) {
	name, err := js.StreamNameBySubject(ctx, o.DeadSubject+".*")
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	var s jetstream.Stream
	if err == nil {
		s, err = js.Stream(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("queue: look for the dead letters: %s", explain(err))
	}
	return s, nil
}

// bring books one dead letter, or leaves it.
func (c *Consumer) bring(ctx context.Context, dead jetstream.Stream, raw *jetstream.RawStreamMsg) (DeadLetter, error) {
	h := canonical(raw.Header)
	m := &message{subject: h.Get(DeadSubject), stream: dead.CachedInfo().Config.Name, sequence: raw.Sequence, stored: raw.Time, header: nats.Header(h), data: raw.Data}
	out := DeadLetter{Sequence: raw.Sequence, Account: m.account(c.o.Subject), Deliveries: h.Get(DeadDeliveries), Reason: h.Get(DeadReason)}
	if out.Account == "" { // not of our making, or of another subject
		m.subject = raw.Subject
		out.Account = m.account(c.o.DeadSubject)
	}
	r := c.receive(ctx, m.arrival(out.Account))
	switch {
	case errors.Is(r.Err, callback.ErrNoAccount):
		out.Now = reasonUnknownAccount
	case r.Err != nil:
		if !c.book.doubt() {
			return out, fmt.Errorf("queue: dead letter %d: %w", raw.Sequence, r.Err)
		}
		out.Now = short("failed: " + r.Err.Error())
	case r.Reason != "":
		out.Now = short(string(r.Reason) + ": " + r.Detail)
	default:
		out.Booked, out.Now = true, string(r.Outcome)
		if err := dead.DeleteMsg(ctx, raw.Sequence); err != nil && !gone(err) {
			return out, fmt.Errorf("queue: dead letter %d is booked, but cannot be deleted: %w", raw.Sequence, err)
		}
	}
	return out, nil
}

// sequenceNotFound is what a server says of a message that is not there any more, and the library has no name for.
const sequenceNotFound jetstream.ErrorCode = 10043

// gone is true when somebody else has deleted it.
func gone(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrMsgNotFound) || errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeMessageNotFound || api.ErrorCode == sequenceNotFound)
}
