package main

import (
	"bufio"
	"container/heap"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// columns of the book, as `app import transactions` wants them, and of the statement, in the generic provider's own layout.
const columns = "transaction_id,order_id,%s,amount,currency,status,occurred_at,parent_id,refund_order_id\n"

// files are what is written, and how much of it.
type files struct {
	*options
	orders, transactions, statement, expected *file
	bill                                      *file // the WeChat Pay layout; nil when not wanted
	billTotals                                billTotals
	orderRows, transactionRows, statementRows int64
	gaps                                      map[string]int64
	buf                                       []byte
	waiting                                   arrivals
}

// file remembers its first error: bufio.Writer keeps it until Flush.
type file struct {
	*bufio.Writer
	f *os.File
}

func openFiles(o *options) (*files, error) {
	w := &files{options: o, gaps: map[string]int64{}}
	for _, each := range []struct {
		to     **file
		name   string
		header string
	}{
		{&w.orders, "orders.csv", "order_id,amount,currency\n"},
		{&w.transactions, "transactions.csv", fmt.Sprintf(columns, "kind")},
		{&w.statement, "statement.csv", fmt.Sprintf(columns, "type")},
		{&w.expected, "expected-gaps.csv", "transaction_id,type,kind\n"},
		{&w.bill, "statement-wechat.csv", billHeader},
	} {
		if each.to == &w.bill && !o.wechat {
			continue
		}
		f, err := os.Create(filepath.Join(o.out, each.name))
		if err != nil {
			return nil, err
		}
		*each.to = &file{bufio.NewWriterSize(f, 1<<20), f}
		_, _ = (*each.to).WriteString(each.header)
	}
	return w, nil
}

func (w *files) close() (err error) {
	for _, f := range []*file{w.orders, w.transactions, w.statement, w.expected, w.bill} {
		if f != nil {
			err = errors.Join(err, f.Flush(), f.f.Close())
		}
	}
	return err
}

// writeDay writes all rows. The book's rows are in the order in which the callbacks came, so a refund may stand before its
// payment; the statement is in the order of time, but for the day's last seconds.
func (w *files) writeDay(d *day) {
	var r row
	var late, across []uint64
	for i := range d.n {
		d.row(i, &r)
		w.expect(&r)
		if !r.refund {
			w.order(&r)
		}
		switch r.kind {
		case crossLate:
			late, across = append(late, i), append(across, i)
			continue
		case crossEarly:
			across = append(across, i)
			continue
		}
		w.both(d, &r)
	}
	for _, i := range late {
		d.row(i, &r)
		w.entry(d, &r)
	}
	w.arrived(d, 1<<62)
	for _, i := range across {
		w.booked(d, i)
	}
	if w.bill != nil {
		_, _ = w.bill.Write(w.billTotals.footer())
	}
}

// both writes a row's statement line and lets its callback be on its way.
func (w *files) both(d *day, r *row) {
	if r.kind != missingProvider {
		w.entry(d, r)
	}
	if r.kind == listedTwice {
		w.entry(d, r)
	}
	if r.kind != missingLocal {
		heap.Push(&w.waiting, arrival{r.local.at + r.delay, r.index})
		w.arrived(d, r.local.at)
	}
}

func (w *files) expect(r *row) {
	if r.kind != noDifference {
		w.gaps[kindNames[r.kind]]++
		fmt.Fprintf(w.expected, "%s,%s,%s\n", r.id(), r.typ(), kindNames[r.kind])
	}
}

func (w *files) order(r *row) {
	b := append(append(w.buf[:0], r.order[:]...), ',')
	w.buf = append(money(b, r.local.cents), ",CNY\n"...)
	_, _ = w.orders.Write(w.buf)
	w.orderRows++
}

func (w *files) entry(d *day, r *row) {
	w.buf = d.csv(w.buf[:0], r, r.remote)
	_, _ = w.statement.Write(w.buf)
	if w.bill != nil {
		w.buf = w.billTotals.line(w.buf[:0], d, r, w.options)
		_, _ = w.bill.Write(w.buf)
	}
	w.statementRows++
}

func (w *files) booked(d *day, i uint64) {
	var r row
	d.row(i, &r)
	w.buf = d.csv(w.buf[:0], &r, r.local)
	_, _ = w.transactions.Write(w.buf)
	w.transactionRows++
}

// arrived books the callbacks that have come by now.
func (w *files) arrived(d *day, now int64) {
	for len(w.waiting) > 0 && w.waiting[0].at <= now {
		w.booked(d, heap.Pop(&w.waiting).(arrival).index)
	}
}

// csv appends a row of the book or of the statement.
func (d *day) csv(b []byte, r *row, s side) []byte {
	b = append(append(b, r.id()...), ',')
	b = append(append(b, r.order[:]...), ',')
	b = append(append(b, r.typ()...), ',')
	b = append(money(b, s.cents), ',')
	b = append(append(b, s.currency...), ',')
	b = append(append(b, s.status...), ',')
	b = append(append(d.stamp(b, s.at, 'T'), d.zone...), ',')
	if r.refund {
		b = append(append(b, r.payment[:]...), ",R"...)
		b = append(b, r.order[:]...)
	} else {
		b = append(b, ',')
	}
	return append(b, '\n')
}

func money(b []byte, cents int64) []byte {
	b = strconv.AppendInt(b, cents/100, 10)
	return append(b, '.', byte('0'+cents/10%10), byte('0'+cents%10))
}

// stamp is a local time without its offset.
func (d *day) stamp(b []byte, at int64, separator byte) []byte {
	date := d.dates[0]
	if at >= dayLength {
		date, at = d.dates[1], at-dayLength
	}
	b = append(append(b, date...), separator)
	seconds := at / int64(time.Second)
	for i, v := range [3]int64{seconds / 3600, seconds / 60 % 60, seconds % 60} {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, byte('0'+v/10), byte('0'+v%10))
	}
	return b
}

// arrival is a callback on its way; arrivals is a heap, the next to come first.
type arrival struct {
	at    int64
	index uint64
}

type arrivals []arrival

func (a arrivals) Len() int { return len(a) }
func (a arrivals) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].index < a[j].index
}
func (a arrivals) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *arrivals) Push(x any)   { *a = append(*a, x.(arrival)) }
func (a *arrivals) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}
