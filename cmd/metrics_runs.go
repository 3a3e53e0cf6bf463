package cmd

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"paybook/ledger"
	"paybook/models"
)

// runMetrics are the numbers of the daily runs. They are read from the book when they are asked for, at most once in a while.
type runMetrics struct {
	book     *ledger.Ledger
	accounts []string
	now      func() time.Time

	mu   sync.Mutex
	at   time.Time
	last []prometheus.Metric
}

const (
	runMetricsFor  = 30 * time.Second // one answer is good for so long
	runMetricsTime = 3 * time.Second
)

var (
	lastRunTime = prometheus.NewDesc("reconcile_last_run_timestamp_seconds", "When the newest day's last run of an account was made, as seconds since 1970.", []string{"account"}, nil)
	lastRunDay  = prometheus.NewDesc("reconcile_last_run_day_timestamp_seconds", "The business day of that run: midnight UTC of its date, as seconds since 1970.", []string{"account"}, nil)
	lastRunGood = prometheus.NewDesc("reconcile_last_run_balanced", "1 when that run was balanced, 0 when it had gaps.", []string{"account"}, nil)
	openGaps    = prometheus.NewDesc("reconcile_gaps", "Gaps that are open or carried, by account and kind.", []string{"account", "kind", "state"}, nil)
)

// watchRuns adds the numbers of the daily runs.
func (m *metrics) watchRuns(book *ledger.Ledger, c *Config, now func() time.Time) {
	r := &runMetrics{book: book, now: now}
	for _, a := range c.Accounts {
		r.accounts = append(r.accounts, a.Name)
	}
	m.registry.MustRegister(r)
}

// Describe implements prometheus.Collector.
func (r *runMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{lastRunTime, lastRunDay, lastRunGood, openGaps} {
		out <- d
	}
}

// Collect implements prometheus.Collector. While the database is away there are no such numbers: an old one would look like a new one.
func (r *runMetrics) Collect(out chan<- prometheus.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) > runMetricsFor {
		ctx, cancel := context.WithTimeout(context.Background(), runMetricsTime)
		defer cancel()
		list, err := r.read(ctx)
		if err != nil {
			return
		}
		r.last, r.at = list, time.Now()
	}
	for _, m := range r.last {
		out <- m
	}
}

func (r *runMetrics) read(ctx context.Context) (list []prometheus.Metric, err error) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		list = append(list, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...))
	}
	for _, account := range r.accounts {
		run, err := r.book.LastRunOf(ctx, account)
		if err != nil {
			return nil, err
		}
		if run.ID == "" {
			continue
		}
		good := 0.0
		if run.Result == models.Balanced {
			good = 1
		}
		gauge(lastRunTime, float64(run.CreatedAt.Unix()), account)
		gauge(lastRunGood, good, account)
		if day, err := time.Parse(time.DateOnly, run.Date); err == nil {
			gauge(lastRunDay, float64(day.Unix()), account)
		}
	}
	counts, err := r.book.CountGaps(ctx, r.now(), "")
	for _, c := range counts {
		gauge(openGaps, float64(c.Day+c.Week+c.Older), c.Account, string(c.Kind), string(c.State))
	}
	return list, err
}
