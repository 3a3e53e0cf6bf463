package main

import (
	"math"
	"math/bits"
)

// histogram counts durations in nanoseconds, 64 buckets for each power of two: a value read back is less than 1.6 % too low.
type histogram struct {
	buckets [64 * 64]uint64
	n       uint64
	sum     uint64
	max     uint64
}

func bucket(v uint64) int {
	if v < 64 {
		return int(v)
	}
	e := bits.Len64(v) - 7
	return (e+1)*64 + int(v>>uint(e))&63
}

func lowest(bucket int) uint64 {
	if bucket < 64 {
		return uint64(bucket)
	}
	return (uint64(bucket%64) + 64) << uint(bucket/64-1)
}

func (h *histogram) add(v uint64) {
	h.buckets[bucket(v)]++
	h.n++
	h.sum += v
	h.max = max(h.max, v)
}

func (h *histogram) merge(o *histogram) {
	for i, count := range o.buckets {
		h.buckets[i] += count
	}
	h.n += o.n
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// quantile is in milliseconds.
func (h *histogram) quantile(p float64) float64 {
	want := uint64(math.Ceil(p * float64(h.n)))
	var seen uint64
	for i, count := range h.buckets {
		if seen += count; seen >= want {
			return float64(lowest(i)) / 1e6
		}
	}
	return float64(h.max) / 1e6
}

// summary is nil when nothing was measured.
func (h *histogram) summary() map[string]float64 {
	if h.n == 0 {
		return nil
	}
	return map[string]float64{
		"p50": round3(h.quantile(.5)), "p90": round3(h.quantile(.9)), "p99": round3(h.quantile(.99)), "p999": round3(h.quantile(.999)),
		"max": round3(float64(h.max) / 1e6), "mean": round3(float64(h.sum) / float64(h.n) / 1e6),
	}
}

func round3(f float64) float64 { return math.Round(f*1000) / 1000 }
