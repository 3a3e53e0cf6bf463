package main

import (
	"math"
	"strconv"
)

// report puts the workers' figures together. See README.md for the meaning of each.
func (l *load) report(seconds float64, before int, cpu0, cpu1 map[string]float64) map[string]any {
	var sum worker
	codes := map[string]uint64{}
	for _, w := range l.workers {
		sum.all.merge(&w.all)
		sum.fresh.merge(&w.fresh)
		sum.resent.merge(&w.resent)
		sum.service.merge(&w.service)
		sum.refused += w.refused
		sum.failures += w.failures
		if w.lastErr != "" {
			sum.lastErr = w.lastErr
		}
		for code, n := range w.codes {
			codes[strconv.Itoa(code)] += n
		}
	}
	out := map[string]any{
		"connections": l.conns, "seconds": round3(seconds), "dup": l.dup, "rate": l.rate, "prefix": l.prefix,
		"acks_per_s": math.Round(float64(sum.all.n) / seconds), "acks": sum.all.n, "acks_first": sum.fresh.n, "acks_dup": sum.resent.n,
		"refused": sum.refused, "io_errors": sum.failures, "codes": codes,
		"distinct_acked_total": l.distinct(), "distinct_acked_before_measure": before, "next_ordinal": l.next.Load(),
		"latency_ms": sum.all.summary(), "latency_first_ms": sum.fresh.summary(), "latency_dup_ms": sum.resent.summary(),
	}
	if l.rate > 0 {
		out["service_ms"], out["dropped_arrivals"] = sum.service.summary(), l.dropped.Load()
	}
	if sum.lastErr != "" {
		out["last_error"] = sum.lastErr
	}
	if l.cpu != "" {
		out["cpu_cores"] = cores(cpu0, cpu1, seconds)
	}
	return out
}

func cores(before, after map[string]float64, seconds float64) map[string]float64 {
	busy := map[string]float64{}
	for name, s := range after {
		busy[name] = round3((s - before[name]) / seconds)
	}
	return busy
}
