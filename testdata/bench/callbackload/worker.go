package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"
)

// worker is one connection and what was measured on it.
type worker struct {
	*load
	id       int
	conn     net.Conn
	in       *bufio.Reader
	request  []byte // reused
	content  []byte // reused
	rng      *rand.Rand
	acked    []string // distinct transactions acknowledged, measured or not
	all      histogram
	fresh    histogram
	resent   histogram
	service  histogram // from sending, also when latency counts from when the request was due
	codes    map[int]uint64
	refused  uint64
	failures uint64 // no answer at all
	lastErr  string
}

func (w *worker) dial() error {
	if w.conn != nil {
		_ = w.conn.Close()
	}
	conn, err := net.DialTimeout("tcp", w.host, 5*time.Second)
	if err != nil {
		return err
	}
	w.conn, w.in = conn, bufio.NewReaderSize(conn, 8192)
	return nil
}

// send does one request. due is when it should have begun; zero: now.
func (w *worker) send(due time.Time) {
	txn, again := w.pick()
	w.build(txn)
	sent := time.Now()
	if due.IsZero() {
		due = sent
	}
	code, err := w.roundTrip()
	done := time.Now()
	if err != nil {
		w.failures++
		w.lastErr = err.Error()
		if w.dial() != nil {
			time.Sleep(10 * time.Millisecond)
		}
		return
	}
	good := w.ok[code] || (again && w.dupOK[code])
	if good && !again {
		w.acked = append(w.acked, txn)
	}
	if w.measuring.Load() {
		w.count(code, good, again, done.Sub(due), done.Sub(sent))
	}
}

// pick chooses the transaction: a fresh one, or with probability -dup one that was acknowledged lately.
func (w *worker) pick() (txn string, again bool) {
	if w.dup > 0 && w.rng.Float64() < w.dup {
		if n := len(w.pooled); n > 0 {
			return w.pooled[w.rng.IntN(n)], true
		}
		if n := len(w.acked); n > 0 {
			oldest := max(0, n-4096)
			return w.acked[oldest+w.rng.IntN(n-oldest)], true
		}
	}
	return w.prefix + "-" + strconv.FormatInt(w.next.Add(1)-1, 10), false
}

// order is the order a transaction pays: always the same for the same transaction.
func (w *worker) order(txn string) int64 {
	ordinal, _ := strconv.ParseInt(txn[strings.LastIndexByte(txn, '-')+1:], 10, 64) // put there by pick
	return ordinal*w.stride%w.orders + 1
}

func (w *worker) count(code int, good, again bool, latency, service time.Duration) {
	if w.requests > 0 && w.counted.Add(1) >= w.requests {
		w.stopped.Store(true)
	}
	w.codes[code]++
	if !good {
		w.refused++
		return
	}
	w.all.add(uint64(latency))
	w.service.add(uint64(service))
	if again {
		w.resent.add(uint64(latency))
	} else {
		w.fresh.add(uint64(latency))
	}
}

func (w *worker) build(txn string) {
	now := time.Now().Unix()
	w.content = fill(w.content[:0], w.pieces, values{txn: txn, order: w.order(txn), unix: now, conn: w.id})
	q := append(w.request[:0], "POST "...)
	q = append(q, w.path...)
	q = append(q, " HTTP/1.1\r\nHost: "...)
	q = append(q, w.host...)
	q = append(q, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	q = strconv.AppendInt(q, int64(len(w.content)), 10)
	if w.secret != "" {
		q = w.sign(q, now)
	}
	for _, header := range w.headers {
		q = append(q, "\r\n"...)
		q = append(q, strings.ReplaceAll(header, "{{txn}}", txn)...)
	}
	q = append(q, "\r\n\r\n"...)
	w.request = append(q, w.content...)
}

func (w *worker) sign(q []byte, now int64) []byte {
	if w.tsHeader != "" {
		q = append(append(append(q, "\r\n"...), w.tsHeader...), ": "...)
		q = strconv.AppendInt(q, now, 10)
	}
	mac := hmac.New(sha256.New, []byte(w.secret))
	if w.signed == "ts.body" {
		mac.Write(append(strconv.AppendInt(nil, now, 10), '.'))
	}
	mac.Write(w.content)
	q = append(append(append(q, "\r\n"...), w.sigHeader...), ": "...)
	q = append(q, w.sigPrefix...)
	return hex.AppendEncode(q, mac.Sum(nil))
}
