// Command recongen writes one made-up business day of a payment provider: the shop's orders, what the shop's book holds, the
// provider's statement in two formats, and the exact list of gaps that a correct reconciliation must find.
//
//	go run ./testdata/bench/recongen -n 1000000 -out /var/tmp/day
//
// The same flags give the same bytes; another -seed is another day. Every row is a pure function of seed and index, so memory
// stays flat whatever -n is. The WeChat Pay layout is an imitation written from knowledge of the format, not a provider's file.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

type options struct {
	n, seed           uint64
	out, date, zone   string
	merchantID, appID string
	wechat            bool
	shares            [kinds]float64 // of all rows, by kind of difference
}

func parseFlags() *options {
	o := &options{}
	flag.Uint64Var(&o.n, "n", 100_000, "transactions")
	flag.StringVar(&o.out, "out", "bench-out/day", "folder to write to")
	flag.StringVar(&o.date, "date", "2026-11-29", "business day")
	flag.Uint64Var(&o.seed, "seed", 1, "seed")
	flag.StringVar(&o.zone, "zone", "+08:00", "the account's offset, of the business day and of all times")
	flag.StringVar(&o.merchantID, "mchid", "1999999901", "merchant id in the WeChat Pay bill")
	flag.StringVar(&o.appID, "appid", "wx0000000000000001", "app id in the WeChat Pay bill")
	flag.BoolVar(&o.wechat, "wechat", true, "write the WeChat Pay bill too")
	flag.Float64Var(&o.shares[missingLocal], "missing-local", 0.001, "share of rows absent from the book")
	flag.Float64Var(&o.shares[missingProvider], "missing-provider", 0.001, "share of rows absent from the statement")
	flag.Float64Var(&o.shares[otherAmount], "amount", 0.0005, "share of rows with another amount")
	flag.Float64Var(&o.shares[otherStatus], "status", 0.0005, "share of rows with another status")
	flag.Float64Var(&o.shares[otherCurrency], "currency", 0.00005, "share of rows with another currency")
	flag.Float64Var(&o.shares[listedTwice], "duplicate", 0.0001, "share of rows listed twice in the statement")
	flag.Float64Var(&o.shares[crossLate], "cross-late", 0.00005, "share booked in the book just after midnight")
	flag.Float64Var(&o.shares[crossEarly], "cross-early", 0.00005, "share that the provider lists on the next day only")
	flag.Parse()
	return o
}

func main() {
	if err := run(parseFlags()); err != nil {
		fmt.Fprintln(os.Stderr, "recongen:", err)
		os.Exit(2)
	}
}

func run(o *options) error {
	d, err := newDay(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	w, err := openFiles(o)
	if err != nil {
		return err
	}
	w.writeDay(d)
	if err := w.close(); err != nil {
		return err
	}
	counts, err := json.MarshalIndent(map[string]any{
		"n": o.n, "seed": o.seed, "date": o.date, "zone": o.zone, "orders": w.orderRows,
		"transaction_rows": w.transactionRows, "statement_rows": w.statementRows, "gaps": w.gaps,
	}, "", "  ")
	if err != nil {
		return err
	}
	fmt.Println(string(counts))
	return os.WriteFile(filepath.Join(o.out, "expected.json"), append(counts, '\n'), 0o644)
}

func newDay(o *options) (*day, error) {
	date, err := time.Parse(time.DateOnly, o.date)
	if err != nil {
		return nil, errors.New("-date: want YYYY-MM-DD, such as 2026-11-29")
	}
	if _, err := time.Parse("Z07:00", o.zone); err != nil {
		return nil, errors.New("-zone: want an offset such as +08:00, or Z")
	}
	if o.n == 0 {
		return nil, errors.New("-n: want at least 1")
	}
	d := &day{n: o.n, mixed: mix(o.seed), zone: o.zone, compact: date.Format("20060102"),
		dates: [2]string{o.date, date.AddDate(0, 0, 1).Format(time.DateOnly)}}
	sum := 0.0
	for k := missingLocal; k < kinds; k++ {
		sum += o.shares[k]
		d.limits[k] = uint64(sum*1e6 + 0.5)
	}
	return d, nil
}
