package cmd

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"paybook/callback"
	"paybook/callback/queue"
	"paybook/ledger/shop"
)

// What an outcome label says when there is no outcome.
const (
	labelRefused = "refused"
	labelFailed  = "failed"
)

// metrics are the numbers at /metrics. No label's value comes from outside: an account is a configured name, outcome and reason
// are words of ours. Otherwise a stranger could fill the memory.
type metrics struct {
	registry  *prometheus.Registry
	callbacks *prometheus.CounterVec
	took      *prometheus.HistogramVec
	batches   prometheus.Histogram
	notKept   *prometheus.CounterVec
	probes    *prometheus.CounterVec
	messages  *prometheus.CounterVec
	requests  *prometheus.CounterVec
	answered  *prometheus.HistogramVec
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		callbacks: counter("callbacks_total", "Callbacks by account, outcome (refused, failed or what was booked) and reason of refusal, without a provider's tests of our endpoint.",
			"account", "outcome", "reason"),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "callback_duration_seconds", Help: "Time from the request to the answer, commit included.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}, // providers give up at 5 s
		}, []string{"account"}),
		batches: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "commit_batch_size", Help: "Callbacks written by one commit.", Buckets: prometheus.ExponentialBuckets(1, 2, 9),
		}),
		notKept:  counter("callbacks_refused_not_kept_total", "Refused callbacks that were only counted: the bound on evidence was reached.", "account"),
		probes:   counter("callback_probes_total", "A provider's own tests of our endpoint, refused as they should be.", "account"),
		requests: counter("shop_requests_total", "Requests of the shop by route and HTTP status answered.", "route", "status"),
		answered: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "shop_request_duration_seconds", Help: "Time from the shop's request to the answer, commit included.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route"}),
	}
	m.messages = counter("queue_messages_total", "Messages of the queue by account (empty: not configured) and result: booked, refused and dead (both dead letters), again (to be delivered again).", "account", "result")
	m.registry.MustRegister(m.messages, m.callbacks, m.took, m.batches, m.notKept, m.probes, m.requests, m.answered,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// watch adds whether the database could record.
func (m *metrics) watch(r *readiness) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "database_ready", Help: "1 when the database can record, else 0.",
	}, func() float64 {
		if r.now() != nil {
			return 0
		}
		return 1
	}))
}

func (m *metrics) observe(o callback.Observation) {
	outcome := string(o.Outcome)
	switch {
	case o.Reason != "":
		outcome = labelRefused
	case outcome == "":
		outcome = labelFailed
	}
	if o.Probe { // no forgery: an alarm on refusals must stay quiet
		m.probes.WithLabelValues(o.Account).Inc()
	} else {
		m.callbacks.WithLabelValues(o.Account, outcome, string(o.Reason)).Inc()
	}
	m.took.WithLabelValues(o.Account).Observe(o.Took.Seconds())
	if o.Dropped {
		m.notKept.WithLabelValues(o.Account).Inc()
	}
}

func (m *metrics) shop(o shop.Observation) {
	m.requests.WithLabelValues(o.Route, strconv.Itoa(o.Status)).Inc()
	m.answered.WithLabelValues(o.Route).Observe(o.Took.Seconds())
}

func (m *metrics) message(account string, r queue.Result) {
	m.messages.WithLabelValues(account, string(r)).Inc()
}

func (m *metrics) batch(callbacks int) { m.batches.Observe(float64(callbacks)) }

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Timeout: 5 * time.Second})
}
