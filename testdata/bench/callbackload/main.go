// Command callbackload drives an endpoint that accepts payment callbacks, and measures it.
//
//	go run ./testdata/bench/callbackload -url http://127.0.0.1:8080/callbacks/bench -secret s3cret -c 64 -d 20s
//
// It prints one JSON object: acknowledgements a second, latency percentiles, how many distinct transactions were acknowledged
// (with the server idle this must equal what it has stored), and the CPU taken by the processes it is told of.
//
// It speaks HTTP/1.1 over plain TCP, one reused connection a worker, and puts its requests together by hand, so that on a small
// machine it takes as little CPU as possible from the server under test.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

const defaultBody = `{"transaction_id":"{{txn}}","order_no":"{{orderno}}","amount":"12.34","currency":"CNY","status":"SUCCESS",` +
	`"paid_at":"2026-11-30T10:00:00+08:00","attach":"sku-1001","payer":"o-abcdefghijk"}`

// options are the flags; their help says what each is.
type options struct {
	url, body, secret, sigHeader, tsHeader, signed, sigPrefix string
	okCodes, dupCodes, prefix, cpu, ackFile                   string
	headers                                                   multi
	conns, pool                                               int
	duration, warmUp                                          time.Duration
	dup, rate                                                 float64
	orders, start, stride, requests                           int64
}

func parseFlags() *options {
	o := &options{}
	flag.StringVar(&o.url, "url", "http://127.0.0.1:8080/callbacks/bench", "endpoint")
	flag.StringVar(&o.body, "body", defaultBody, "body with {{txn}} {{order}} {{orderno}} {{ts}} {{conn}} filled in, or @file")
	flag.StringVar(&o.secret, "secret", "", "HMAC-SHA256 secret; empty: unsigned")
	flag.StringVar(&o.sigHeader, "sig-header", "X-Signature", "header for the hex signature")
	flag.StringVar(&o.sigPrefix, "sig-prefix", "", "text before the signature, such as sha256=")
	flag.StringVar(&o.tsHeader, "ts-header", "X-Timestamp", "header for the Unix time; empty: not sent")
	flag.StringVar(&o.signed, "signed", "ts.body", "what is signed: body or ts.body")
	flag.Var(&o.headers, "H", "extra header, Name: value; {{txn}} is replaced; repeatable")
	flag.IntVar(&o.conns, "c", 64, "connections")
	flag.DurationVar(&o.duration, "d", 20*time.Second, "measured time")
	flag.DurationVar(&o.warmUp, "warmup", 2*time.Second, "unmeasured time before")
	flag.Int64Var(&o.requests, "n", 0, "stop after this many measured requests; 0: by time only")
	flag.Float64Var(&o.dup, "dup", 0, "share of requests that resend an acknowledged transaction, 0..1")
	flag.IntVar(&o.pool, "pool", 0, "send this many distinct transactions first, unmeasured; duplicates come from them")
	flag.Float64Var(&o.rate, "rate", 0, "open loop: requests a second, Poisson arrivals, latency from when each was due; 0: closed loop")
	flag.Int64Var(&o.orders, "orders", 1_000_000, "orders loaded in the server under test")
	flag.Int64Var(&o.start, "start", 0, "first ordinal: the next_ordinal of the run before, so that each run meets unpaid orders")
	flag.Int64Var(&o.stride, "stride", 7919, "ordinal i goes to order i*stride mod orders + 1; keep coprime to orders")
	flag.StringVar(&o.prefix, "prefix", "", "beginning of the transaction ids; default from the clock")
	flag.StringVar(&o.okCodes, "ok", "200,201,202,204", "acknowledging status codes")
	flag.StringVar(&o.dupCodes, "dup-ok", "", "further codes that acknowledge a resent transaction, such as 409")
	flag.StringVar(&o.cpu, "cpu", "", "name=pid[+],...: processes whose CPU is reported, + with their children (Linux)")
	flag.StringVar(&o.ackFile, "acks", "", "write every acknowledged transaction id to this file, one a line")
	flag.Parse()
	return o
}

type multi []string

func (m *multi) String() string     { return strings.Join(*m, ",") }
func (m *multi) Set(s string) error { *m = append(*m, s); return nil }

func main() {
	if err := run(parseFlags()); err != nil {
		fmt.Fprintln(os.Stderr, "callbackload:", err)
		os.Exit(2)
	}
}

func run(o *options) error {
	l, err := newLoad(o)
	if err != nil {
		return err
	}
	if err := l.connect(); err != nil {
		return err
	}
	l.fillPool()
	result := l.measureAll()
	if o.ackFile != "" {
		if err := l.writeAcks(o.ackFile); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func newLoad(o *options) (*load, error) {
	if name, ok := strings.CutPrefix(o.body, "@"); ok {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		o.body = string(b)
	}
	pieces, err := parseTemplate(o.body)
	if err != nil {
		return nil, fmt.Errorf("-body: %w", err)
	}
	u, err := url.Parse(o.url)
	if err != nil || u.Scheme != "http" {
		return nil, errors.New("-url: an http:// address is needed")
	}
	if o.conns < 1 || o.orders < 1 || o.dup < 0 || o.dup > 1 || (o.signed != "body" && o.signed != "ts.body") {
		return nil, errors.New("-c and -orders want at least 1, -dup 0 to 1, -signed body or ts.body")
	}
	l := &load{options: o, pieces: pieces, host: u.Host, path: u.RequestURI(), prefix: o.prefix}
	if u.Port() == "" {
		l.host += ":80"
	}
	if l.ok, err = codes(o.okCodes); err != nil {
		return nil, fmt.Errorf("-ok: %w", err)
	}
	if l.dupOK, err = codes(o.dupCodes); err != nil {
		return nil, fmt.Errorf("-dup-ok: %w", err)
	}
	if l.prefix == "" {
		l.prefix = "T" + strconv.FormatInt(time.Now().UnixMilli(), 36)
	}
	l.next.Store(o.start)
	return l, nil
}

func codes(list string) (map[int]bool, error) {
	set := map[int]bool{}
	for _, text := range strings.Split(list, ",") {
		if text == "" {
			continue
		}
		code, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		set[code] = true
	}
	return set, nil
}

func (l *load) writeAcks(file string) error {
	var ids []string
	for _, w := range l.workers {
		ids = append(ids, w.acked...)
	}
	sort.Strings(ids)
	return os.WriteFile(file, []byte(strings.Join(ids, "\n")+"\n"), 0o600)
}
