package main

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// load is one run: what its workers share.
type load struct {
	*options
	pieces     []piece
	host, path string
	prefix     string
	ok, dupOK  map[int]bool
	workers    []*worker
	pooled     []string // what resent transactions are taken from when -pool is given
	next       atomic.Int64
	measuring  atomic.Bool
	stopped    atomic.Bool
	counted    atomic.Int64
	dropped    atomic.Int64 // open loop: arrivals that found the queue full
}

func (l *load) connect() error {
	for i := range l.conns {
		w := &worker{load: l, id: i, codes: map[int]uint64{}, rng: rand.New(rand.NewPCG(uint64(i)+1, 42))}
		if err := w.dial(); err != nil {
			return err
		}
		l.workers = append(l.workers, w)
	}
	return nil
}

// fillPool sends -pool fresh transactions, unmeasured.
func (l *load) fillPool() {
	share := l.dup
	l.dup = 0
	var left atomic.Int64
	left.Store(int64(l.pool))
	l.each(func(w *worker) {
		for left.Add(-1) >= 0 {
			w.send(time.Time{})
		}
	}).Wait()
	l.dup = share
	if l.pool > 0 {
		for _, w := range l.workers {
			l.pooled = append(l.pooled, w.acked...)
		}
	}
}

func (l *load) each(do func(*worker)) *sync.WaitGroup {
	var wg sync.WaitGroup
	for _, w := range l.workers {
		wg.Go(func() { do(w) })
	}
	return &wg
}

// measureAll runs warm-up and measured time. A request under way at the end is let finish, so that what was acknowledged is
// known to the last one.
func (l *load) measureAll() map[string]any {
	before := l.distinct()
	wg := l.startLoop()
	time.Sleep(l.warmUp)
	cpu0, t0 := cpuSeconds(l.cpu), time.Now()
	l.measuring.Store(true)
	for time.Since(t0) < l.duration && !l.stopped.Load() {
		time.Sleep(5 * time.Millisecond)
	}
	seconds, cpu1 := time.Since(t0).Seconds(), cpuSeconds(l.cpu)
	l.measuring.Store(false)
	l.stopped.Store(true)
	wg.Wait()
	return l.report(seconds, before, cpu0, cpu1)
}

func (l *load) startLoop() *sync.WaitGroup {
	if l.rate <= 0 {
		return l.each(func(w *worker) {
			for !l.stopped.Load() {
				w.send(time.Time{})
			}
		})
	}
	due := make(chan time.Time, 1<<20)
	wg := l.each(func(w *worker) {
		for at := range due {
			w.send(at)
		}
	})
	go l.pace(due)
	return wg
}

// pace hands out arrivals. It keeps a thread of its own, so that pacing does not hang on the runtime's timers.
func (l *load) pace(due chan<- time.Time) {
	runtime.LockOSThread()
	rng := rand.New(rand.NewPCG(7, 7))
	for at := time.Now(); !l.stopped.Load(); {
		at = at.Add(time.Duration(rng.ExpFloat64() / l.rate * float64(time.Second)))
		if wait := time.Until(at); wait > 20*time.Microsecond {
			preciseSleep(wait)
		}
		select {
		case due <- at:
		default:
			l.dropped.Add(1)
		}
	}
	close(due)
}

func (l *load) distinct() (n int) {
	for _, w := range l.workers {
		n += len(w.acked)
	}
	return n
}
