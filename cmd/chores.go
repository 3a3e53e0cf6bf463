package cmd

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"paybook/callback"
	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/alert"
	"paybook/reconcile/source"
)

const (
	choreEvery    = time.Minute
	scheduleLimit = 6 * time.Hour // of the largest days, one after the other
	alertsLimit   = 5 * time.Minute
	heardEvery    = 20 * time.Second
)

// daily are the chores of the daily runs: they are made by themselves, and people are told.
func (s *service) daily(a *app) []ledger.Chore {
	post := a.post(s.conf, s.book, s.log)
	var chores []ledger.Chore
	if jobs := a.jobs(s.conf, s.book, s.log); len(jobs) > 0 {
		scheduler := &source.Scheduler{Book: s.book, Jobs: jobs, Now: s.now, Log: s.log, Alarm: func(ctx context.Context, t source.Trouble) error {
			return post.Say(ctx, troubleOf(s.conf, t))
		}}
		chores = append(chores, ledger.Chore{Name: "daily_runs", Every: choreEvery, Limit: scheduleLimit, Do: scheduler.Tick})
	}
	if watches := watchesOf(s.conf); len(watches) > 0 {
		chores = append(chores, ledger.Chore{Name: "silence", Every: choreEvery, Do: func(ctx context.Context) error { return post.Listen(ctx, watches) }})
	}
	if len(post.Routes) > 0 {
		chores = append(chores, ledger.Chore{Name: "alerts", Every: choreEvery, Limit: alertsLimit, Do: post.Tick})
	}
	return chores
}

// jobs are the accounts that are run by themselves.
func (a *app) jobs(c *Config, book *ledger.Ledger, log *slog.Logger) []source.Job {
	var jobs []source.Job
	for _, account := range c.Accounts {
		if account.Schedule == nil {
			continue
		}
		jobs = append(jobs, source.Job{Account: account.reconciled(), Schedule: *account.Schedule, Places: func() *source.Places {
			p, err := a.places(book, account)
			if err != nil { // the configuration was read long ago
				return &source.Places{Account: account.Name, Folder: func(context.Context, reconcile.Day) ([]reconcile.File, error) { return nil, err }}
			}
			p.Note = func(err error) { log.Warn("place not looked at", "account", account.Name, "error", err.Error()) }
			return p
		}})
	}
	return jobs
}

// troubleOf puts what a schedule says into the words of alerts.
func troubleOf(c *Config, t source.Trouble) alert.Trouble {
	out := alert.Trouble{Kind: alert.Failed, Account: t.Account, Date: t.Date, By: t.By, Over: t.Over, Problem: oneLine(t.Problem)}
	if t.Late {
		out.Kind = alert.LateDay
	}
	if account, err := c.account(t.Account); err == nil {
		out.Zone = account.Zone
	}
	return out
}

func watchesOf(c *Config) []alert.Watch {
	var out []alert.Watch
	for _, account := range c.Accounts {
		if account.Silence.After > 0 {
			out = append(out, alert.Watch{Account: account.Name, After: account.Silence.After, Orders: account.Silence.Orders})
		}
	}
	return out
}

// listener remembers when genuine callbacks came, and writes it down now and then: for the hot path it is one lock and one word.
type listener struct {
	mu sync.Mutex
	at map[string]time.Time
}

// hear is told of every callback.
func (l *listener) hear(o callback.Observation, now time.Time) {
	if o.Reason != "" || o.Outcome == "" || o.Outcome == models.OutcomeUnreadable {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = map[string]time.Time{}
	}
	l.at[o.Account] = now
}

// run writes down what was heard, until ctx ends and then once more.
func (l *listener) run(ctx context.Context, s *service) {
	tick := time.NewTicker(heardEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			l.write(context.WithoutCancel(ctx), s)
			return
		case <-tick.C:
			l.write(ctx, s)
		}
	}
}

func (l *listener) write(ctx context.Context, s *service) {
	l.mu.Lock()
	at := maps.Clone(l.at)
	clear(l.at)
	l.mu.Unlock()
	if err := s.book.Heard(ctx, at); err != nil {
		s.log.Debug("not written down when callbacks came", "error", err.Error())
	}
}
