package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	connectTime   = 3 * time.Second
	reconnectWait = time.Second
	pingEvery     = 10 * time.Second // two of them unanswered, and the connection is given up and made again
)

// Misfit is an error that waiting does not heal: a setting that does not go with what is on the server.
type Misfit struct {
	Setting string // as in the configuration, such as queue.stream
	Problem string // what is wrong, and what to do
	Absent  bool   // it is only not there yet
}

func (m *Misfit) Error() string { return m.Setting + ": " + m.Problem }

// connect makes one connection, which then comes back by itself for ever.
func connect(o *Options) (*nats.Conn, error) {
	options := append(login(o), tell(o)...)
	options = append(options, nats.Name("paybook "+o.Durable), nats.Timeout(connectTime), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.PingInterval(pingEvery), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectBufSize(-1)) // a request that is sent later than it was meant takes messages that nobody waits for any more
	conn, err := nats.Connect(o.URL, options...)
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return nil, &Misfit{Setting: "queue.url", Problem: o.address() + " does not let us in: give queue.user and queue.password, queue.token or queue.credentials as the server knows them"}
	}
	return nil, fmt.Errorf("%s does not work (%s): no callbacks are taken from it until it does; start nats-server there, or correct queue.url", o.address(), plain(err))
}

// connectUnless is connect, and does not outlast ctx: a server that does not answer takes its time for each of its addresses.
func connectUnless(ctx context.Context, o *Options) (*nats.Conn, error) {
	type made struct {
		conn *nats.Conn
		err  error
	}
	done := make(chan made, 1)
	go func() {
		conn, err := connect(o)
		done <- made{conn, err}
	}()
	select {
	case m := <-done:
		return m.conn, m.err
	case <-ctx.Done():
		go func() {
			if m := <-done; m.conn != nil {
				m.conn.Close()
			}
		}()
		return nil, fmt.Errorf("%s does not answer: %w", o.address(), ctx.Err())
	}
}

func login(o *Options) []nats.Option {
	switch {
	case strings.Contains(o.Credentials, "-----BEGIN"):
		return []nats.Option{nats.UserCredentialBytes([]byte(o.Credentials))}
	case o.Credentials != "":
		return []nats.Option{nats.UserCredentials(o.Credentials)}
	case o.Token != "":
		return []nats.Option{nats.Token(o.Token)}
	case o.User != "":
		return []nats.Option{nats.UserInfo(o.User, o.Password)}
	}
	return nil
}

// tell logs what happens to the connection, each thing once and not at every try.
func tell(o *Options) []nats.Option {
	var mu sync.Mutex
	last := ""
	news := func(text string) bool {
		mu.Lock()
		defer mu.Unlock()
		isNew := text != last
		last = text
		return isNew
	}
	return []nats.Option{
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil when we close it
				o.Log.Warn("queue away, trying again until it is back", "url", o.address(), "error", plain(err))
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			news("")
			o.Log.Info("queue back", "url", o.address())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if text := plain(err); news(text) {
				o.Log.Warn("queue: the server complains", "url", o.address(), "error", text)
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if text := plain(err); strings.Contains(strings.ToLower(text), "auth") && news(text) {
				o.Log.Error("queue: the server does not let us in any more", "url", o.address(), "error", text)
			}
		}),
	}
}

// plain is an error's text on one line, without the library's name in front.
func plain(err error) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "nats: ")), " ")
}
