package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"paybook/callback"
	"paybook/ledger"
	"paybook/models"
	"paybook/testdata"
)

type demoOptions struct {
	serve bool
}

func newDemoCommand(a *app) *cobra.Command {
	var o demoOptions
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole story on made-up data: callbacks in, orders moved, statements reconciled",
		Long: `Show the whole story in a few seconds, on an embedded database in a temporary folder: start the server on a free
loopback port, press "buy" five times with one token, sell three units to twenty buyers, create a shop's orders, send it
recorded callbacks of every provider over HTTP, each at its recorded time (genuine, repeated, forged, stale, one before
its order), reconcile every provider's native statement, and say what became of each. Then it closes the day: how a payout
adds up, which lines of the bank's statements the payouts are, a payment whose callback was lost booked by two people, and
the audit log checked. Configuration and --database of your own are not touched. The book is deleted at the end: to look into it
with other commands, use --serve.

Exit codes:
  0  everything came out as the recordings say
  1  something came out otherwise; the differences are printed last
  2  could not be done`,
		Example: "  app demo\n  app demo --serve",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.demo(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.serve, "serve", false, "keep the server and its book until Ctrl-C, and print where they are")
	return c
}

// demo is one run of the story.
type demo struct {
	a    *app
	p    paint
	dir  string // the unpacked kit, and the database
	conf *Config
	book *ledger.Ledger
	url  string
	send sender

	callbacks int
	became    map[models.Outcome]int
	refused   int
	rows      int // of statements, compared
	matched   int
	gaps      int
	wrong     []string // what came out otherwise than the kit says
}

func (a *app) demo(ctx context.Context, o demoOptions) (err error) {
	start := time.Now()
	d := &demo{a: a, p: a.colours(), became: map[models.Outcome]int{}}
	if d.dir, err = os.MkdirTemp("", "paybook-demo-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.dir)) }()
	if err := d.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.book.Close()) }()
	stop, err := d.startServer(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	d.printBanner()
	if err := d.playShop(ctx); err != nil {
		return fmt.Errorf("demo: the shop: %w", err)
	}
	for _, account := range d.conf.Accounts {
		if err := d.play(ctx, account); err != nil {
			return fmt.Errorf("demo: %s: %w", account.Name, err)
		}
	}
	if err := d.closeDay(ctx); err != nil {
		return fmt.Errorf("demo: closing the day: %w", err)
	}
	d.printSummary(time.Since(start))
	if o.serve {
		d.printServing()
		<-ctx.Done()
	} else {
		d.say("%s", d.p.dim("        This book is deleted now: `app demo --serve` keeps it, for the commands that are named above"))
	}
	if len(d.wrong) > 0 {
		return errLook
	}
	return nil
}

// differ notes something that came out otherwise than the kit says.
func (d *demo) differ(format string, args ...any) {
	d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
}

// open unpacks the kit and opens its configuration, untouched by the environment, and an empty book.
func (d *demo) open(ctx context.Context) (err error) {
	if err := testdata.Unpack(d.dir); err != nil {
		return fmt.Errorf("demo: unpack the test kit: %w", err)
	}
	d.conf, err = loadConfig(filepath.Join(d.dir, "app.yaml"), func(string) (string, bool) { return "", false })
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	d.conf.ShutdownDelay = 0 // no balancer has to notice
	options := d.conf.Ledger
	options.Now = d.a.now
	d.book, err = ledger.Open(ctx, d.database(), options)
	return err
}

func (d *demo) database() string { return "sqlite:" + filepath.Join(d.dir, "app.db") }

// startServer is the very server of `app serve`, with the replay clock. What it makes of each callback is seen from inside, since the
// answer to a provider does not tell.
func (d *demo) startServer(ctx context.Context) (stop func() error, err error) {
	var lc net.ListenConfig
	public, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("demo: listen on a loopback port: %w", err)
	}
	seen := make(chan callback.Observation, 1)
	s := newService(d.conf, d.book, slog.New(slog.DiscardHandler), newMetrics(), d.a.now)
	s.replayClock = true
	s.watch = func(o callback.Observation) {
		select {
		case seen <- o:
		default: // the story is over, and nobody waits for it
		}
	}
	d.url = urlOf(public)
	d.send = watched(overHTTP(d.url), seen)

	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.run(running, public, nil) }()
	return func() error { cancel(); return <-ended }, nil
}

// watched adds what the server saw to what it answered. It looks a moment after the answer is out.
func watched(send sender, seen <-chan callback.Observation) sender {
	return func(ctx context.Context, rec recording) (answer, error) {
		got, err := send(ctx, rec)
		if err != nil {
			return got, err
		}
		select {
		case o := <-seen:
			got.inside = &o
			return got, nil
		case <-time.After(replayTimeout):
			return got, fmt.Errorf("the server answered %d, but its handler has not seen the callback", got.status)
		case <-ctx.Done():
			return got, ctx.Err()
		}
	}
}
