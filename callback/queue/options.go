package queue

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// Options of New. URL is needed, everything else may be left out.
type Options struct {
	URL         string // nats://HOST:PORT, several separated by commas; tls:// for TLS
	User        string // with Password
	Password    string
	Token       string        // instead of User and Password
	Credentials string        // path of a .creds file, instead of either
	Stream      string        // ""; CALLBACKS
	Subject     string        // what comes before .<account>; "": callbacks
	Durable     string        // the consumer's name; "": paybook
	DeadSubject string        // of dead letters, before .<account>; "": callbacks-dead
	MaxDeliver  int           // deliveries after which a message that we fail on becomes a dead letter; 0: 20
	AckWait     time.Duration // after which the server delivers again what it has heard nothing of; 0: 30 s
	NoCreate    bool          // what is missing is an error instead of being made
	Workers     int           // messages handled at once; 0: 256, a whole batch of the book
	Pause       time.Duration // before the second delivery of a message that we failed on, then doubled; 0: 1 s
	Drain       time.Duration // how long messages in flight may take at the end; 0: 10 s
	Log         *slog.Logger  // nil: discard
	// Observe, if set, is told what became of every message, for metrics. Account is a configured name, "" for an unknown one.
	Observe func(account string, r Result)
}

// Result is what became of one message.
type Result string

// Every result there is.
const (
	Booked  Result = "booked"  // in the book, whatever its outcome, and acknowledged
	Refused Result = "refused" // not genuine or of no account: a dead letter
	Dead    Result = "dead"    // failed on too often: a dead letter
	Again   Result = "again"   // a failure of ours: it will be delivered again
)

// pauseMax bounds the pause before a message is tried again.
const pauseMax = 5 * time.Minute

func (o *Options) setDefaults() {
	text := func(s *string, fallback string) {
		if *s == "" {
			*s = fallback
		}
	}
	span := func(d *time.Duration, fallback time.Duration) {
		if *d == 0 {
			*d = fallback
		}
	}
	whole := func(n *int, fallback int) {
		if *n == 0 {
			*n = fallback
		}
	}
	text(&o.Stream, "CALLBACKS")
	text(&o.Subject, "callbacks")
	text(&o.Durable, "paybook")
	text(&o.DeadSubject, "callbacks-dead")
	whole(&o.MaxDeliver, 20)
	whole(&o.Workers, 256)
	span(&o.AckWait, 30*time.Second)
	span(&o.Pause, time.Second)
	span(&o.Drain, 10*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// String is what people may know of it, in no format a secret.
func (o Options) String() string {
	return fmt.Sprintf("%s: stream %s, subject %s.*, consumer %s", o.address(), o.Stream, o.Subject, o.Durable)
}

// pause is how long a message waits after its n-th delivery failed.
func (o *Options) pause(n uint64) time.Duration {
	d := o.Pause
	for ; n > 1 && d < pauseMax; n-- {
		d *= 2
	}
	return min(d, pauseMax)
}

// address is the URL without what is secret in it.
func (o *Options) address() string {
	var out []string
	for part := range strings.SplitSeq(o.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(part))
		if err != nil || u.Host == "" {
			out = append(out, "an address that cannot be read")
			continue
		}
		out = append(out, u.Scheme+"://"+u.Host)
	}
	return strings.Join(out, ",")
}
