package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// State is what Check finds on the server.
type State struct {
	Address string // the server's, without a password
	Version string // of nats-server
	Missing bool   // stream or consumer are not there yet; the consumer makes them when it starts
	Waiting uint64 // messages not delivered yet
	Pending int    // messages delivered and not done, those that wait to be tried again among them
	Dead    uint64 // dead letters
}

// Check looks whether the queue is there and fits, and changes nothing. An error says what is wrong and what to do.
func Check(ctx context.Context, o Options) (State, error) {
	o.setDefaults()
	state := State{Address: o.address()}
	conn, err := connect(&o)
	if err != nil {
		return state, err
	}
	defer conn.Close()
	state.Version = conn.ConnectedServerVersion()
	mayCreate := !o.NoCreate
	o.NoCreate = true // only look
	p, err := ensure(ctx, conn, &o)
	var misfit *Misfit
	switch {
	case errors.As(err, &misfit) && misfit.Absent && mayCreate:
		state.Missing = true
		return state, nil
	case errors.As(err, &misfit):
		return state, err
	case err != nil:
		return state, fmt.Errorf("%s: %s", o.address(), explain(err))
	}
	info := p.pull.CachedInfo()
	state.Waiting, state.Pending = info.NumPending, info.NumAckPending
	state.Dead, err = count(ctx, p.dead, o.DeadSubject+".*")
	return state, err
}

// count is how many messages a stream holds under a subject.
func count(ctx context.Context, s jetstream.Stream, subject string) (uint64, error) {
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(subject))
	if err != nil {
		return 0, err
	}
	var n uint64
	for _, of := range info.State.Subjects {
		n += of
	}
	return n, nil
}
