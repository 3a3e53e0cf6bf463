package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/ledger/redisgate"
	"paybook/ledger/shop"
)

// drainMax is how long callbacks in flight may take at the end. One takes 4.5 s at most.
const drainMax = 10 * time.Second

type serveOptions struct {
	listen      string // HOST:PORT; "": the configuration's
	replayClock bool
}

func newServeCommand(a *app) *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Listen for callbacks, and for the shop's own back end",
		Long: `Listen for callbacks at POST /callbacks/{account}, and take them from the queue where one is configured; serve the
shop's routes (orders, tokens, stock; described at /openapi.json), on admin_listen where that is set; close orders that
were not paid in time. Until SIGTERM: then /readyz says no at once, callbacks in flight are answered, and the program
ends with 0. A second signal ends it at once.

` + exitCodesHelp,
		Example: "  app serve --config app.yaml\n  app serve --config testdata/app.yaml --listen 127.0.0.1:8080 --database sqlite:app.db",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runServe(c.Context(), a, o) },
	}
	c.Flags().StringVar(&o.listen, "listen", "", "`HOST:PORT` instead of the configuration's listen; port 0 takes a free one")
	c.Flags().BoolVar(&o.replayClock, "replay-clock", false,
		"take a request's time from its header App-Received-At, for recordings (loopback only)")
	return c
}

func runServe(ctx context.Context, a *app, o serveOptions) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	if len(conf.Accounts) == 0 {
		return conf.noAccounts()
	}
	if o.listen == "" {
		o.listen = conf.Listen
	}
	public, err := listen(ctx, o.listen, "--listen HOST:PORT, or listen in the configuration")
	if err != nil {
		return err
	}
	defer public.Close()
	if o.replayClock && !isLoopback(public) {
		return fmt.Errorf("--replay-clock with %s: only on a loopback address such as --listen 127.0.0.1:8080", o.listen)
	}
	var admin net.Listener
	if conf.AdminListen != "" {
		if admin, err = listen(ctx, conf.AdminListen, "admin_listen in the configuration, or APP_ADMIN_LISTEN"); err != nil {
			return err
		}
		defer admin.Close()
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the heap is small: collecting it less often costs megabytes and saves a tenth of the work
	}
	log := slog.New(slog.NewJSONHandler(a.err, &slog.HandlerOptions{Level: conf.LogLevel}))
	numbers := newMetrics()
	gate, err := conf.Redis.open(log)
	if err != nil {
		return err
	}
	book, err := a.openBook(ctx, func(lo *ledger.Options) {
		lo.Log, lo.OnBatch = log, numbers.batch
		if gate != nil {
			lo.Gate = gate
		}
	})
	if err != nil {
		return err
	}
	if gate != nil {
		defer gate.Close()
		warnOfRedis(ctx, a.err, gate)
	}
	s := newService(conf, book, log, numbers, a.now)
	s.replayClock = o.replayClock
	s.chores = append(s.chores, s.daily(a)...)
	numbers.watchRuns(book, conf, a.now)
	if len(conf.Flash) > 0 {
		s.flash = redisgate.NewFlash(book, gate, conf.Flash, log)
	}
	if err := s.openQueue(ctx); err != nil {
		return errors.Join(err, book.Close())
	}
	s.announce(a, public, admin)
	return errors.Join(s.run(ctx, public, admin), book.Close())
}

// listen takes an address. setting is where another can be named.
func listen(ctx context.Context, address, setting string) (net.Listener, error) {
	if err := checkAddress(address); err != nil {
		return nil, fmt.Errorf("listen %w", err)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w: stop what has it, or name another address by %s", address, err, setting)
	}
	return ln, nil
}

// isLoopback looks at the address that was really taken: a name may mean anything.
func isLoopback(ln net.Listener) bool {
	addr, ok := ln.Addr().(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}

// urlOf is an address to click on: "every address" is reached through the loopback one.
func urlOf(ln net.Listener) string {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if ok && addr.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d", addr.Port)
	}
	return "http://" + ln.Addr().String()
}

// guardedBy says who may call the shop's routes.
func guardedBy(keys []shop.Key) string {
	if len(keys) == 0 {
		return "from this machine only and never through a proxy: no api_keys are configured"
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return "with an API key: " + strings.Join(names, ", ")
}

func (s *service) warn(a *app) {
	for _, account := range s.conf.Accounts {
		for _, text := range account.warnings() {
			fmt.Fprintln(a.err, "warning: "+text)
		}
	}
}

// announce says what a person wants to know at the start.
func (s *service) announce(a *app, public, admin net.Listener) {
	if s.replayClock {
		fmt.Fprintln(a.err, "WARNING: --replay-clock is on: requests say themselves when they came, so old callbacks are accepted. Never use it for real money.")
	}
	for _, text := range s.conf.warnings() {
		fmt.Fprintln(a.err, "warning: "+text)
	}
	s.warn(a)
	base := s.conf.PublicURL
	if base == "" {
		base = urlOf(public)
	}
	for _, account := range s.conf.Accounts {
		fmt.Fprintf(a.err, "account %s: POST %s/callbacks/%s\n", account.Name, base, account.Name)
	}
	if s.queue != nil {
		s.announceQueue(a)
	}
	shopBase := base
	if admin != nil {
		shopBase = urlOf(admin)
	}
	fmt.Fprintf(a.err, "shop: %s/orders, /tokens and /stock, %s\n", shopBase, guardedBy(s.conf.APIKeys))
	if admin != nil {
		fmt.Fprintln(a.err, "admin listening on "+urlOf(admin))
	}
	fmt.Fprintln(a.err, "listening on "+urlOf(public))
}
