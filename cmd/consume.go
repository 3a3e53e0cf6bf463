package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"paybook/callback/queue"
	"paybook/ledger"
)

type consumeOptions struct {
	dead   bool
	format string
}

func newConsumeCommand(a *app) *cobra.Command {
	var o consumeOptions
	c := &cobra.Command{
		Use:   "consume",
		Short: "Take callbacks from NATS JetStream",
		Long: `Take callbacks from NATS JetStream, as the configuration's queue says, until SIGTERM: then what is in flight is booked
and acknowledged, and the program ends with 0. Any number of these, and of app serve, which takes them too, may run at
once. While NATS or the database is away it waits; nothing is lost. How a gateway publishes callbacks is in the comment
of the package callback/queue. In the configuration:

  queue:
    url: nats://queue.example.com:4222     # or APP_QUEUE_URL; further keys: stream, subject, durable, dead_subject,
    user: paybook                          # max_deliver, ack_wait, create. Instead of user: token, or credentials: FILE
    password: file:queue-password

With --dead, bring every dead letter the way of a callback again, at its own time of receipt, and end. What is booked is
deleted from the dead letters; what is refused or fails again stays, until it is deleted (nats stream rmm STREAM NUMBER)
or its time is over. Run it when the cause is cured: an account added, a key renewed, the database repaired.

Exit codes:
  0  done; with --dead: no dead letter is left
  1  with --dead: some are left, the list says why
  2  could not be done: usage, configuration, database; a stream or consumer that does not fit the configuration`,
		Example: "  app consume --config app.yaml\n  app consume --dead --config app.yaml --format json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("format") && !o.dead {
				return errors.New("--format belongs to --dead")
			}
			return runConsume(c.Context(), a, o)
		},
	}
	c.Flags().BoolVar(&o.dead, "dead", false, "bring the dead letters again, and end")
	formatFlag(c, &o.format, "table", "json")
	return c
}

func runConsume(ctx context.Context, a *app, o consumeOptions) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	switch {
	case len(conf.Accounts) == 0:
		return conf.noAccounts()
	case conf.Queue == nil:
		return errors.New("no queue configured: write queue: {url: nats://HOST:4222} into app.yaml, or set APP_QUEUE_URL")
	}
	log := slog.New(slog.NewJSONHandler(a.err, &slog.HandlerOptions{Level: conf.LogLevel}))
	numbers := newMetrics()
	book, err := a.openBook(ctx, func(lo *ledger.Options) { lo.Log, lo.OnBatch = log, numbers.batch })
	if err != nil {
		return err
	}
	s := newService(conf, book, log, numbers, a.now)
	if o.dead {
		err = s.replayDead(ctx, a, o.format)
	} else {
		s.warn(a)
		err = s.consume(ctx, a)
	}
	return errors.Join(err, book.Close())
}

// openQueue is for a server that takes from the queue as well: it refuses one that does not fit, and does not wait for one that is away.
func (s *service) openQueue(ctx context.Context) error {
	if s.conf.Queue == nil {
		return nil
	}
	s.queue = s.consumer()
	limited, cancel := context.WithTimeout(ctx, queuePatience)
	defer cancel()
	err := s.queue.Prepare(limited)
	if err != nil && limited.Err() != nil {
		return nil // it ends, or the queue does not answer: that is the running consumer's to say, and to go on trying
	}
	return err
}

// queuePatience is how long callbacks over HTTP wait at the start for a queue that does not answer.
const queuePatience = time.Second

// consumer takes from the queue what providers call over HTTP.
func (s *service) consumer() *queue.Consumer {
	o := *s.conf.Queue
	o.Log, o.Drain, o.Observe = s.log, s.drain, s.metrics.message
	return queue.New(s.callbacks(), o)
}

// consume takes messages until ctx ends, and tends the book meanwhile.
func (s *service) consume(ctx context.Context, a *app) error {
	c := s.consumer()
	err := c.Prepare(ctx)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // ended before it had begun
	}
	if err != nil {
		return err
	}
	s.announceQueue(a)
	jobs, stopJobs := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { s.sweep(jobs) })
	err = c.Run(ctx)
	stopJobs()
	running.Wait()
	return err
}

func (s *service) announceQueue(a *app) {
	fmt.Fprintf(a.err, "taking callbacks from %s\n", s.conf.Queue)
}

// deadLetterJSON is one dead letter that was brought again. Now is the outcome when it is booked, else why it stays.
type deadLetterJSON struct {
	Sequence   uint64 `json:"sequence"`
	Account    string `json:"account"`
	Deliveries string `json:"deliveries"`
	Reason     string `json:"reason"`
	Booked     bool   `json:"booked"`
	Now        string `json:"now"`
}

// replayDead prints what became of each also when it has to stop half-way.
func (s *service) replayDead(ctx context.Context, a *app, format string) error {
	list, left := []deadLetterJSON{}, 0
	err := s.consumer().Replay(ctx, func(d queue.DeadLetter) error {
		list = append(list, deadLetterJSON(d))
		if !d.Booked {
			left++
		}
		return nil
	})
	if err != nil && len(list) == 0 {
		return err
	}
	if printErr := printDead(a, list, format); printErr != nil || err != nil {
		return errors.Join(err, printErr)
	}
	if left > 0 {
		return errLook
	}
	return nil
}

func printDead(a *app, list []deadLetterJSON, format string) error {
	if format == "json" {
		return printJSON(a.out, list)
	}
	t := newTable("dead letter", "account", "deliveries", "died of", "booked", "now")
	for _, d := range list {
		booked := "no"
		if d.Booked {
			booked = "yes"
		}
		t.AppendRow([]any{d.Sequence, cell(d.Account), cell(d.Deliveries), cell(d.Reason), booked, cell(d.Now)})
	}
	return printTable(a.out, t, "no dead letters")
}
