package redisgate

import (
	"context"
	"time"
)

// Figure is what Redis says of an SKU beside what the database says is available.
type Figure struct {
	SKU       string
	Known     bool // Redis has a figure; without one it loads it from the database when it is asked for
	Left      int64
	Available int64
	Moving    bool // orders were taken all the while: the two were not read at one moment
	Unusable  bool // Redis's key holds something that is not ours
	version   string
}

// Equal is true unless Redis says something else than the database.
func (f Figure) Equal() bool { return !f.Unusable && (!f.Known || f.Moving || f.Left == f.Available) }

const (
	compareTries = 40
	comparePause = 25 * time.Millisecond
)

// Compare reads both at a moment at which no order is under way, if there is one within a second.
func (f *Flash) Compare(ctx context.Context, sku string) (Figure, error) {
	var found Figure
	for range compareTries {
		before, err := f.gate.look(ctx, sku, false)
		if isWrongType(err) {
			n, err := f.available(ctx, sku)
			return Figure{SKU: sku, Available: n, Unusable: true}, err
		}
		if err != nil {
			return Figure{}, err
		}
		n, err := f.available(ctx, sku)
		if err != nil {
			return Figure{}, err
		}
		after, err := f.gate.look(ctx, sku, false)
		if err != nil {
			return Figure{}, err
		}
		found = Figure{SKU: sku, Known: after.known, Left: after.left, Available: n, version: after.version}
		if before.version == after.version && before.flying == 0 && after.flying == 0 {
			return found, nil
		}
		select {
		case <-ctx.Done():
			return Figure{}, ctx.Err()
		case <-time.After(comparePause):
		}
	}
	found.Moving = true
	return found, nil
}

// settleAfter is longer than a running server takes to see what has changed in the database (alignEvery).
const settleAfter = 3 * time.Second

// CompareAll compares every SKU of the sale, and those that differ once more after a while: a running server sees by itself what orders
// of the usual way, and closed ones, have changed.
func (f *Flash) CompareAll(ctx context.Context) ([]Figure, error) {
	var list []Figure
	again := false
	for _, sku := range f.SKUs() {
		one, err := f.Compare(ctx, sku)
		if err != nil {
			return nil, err
		}
		again = again || !one.Equal()
		list = append(list, one)
	}
	if !again {
		return list, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(settleAfter):
	}
	for i, was := range list {
		if was.Equal() {
			continue
		}
		now, err := f.Compare(ctx, was.SKU)
		if err != nil {
			return nil, err
		}
		if !now.Equal() && (now.Left != was.Left || now.Available != was.Available) {
			now.Moving = true
		}
		list[i] = now
	}
	return list, nil
}

// Repair makes Redis's figure what the database says, where it is another one or none, and is false when an order was taken at that
// very moment: then there was nothing to repair, or it is to be tried again.
func (f *Flash) Repair(ctx context.Context, have Figure) (bool, error) {
	n, err := f.available(ctx, have.SKU)
	if err != nil {
		return false, err
	}
	return f.gate.put(ctx, have.SKU, have.version, n)
}
