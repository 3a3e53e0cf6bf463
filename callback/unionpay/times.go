package unionpay

import (
	"fmt"
	"strconv"
	"time"

	"paybook/callback/parse"
)

// UnionPay writes times as digits, those of the trace (MMDDhhmmss) and of the settlement day (MMDD) without the year.
const (
	momentLayout = "20060102150405"
	dayLayout    = "0102"
)

// beijing has had no summer time since UnionPay exists.
var beijing = time.FixedZone("UTC+8", 8*60*60)

// occurredAt is when UnionPay handled the payment. txnTime, when the merchant sent the order, stands in where there is no
// traceTime, or where the settlement day fits only it: the day is what the statement goes by.
func occurredAt(f form) (time.Time, error) {
	sent, err := moment(f["txnTime"], beijing)
	if err != nil {
		return time.Time{}, fmt.Errorf("txnTime: %w", err)
	}
	traced, ok := tracedAt(f)
	if !ok || settledOn(sent) == f["settleDate"] && settledOn(traced) != f["settleDate"] {
		return sent, nil
	}
	return traced, nil
}

// moment reads YYYYMMDDhhmmss and nothing longer: the standard library would take a fraction of a second behind it.
func moment(text string, zone *time.Location) (time.Time, error) {
	if len(text) > len(momentLayout) {
		return time.Time{}, fmt.Errorf("%q is no time, expected YYYYMMDDHHMMSS", clip(text))
	}
	return parse.LocalTime(text, zone, momentLayout)
}

// settledOn is the settlement day that a time falls into, MMDD.
func settledOn(at time.Time) string { return at.In(beijing).Add(-dayCut).Format(dayLayout) }

// tracedAt is traceTime with its year, which is the one that brings it next to txnTime.
func tracedAt(f form) (time.Time, bool) {
	sent, err := moment(f["txnTime"], beijing)
	if err != nil {
		return time.Time{}, false
	}
	return nearest(f["traceTime"], sent, beijing)
}

// nearest gives MMDDhhmmss the year that brings it closest to a time.
func nearest(text string, to time.Time, zone *time.Location) (at time.Time, ok bool) {
	for year := to.In(zone).Year() - 1; year <= to.In(zone).Year()+1; year++ {
		t, err := moment(strconv.Itoa(year)+text, zone)
		if err == nil && (!ok || t.Sub(to).Abs() < at.Sub(to).Abs()) {
			at, ok = t, true
		}
	}
	return at, ok
}

// traceName is a payment's name towards the bank, by which somebody who has no queryId of it may look for it.
func traceName(at time.Time, traceNo string) string {
	return "trace:" + traceNo + ":" + at.In(beijing).Format(momentLayout)
}
