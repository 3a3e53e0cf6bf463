package redisgate

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
)

const (
	failuresInARow = 5                // then Redis is taken for away
	failuresOf     = 20               // of so many calls, or more, half may fail
	failuresWithin = 10 * time.Second // counted anew after it
)

// newBreaker is closed while Redis works. When it fails it opens: nobody calls. After a rest one call tries, and closes it or not.
func newBreaker(o Options) *gobreaker.CircuitBreaker[any] {
	return gobreaker.NewCircuitBreaker[any](gobreaker.Settings{
		Interval: failuresWithin,
		Timeout:  o.Rest,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.ConsecutiveFailures >= failuresInARow || c.Requests >= failuresOf && 2*c.TotalFailures >= c.Requests
		},
		IsExcluded: isNoNews,
		IsSuccessful: func(err error) bool {
			return err == nil || errors.Is(err, redis.Nil)
		},
		OnStateChange: func(_ string, from, to gobreaker.State) {
			switch {
			case to == gobreaker.StateOpen && from == gobreaker.StateClosed:
				o.Log.Warn("redis fails: the database does all by itself until it is back", "tried again every", o.Rest.String())
			case to == gobreaker.StateClosed:
				o.Log.Info("redis is back")
			}
		},
	})
}

// isNoNews is an error that says nothing of Redis: the caller has gone, or one key holds something that is not ours.
func isNoNews(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return err != nil
	}
	return IsReply(err) && (strings.Contains(err.Error(), "WRONGTYPE ") || strings.Contains(err.Error(), "not an integer") || strings.Contains(err.Error(), "would overflow"))
}

// IsReply says whether an error is Redis's own answer: it is there, and refuses.
func IsReply(err error) bool {
	var said redis.Error
	return errors.As(err, &said)
}

// IsAway says whether an error is that Redis cannot be reached, is too slow, or is left alone because it was.
func IsAway(err error) bool { return errors.As(err, new(*unreached)) }

// unreached is why there was no answer.
type unreached struct{ error }

func (u *unreached) Unwrap() error { return u.error }

// Away says whether Redis is left alone just now because it has failed.
func (g *Gate) Away() bool { return g.breaker.State() == gobreaker.StateOpen }
