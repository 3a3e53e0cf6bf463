package providertest

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

// What reading a hostile input of a given size may cost: far more than any genuine one does, far less than would hurt.
const (
	allocatedMax = 32 << 20 // bytes, all told
	allocatedPer = 400      // bytes more for each byte of input
	workMax      = slower * time.Second
)

// Bounded runs f for a fuzz target, on an input of so many bytes, and fails when it allocates without bound or works for more than a
// second. The second is one of this process's own work, so that a busy machine does not fail it.
func Bounded(t testing.TB, size int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	worked := work()
	f()
	if took := work() - worked; took > workMax {
		t.Errorf("%d bytes of input cost %s of work, at most %s expected", size, took, workMax)
	}
	runtime.ReadMemStats(&after)
	if took, most := after.TotalAlloc-before.TotalAlloc, uint64(allocatedMax+allocatedPer*size); took > most {
		t.Errorf("%d bytes of input cost %d bytes of memory, at most %d expected", size, took, most)
	}
}

// work is the processor time this process has used.
func work() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Big is a statement of many rows that is made while it is read.
type Big struct {
	Head string             // what stands before the rows
	Row  func(i int) string // row i, from 0, with its line end
	Tail func(n int) string // what stands behind n rows
}

// flatMax is how much more memory a file ten times as long may need: noise of the collector, not rows.
const flatMax = 8 << 20

// flatBytes is how long the longer file is, unless the environment says otherwise: FLAT_BYTES=1e9.
const flatBytes = 16 << 20

// Flat reads two files, one ten times as long as the other, and fails when the longer one needs more memory.
func Flat(t *testing.T, p reconcile.Provider, name string, big Big) {
	t.Helper()
	bytes := float64(flatBytes)
	if text := os.Getenv("FLAT_BYTES"); text != "" {
		var err error
		if bytes, err = strconv.ParseFloat(text, 64); err != nil || bytes < flatBytes {
			t.Fatalf("FLAT_BYTES=%s: a number of bytes expected, %d at least", text, flatBytes)
		}
	}
	rows := int(bytes) / len(big.Row(0))
	peak(t, p, name, big, rows/100) // whatever is made once
	short := peak(t, p, name, big, rows/10)
	worked := work()
	long := peak(t, p, name, big, rows)
	t.Logf("%d rows, %.0f MB: %.1f MB held at most, %s of work", rows, bytes/1e6, float64(long)/1e6, (work() - worked).Round(time.Millisecond))
	if long > short+flatMax {
		t.Errorf("%d rows need %d bytes of memory, ten times as many %d", rows/10, short, long)
	}
}

// peak is the most memory that was in use while a file was read.
func peak(t *testing.T, p reconcile.Provider, name string, big Big, rows int) (most uint64) {
	t.Helper()
	runtime.GC()
	n := 0
	_, err := p.ReadStatement(name, big.reader(rows), time.UTC, func(models.Entry) error {
		if n++; n%(rows/16+1) == 0 {
			runtime.GC() // what is left then is what is held
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
		return nil
	})
	if err != nil || n < rows {
		t.Fatalf("%s of %d rows: %d entries, %v", name, rows, n, err)
	}
	return most
}

func (b Big) reader(rows int) io.Reader {
	return &rowReader{big: b, rows: rows, text: strings.NewReader(b.Head)}
}

type rowReader struct {
	big      Big
	at, rows int
	text     *strings.Reader
}

func (r *rowReader) Read(p []byte) (int, error) {
	for r.text.Len() == 0 {
		switch {
		case r.at < r.rows:
			r.text.Reset(r.big.Row(r.at))
		case r.at == r.rows:
			r.text.Reset(r.big.Tail(r.rows))
		default:
			return 0, io.EOF
		}
		r.at++
	}
	return r.text.Read(p)
}
