package shop

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// take takes one request out of a limit and returns 0, or how long to wait for one. Without a limit nobody waits.
func take(l *rate.Limiter, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	r := l.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

const (
	failuresAtOnce = 20              // requests without a valid key from one address, before it has to wait
	failuresEvery  = 3 * time.Second // and one more each
	failuresKnown  = 10_000          // addresses kept apart: a stranger must not fill the memory
)

// failures counts wrong API keys by address.
type failures struct {
	mu    sync.Mutex
	known map[netip.Prefix]*rate.Limiter
	rest  *rate.Limiter // all others, when there are too many to keep apart
	swept time.Time
}

// wait counts one failure and returns 0, or how long the address has to wait.
func (f *failures) wait(remote string, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := network(remote)
	l := f.known[from]
	if l == nil {
		l = f.add(from, now)
	}
	return take(l, now)
}

func (f *failures) add(from netip.Prefix, now time.Time) *rate.Limiter {
	fresh := rate.NewLimiter(rate.Every(failuresEvery), failuresAtOnce)
	if f.known == nil {
		f.known, f.rest = map[netip.Prefix]*rate.Limiter{}, fresh
		fresh = rate.NewLimiter(rate.Every(failuresEvery), failuresAtOnce)
	}
	if len(f.known) >= failuresKnown && now.Sub(f.swept) >= failuresEvery {
		f.swept = now
		for other, l := range f.known {
			if l.TokensAt(now) >= failuresAtOnce { // quiet for a while: as good as never seen
				delete(f.known, other)
			}
		}
	}
	if len(f.known) >= failuresKnown {
		return f.rest
	}
	f.known[from] = fresh
	return fresh
}

// network is what one sender can choose its addresses from: an IPv6 network of 64 bits is one household.
func network(remote string) netip.Prefix {
	addr, err := netip.ParseAddr(remote)
	if err != nil {
		return netip.Prefix{}
	}
	addr = addr.Unmap().WithZone("")
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits)
	return p
}
