package main

import "time"

// Kinds of planted difference; a row has at most one.
const (
	noDifference = iota
	missingLocal
	missingProvider
	otherAmount
	otherStatus
	otherCurrency
	listedTwice
	crossLate  // provider: on the day; book: in the first seconds of the next
	crossEarly // book: in the day's last seconds; provider: only in the next day's statement
	kinds
)

// kindNames are the product's words. The two that cross midnight are one: carried, never an open gap.
var kindNames = [kinds]string{"", "missing_local", "missing_provider", "amount_mismatch", "status_mismatch", "currency_mismatch",
	"duplicate_entry", "carried", "carried"}

const (
	dayLength = int64(24 * time.Hour)
	edge      = int64(10 * time.Second) // only carried rows are odd this near the day's bounds
	refundOf  = 33                      // the last row of every block of so many is a refund of one before it
)

// day knows every row by its index.
type day struct {
	n       uint64
	mixed   uint64        // the seed, mixed: neighbouring seeds share nothing
	dates   [2]string     // the day and the next
	zone    string        // offset as RFC 3339 writes it
	compact string        // YYYYMMDD, inside ids
	limits  [kinds]uint64 // cumulative, in millionths
}

// row is one movement, as the book (local) and the statement (remote) tell it.
type row struct {
	index         uint64
	kind          int
	refund        bool
	payment       [28]byte // id of the payment, of the refunded one too
	order         [20]byte
	refundID      [28]byte
	local, remote side
	delay         int64 // nanoseconds until the callback came: the book's physical order
}

type side struct {
	cents            int64
	currency, status string
	at               int64 // nanoseconds since the day began
}

// id is the movement's own.
func (r *row) id() []byte {
	if r.refund {
		return r.refundID[:]
	}
	return r.payment[:]
}

func (r *row) typ() string {
	if r.refund {
		return "refund"
	}
	return "payment"
}

// row fills r, which is reused: a million rows make no garbage.
func (d *day) row(i uint64, r *row) {
	h := mix(i*2 ^ d.mixed)
	h2 := mix(h)
	*r = row{index: i, kind: d.kind(i), refund: i%refundOf == refundOf-1, delay: delay(h2)}
	source := i
	if r.refund {
		source = d.refunded(i)
		d.refundID(i, h, &r.refundID)
	}
	d.paymentID(source, &r.payment)
	d.orderID(source, &r.order)
	full := d.amount(source)
	cents := full
	if r.refund && (h2&1 == 0 || r.kind == otherAmount) { // never refund more than was paid
		cents = full / 2
	}
	r.local = side{cents: cents, currency: "CNY", status: "succeeded", at: d.at(i)}
	r.remote = r.local
	d.plant(r, full, h2)
}

// plant makes the two sides differ as the row's kind says.
func (d *day) plant(r *row, full int64, h uint64) {
	lastSeconds := dayLength - 1 - int64(h>>20%uint64(5*time.Second))
	firstSeconds := dayLength + int64(h>>30%uint64(5*time.Second))
	switch {
	case r.kind == otherAmount && r.refund:
		r.remote.cents = full
	case r.kind == otherAmount:
		r.remote.cents += 1 + int64(h>>20%500)
	case r.kind == otherStatus && r.refund:
		r.local.status = "closed"
	case r.kind == otherStatus:
		r.local.status = "failed"
	case r.kind == otherCurrency:
		r.remote.currency = "USD"
	case r.kind == crossLate:
		r.remote.at, r.local.at, r.delay = lastSeconds, firstSeconds, 0
	case r.kind == crossEarly:
		r.remote.at, r.local.at, r.delay = firstSeconds, lastSeconds, 0
	}
}

// kind of the difference planted in row i. Rows near the day's bounds get none, so that what is expected never depends on how
// far over the bounds somebody looks.
func (d *day) kind(i uint64) int {
	p := mix(mix(mix(i*2^d.mixed))^0xdead) % 1_000_000
	for k := missingLocal; k < kinds; k++ {
		if p >= d.limits[k] {
			continue
		}
		if at := d.at(i); k < crossLate && (at < edge || at >= dayLength-edge) {
			return noDifference
		}
		return k
	}
	return noDifference
}

// at grows with the index: the statement's order is the order of time.
func (d *day) at(i uint64) int64 {
	step := float64(dayLength) / float64(d.n)
	return int64((float64(i) + float64(mix(i^d.mixed^0xa7)%1000)/1000) * step)
}

// refunded is the index of the payment that refund i returns: an untroubled one of the same block.
func (d *day) refunded(i uint64) uint64 {
	back := mix(i^d.mixed^0xbeef) % 31
	source := i
	for try := range uint64(31) {
		if source = i - 1 - (back+try)%31; d.kind(source) == noDifference {
			break
		}
	}
	return source
}

// amount is in cents, mostly small.
func (d *day) amount(i uint64) int64 {
	x := mix(i ^ d.mixed ^ 0xc0ffee)
	switch x % 10 {
	case 0:
		return int64(100_00 + x>>8%9_000_00)
	case 1, 2:
		return int64(50_00 + (x>>8)%400_00)
	default:
		return int64(2 + (x>>8)%99_98)
	}
}

// delay: 99 % of callbacks come within 3 s, 0.9 % within 30 minutes, 0.1 % within 3 hours.
func delay(h uint64) int64 {
	within := 3 * time.Second
	switch d := h >> 8 % 1000; {
	case d >= 999:
		within = 3 * time.Hour
	case d >= 990:
		within = 30 * time.Minute
	}
	return int64(mix(h) % uint64(within))
}

// paymentID has the shape of a WeChat Pay transaction id: prefix, middle, date, ten digits. These are an affine permutation of
// the index, so ids are unique and their order has nothing to do with time.
func (d *day) paymentID(i uint64, b *[28]byte) {
	copy(b[:4], "4200")
	putDigits(b[4:10], 2000+mix(i^d.mixed^0x51ed)%400)
	copy(b[10:18], d.compact)
	putDigits(b[18:], (i*7_654_321_987+d.mixed%1_000_000_007+1_234_567)%10_000_000_000)
}

func (d *day) refundID(i, h uint64, b *[28]byte) {
	copy(b[:4], "5030")
	putDigits(b[4:10], 100+h%400)
	copy(b[10:18], d.compact)
	putDigits(b[18:], (i*3_141_592_653+d.mixed%1_000_000_009+77)%10_000_000_000)
}

func (d *day) orderID(i uint64, b *[20]byte) {
	copy(b[:2], "SO")
	copy(b[2:10], d.compact)
	putDigits(b[10:], (i*5_772_156_649+d.mixed%1_000_000_021+99)%10_000_000_000)
}

func putDigits(b []byte, v uint64) {
	for k := len(b) - 1; k >= 0; k-- {
		b[k] = byte('0' + v%10)
		v /= 10
	}
}

// mix is the finaliser of splitmix64: any two inputs, however near, give unrelated outputs.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return x ^ (x >> 31)
}
