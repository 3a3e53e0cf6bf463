// Package redisgate answers from Redis what the database would have to be asked otherwise, so that repeats, and those who come too late,
// cost it nothing. It decides nothing: Redis may be away, slow, full, flushed, or wrong, and the book stays the same. Every call has a
// short time limit, and a circuit breaker ends the calls while Redis fails.
package redisgate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/sony/gobreaker/v2"
)

// Options of Open. The zero value is usable.
type Options struct {
	Timeout time.Duration // of one call, connecting included; 0: 50 ms
	Rest    time.Duration // how long a Redis that fails is left alone; 0: 2 s
	Prefix  string        // what our keys begin with, for a Redis that others use too; "": "paybook:"
	Log     *slog.Logger  // told when Redis goes and when it is back; nil: discard
}

// Gate is a Redis. It is safe for any number of goroutines.
type Gate struct {
	client  *redis.Client
	breaker *gobreaker.CircuitBreaker[any]
	options Options
}

// Open makes a gate to redis://, rediss:// or unix://, with user and password in it where there are some. It does not connect: a Redis
// that is away is no reason not to start.
func Open(address string, o Options) (*Gate, error) {
	conf, err := parse(address)
	if err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = 50 * time.Millisecond
	}
	if o.Rest == 0 {
		o.Rest = 2 * time.Second
	}
	if o.Prefix == "" {
		o.Prefix = "paybook:"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	quiet()
	limit(conf, o.Timeout)
	return &Gate{client: redis.NewClient(conf), breaker: newBreaker(o), options: o}, nil
}

// Check says whether Open would take an address.
func Check(address string) error {
	_, err := parse(address)
	return err
}

// parse says what is wrong with an address without a word of it: it may hold a password.
func parse(address string) (*redis.Options, error) {
	conf, err := redis.ParseURL(address)
	if err != nil {
		return nil, errors.New("not an address of Redis: redis://HOST:PORT/DATABASE, rediss://… or unix:///PATH expected, " +
			"with user:password@ after the // where needed; what is neither letter nor digit in a password is written as %XX")
	}
	return conf, nil
}

// connections there are at most. One call takes a fraction of a millisecond, but a rush must not look like a Redis that fails.
const connections = 100

// limit leaves no call waiting: neither for connections, nor by repeating itself. Who waits here is a buyer, and the database can do it all.
func limit(conf *redis.Options, timeout time.Duration) {
	conf.MaxRetries, conf.DialerRetries = -1, 1
	conf.DialTimeout, conf.ReadTimeout, conf.WriteTimeout, conf.PoolTimeout = timeout, timeout, timeout, timeout
	conf.ContextTimeoutEnabled = true
	if conf.PoolSize == 0 {
		conf.PoolSize = connections
	}
	conf.DisableIdentity = true // and the line below: a new connection asks nothing that an old Redis, or a stand-in, does not know
	conf.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// quiet keeps the library from writing to standard error: what fails is returned, and said once by the breaker.
var quiet = sync.OnceFunc(func() { redis.SetLogger(silence{}) })

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// Close ends the connections.
func (g *Gate) Close() error { return g.client.Close() }

// Address is where it is, for people: no password is in it.
func (g *Gate) Address() string { return g.client.Options().Addr }

// Ping asks Redis itself whether it answers and may be written, breaker or not. Its error is for people; no password is in it.
func (g *Gate) Ping(ctx context.Context) error {
	return g.client.Set(ctx, g.options.Prefix+"ping", "", time.Second).Err()
}

// run runs a script within the time limit, if the breaker lets it.
func (g *Gate) run(ctx context.Context, script *redis.Script, keys []string, args ...any) (any, error) {
	said, err := g.breaker.Execute(func() (any, error) {
		limited, cancel := context.WithTimeout(ctx, g.options.Timeout)
		defer cancel()
		said, err := script.Run(limited, g.client, keys, args...).Result()
		if err != nil && ctx.Err() != nil {
			err = context.Canceled // the caller has gone, which is no news of Redis
		}
		return said, err
	})
	if err != nil && !IsReply(err) && ctx.Err() == nil {
		err = &unreached{err}
	}
	return said, err
}
