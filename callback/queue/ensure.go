package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	deadFor    = 30 * 24 * time.Hour // how long a stream of dead letters that we make keeps them
	deadRepeat = 24 * time.Hour      // within which a dead letter is stored once, however often we are killed between two steps
	askTime    = 5 * time.Second     // for one question to JetStream
)

// place is where messages come from and where dead letters go.
type place struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	stream  jetstream.Stream
	pull    jetstream.Consumer
	ackWait time.Duration // the consumer's own, which need not be the configured one
	dead    jetstream.Stream
}

// ensure finds the streams and the consumer, makes what is missing if it may, and refuses what does not fit with a *Misfit.
func ensure(ctx context.Context, conn *nats.Conn, o *Options) (*place, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*askTime)
	defer cancel()
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	p := &place{conn: conn, js: js}
	if p.stream, err = ensureStream(ctx, js, o); err != nil {
		return nil, err
	}
	if p.pull, err = findConsumer(ctx, p.stream, o); err != nil { // before anything is made that would be of no use
		return nil, err
	}
	if p.dead, err = ensureDead(ctx, js, o); err != nil {
		return nil, err
	}
	if p.pull, err = fitConsumer(ctx, p.stream, p.pull, o); err != nil {
		return nil, err
	}
	p.ackWait = heard(p.pull.CachedInfo().Config)
	return p, nil
}

// heard is the shortest time after which the server takes a message for lost.
func heard(c jetstream.ConsumerConfig) time.Duration {
	wait := c.AckWait
	for _, d := range c.BackOff {
		wait = min(wait, d)
	}
	return wait
}

func ensureStream(ctx context.Context, js jetstream.JetStream, o *Options) (jetstream.Stream, error) {
	wanted := o.Subject + ".*"
	s, err := js.Stream(ctx, o.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if s, err = makeStream(ctx, js, o, wanted); err != nil {
			return nil, refusedBy("queue.stream", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", o.Stream, err)
	}
	c := s.CachedInfo().Config
	if copied := c.Mirror != nil || len(c.Sources) > 0; !copied && !anyCovers(c.Subjects, wanted) {
		return nil, &Misfit{Setting: "queue.subject", Problem: fmt.Sprintf("the stream %s takes %s, and not %s: add that to its subjects, or correct queue.stream or queue.subject",
			o.Stream, strings.Join(c.Subjects, ", "), wanted)}
	}
	return s, nil
}

// makeStream makes the stream, unless its subject goes elsewhere.
func makeStream(ctx context.Context, js jetstream.JetStream, o *Options, wanted string) (jetstream.Stream, error) {
	other, err := js.StreamNameBySubject(ctx, wanted)
	switch {
	case err == nil && other == o.Stream: // another process has just made it
		return js.Stream(ctx, other)
	case err == nil:
		return nil, &Misfit{Setting: "queue.stream", Problem: fmt.Sprintf("there is no stream %s, and %s goes into the stream %s: name that one", o.Stream, wanted, other)}
	case o.NoCreate:
		return nil, &Misfit{Setting: "queue.stream", Absent: true, Problem: fmt.Sprintf("there is no stream %s: make it with the subject %s, or set queue.create: true", o.Stream, wanted)}
	}
	return create(ctx, js, jetstream.StreamConfig{Name: o.Stream, Subjects: []string{wanted}, Description: "Payment callbacks, until they are booked",
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew})
}

// ensureDead takes whatever stream stores the dead letters' subject.
func ensureDead(ctx context.Context, js jetstream.JetStream, o *Options) (jetstream.Stream, error) {
	wanted := o.DeadSubject + ".*"
	name, err := js.StreamNameBySubject(ctx, wanted)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if o.NoCreate {
			return nil, &Misfit{Setting: "queue.dead_subject", Absent: true, Problem: fmt.Sprintf("no stream stores %s: make one with that subject, or set queue.create: true", wanted)}
		}
		s, err := create(ctx, js, jetstream.StreamConfig{Name: o.Stream + "_DEAD", Subjects: []string{wanted}, Description: "Payment callbacks that could not be booked: app consume --dead",
			Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld, MaxAge: deadFor, Duplicates: deadRepeat})
		return s, refusedBy("queue.dead_subject", err)
	}
	if err != nil {
		return nil, fmt.Errorf("stream of %s: %w", wanted, err)
	}
	s, err := js.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", name, err)
	}
	if c := s.CachedInfo().Config; !anyCovers(c.Subjects, wanted) {
		return nil, &Misfit{Setting: "queue.dead_subject", Problem: fmt.Sprintf("the stream %s takes %s, and not all of %s: add that to its subjects", name, strings.Join(c.Subjects, ", "), wanted)}
	}
	return s, keeps(s.CachedInfo().Config, o)
}

// keeps refuses a stream that keeps no dead letter, and warns of one that may lose some.
func keeps(c jetstream.StreamConfig, o *Options) error {
	if c.Retention == jetstream.InterestPolicy {
		return &Misfit{Setting: "queue.dead_subject", Problem: fmt.Sprintf("the stream %s keeps only what a consumer waits for (retention interest), and nobody waits for dead letters: give it the retention limits, or name another subject", c.Name)}
	}
	bounded := c.Discard == jetstream.DiscardOld && (c.MaxMsgs > 0 || c.MaxBytes > 0 || c.MaxMsgsPerSubject > 0)
	if short := c.MaxAge > 0 && c.MaxAge < deadFor; bounded || short || c.Storage == jetstream.MemoryStorage {
		o.Log.Warn("queue: the stream of dead letters may lose some before anybody has looked at them", "stream", c.Name, "storage", c.Storage.String(),
			"max_age", c.MaxAge.String(), "max_msgs", c.MaxMsgs, "max_bytes", c.MaxBytes, "discard", c.Discard.String())
	}
	return nil
}

// create makes a stream. Of several processes that start at once each may be the first.
func create(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) (jetstream.Stream, error) {
	s, err := js.CreateStream(ctx, c)
	if !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return s, err
	}
	s, err = js.Stream(ctx, c.Name)
	if err == nil && !anyCovers(s.CachedInfo().Config.Subjects, c.Subjects[0]) {
		return nil, &Misfit{Setting: "queue.stream", Problem: fmt.Sprintf("the stream %s is there, but does not take %s: add that to its subjects", c.Name, c.Subjects[0])}
	}
	return s, err
}

// findConsumer is nil when there is none yet.
func findConsumer(ctx context.Context, s jetstream.Stream, o *Options) (jetstream.Consumer, error) {
	c, err := s.Consumer(ctx, o.Durable)
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		return nil, nil
	case errors.Is(err, jetstream.ErrNotPullConsumer):
		return nil, misfitConsumer(o, "is a push consumer, and a pull consumer is needed")
	case err != nil:
		return nil, fmt.Errorf("consumer %s of stream %s: %w", o.Durable, o.Stream, err)
	}
	if why := unfit(c.CachedInfo().Config, s, o); why != "" {
		return nil, misfitConsumer(o, why)
	}
	return c, nil
}

// fitConsumer makes the one that is missing, and gives the one that is there the configured ack_wait.
func fitConsumer(ctx context.Context, s jetstream.Stream, c jetstream.Consumer, o *Options) (jetstream.Consumer, error) {
	if c == nil && o.NoCreate {
		return nil, &Misfit{Setting: "queue.durable", Absent: true, Problem: fmt.Sprintf("the stream %s has no consumer %s: make it (pull, ack explicit, filter %s.*), or set queue.create: true",
			o.Stream, o.Durable, o.Subject)}
	}
	if c == nil {
		c, err := s.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: o.Durable, Description: "Books payment callbacks", FilterSubject: filter(s, o), DeliverPolicy: jetstream.DeliverAllPolicy,
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: o.AckWait,
			MaxDeliver:    -1,  // we count: the server would only stop, and leave the message where nobody looks
			MaxAckPending: -1}) // what waits to be tried again must not keep the others out
		return c, refusedBy("queue.durable", err)
	}
	has := c.CachedInfo().Config
	if has.AckWait == o.AckWait || o.NoCreate || len(has.BackOff) > 0 {
		return c, nil
	}
	has.AckWait = o.AckWait
	c, err := s.CreateOrUpdateConsumer(ctx, has)
	return c, refusedBy("queue.ack_wait", err)
}

// unfit says why a consumer that is there would lose messages, or bring us those of others.
func unfit(c jetstream.ConsumerConfig, s jetstream.Stream, o *Options) string {
	takes := c.FilterSubjects
	if c.FilterSubject != "" {
		takes = []string{c.FilterSubject}
	}
	if len(takes) == 0 {
		takes = s.CachedInfo().Config.Subjects
	}
	switch {
	case c.AckPolicy != jetstream.AckExplicitPolicy:
		return fmt.Sprintf("has the ack policy %s, and explicit is needed, as a message is done only when it is booked", strings.ToLower(strings.TrimPrefix(c.AckPolicy.String(), "Ack")))
	case c.HeadersOnly:
		return "brings headers only (headers_only), and a callback is proven by its body"
	case c.MaxDeliver > 0: // a delivery that never comes to an end, as when we are killed, makes no dead letter
		return fmt.Sprintf("gives up after %d deliveries, and leaves the message where nobody looks (its max_deliver must be -1)", c.MaxDeliver)
	case c.MaxRequestBatch > 0 && c.MaxRequestBatch < o.Workers, c.MaxRequestExpires > 0 && c.MaxRequestExpires < fetchWait, c.MaxRequestMaxBytes > 0:
		return fmt.Sprintf("limits what one fetch may ask for (max_batch %d, max_expires %s, max_bytes %d; at least %d, %s and no limit are needed)",
			c.MaxRequestBatch, c.MaxRequestExpires, c.MaxRequestMaxBytes, o.Workers, fetchWait)
	case len(takes) > 0 && !anyCovers(takes, o.Subject+".*"):
		return fmt.Sprintf("takes %s, and not %s.*", strings.Join(takes, ", "), o.Subject)
	}
	for _, subject := range takes {
		if !covers(o.Subject+".>", subject) {
			return fmt.Sprintf("takes %s besides %s.*, which are no callbacks", subject, o.Subject)
		}
	}
	return ""
}

func misfitConsumer(o *Options, why string) error {
	return &Misfit{Setting: "queue.durable", Problem: fmt.Sprintf("the consumer %s of the stream %s %s: delete it, so that a fitting one is made, or name another", o.Durable, o.Stream, why)}
}

// filter is every subject of ours that the stream can hold: one with too many tokens must become a dead letter, and not lie there for ever.
func filter(s jetstream.Stream, o *Options) string {
	all := o.Subject + ".>"
	if c := s.CachedInfo().Config; len(c.Subjects) > 0 && !anyCovers(c.Subjects, all) {
		return o.Subject + ".*"
	}
	return all
}

// refusedBy makes what JetStream refuses for its content a *Misfit: sending it again changes nothing.
func refusedBy(setting string, err error) error {
	var api jetstream.JetStreamError
	if err == nil || !errors.As(err, &api) || api.APIError() == nil || api.APIError().Code != 400 {
		return err
	}
	return &Misfit{Setting: setting, Problem: "the server refuses it: " + plain(errors.New(api.APIError().Description))}
}
