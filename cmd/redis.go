package cmd

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"paybook/ledger/redisgate"
)

// Redis is how to reach a Redis that saves the database work. It is never needed.
type Redis struct {
	URL     string        // redis://…; "": there is none. It may hold a password
	Timeout time.Duration // of one call
	Prefix  string        // what our keys in it begin with
}

func readRedis(s *section) Redis {
	r := Redis{
		URL:     s.text("url", ""),
		Timeout: s.duration("timeout", 50*time.Millisecond, time.Millisecond, 5*time.Second),
		Prefix:  s.text("prefix", "paybook:"),
	}
	if r.URL != "" {
		if err := redisgate.Check(r.URL); err != nil {
			s.fail("url", "%v", err)
		}
	}
	return r
}

// open is nil without a Redis. It does not connect. The caller closes it, after the book.
func (r Redis) open(log *slog.Logger) (*redisgate.Gate, error) {
	if r.URL == "" {
		return nil, nil
	}
	return redisgate.Open(r.URL, redisgate.Options{Timeout: r.Timeout, Prefix: r.Prefix, Log: log})
}

const redisAway = "%s does not work (%v): the database does all by itself until it does; start Redis there, or correct redis.url"

// warnOfRedis tells who starts the server that Redis is of no use just now.
func warnOfRedis(ctx context.Context, to io.Writer, gate *redisgate.Gate) {
	if err := gate.Ping(ctx); err != nil {
		fmt.Fprintf(to, "warning: redis at "+redisAway+"\n", gate.Address(), err)
	}
}

// redis looks whether Redis answers. Nothing depends on it, so it is never worse than a warning.
func (d *doctor) redis(ctx context.Context, c *Config) {
	gate, err := c.Redis.open(nil)
	switch {
	case err != nil:
		d.add(checkFail, "redis", "%v", err)
	case gate != nil:
		defer gate.Close()
		if err := gate.Ping(ctx); err != nil {
			d.add(checkWarn, "redis", redisAway, gate.Address(), err)
			return
		}
		d.add(checkOK, "redis", "%s answers and can be written", gate.Address())
	}
}
