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
	Held      int64 // units that Redis has given to requests that are under way to the database
	Lost      int64 // units that it has given to requests that never ended
	Moving    bool  // orders were taken all the while: the two were not read at one moment
	Unusable  bool  // Redis's key holds something that is not ours
}

// Equal is true unless Redis says something else than it should.
func (f Figure) Equal() bool {
	return !f.Unusable && (!f.Known || f.Moving || f.Left == f.Want())
}

// Want is what Redis should say.
func (f Figure) Want() int64 { return max(0, f.Available-f.Held) }

const (
	compareTries = 40
	comparePause = 25 * time.Millisecond
)

// Compare reads both at a moment at which no order is under way, if there is one within a second; else at one at which some are.
func (f *Flash) Compare(ctx context.Context, sku string) (Figure, error) {
	var found Figure
	for try := range compareTries {
		now, err := f.compareOnce(ctx, sku)
		if err != nil {
			return Figure{}, err
		}
		if try == 0 || !now.Moving {
			found = now
		}
		if !now.Moving && now.Held == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return Figure{}, ctx.Err()
		case <-time.After(comparePause):
		}
	}
	return found, nil
}

func (f *Flash) compareOnce(ctx context.Context, sku string) (Figure, error) {
	before, err := f.gate.look(ctx, sku)
	if err != nil {
		return Figure{}, err
	}
	want, err := f.want(ctx, sku, before)
	if err != nil {
		return Figure{}, err
	}
	after, err := f.gate.look(ctx, sku)
	if err != nil {
		return Figure{}, err
	}
	return Figure{SKU: sku, Known: after.state == figureOurs, Left: after.left, Available: want.available, Held: want.held, Lost: after.lost,
		Moving:   before.version != after.version || before.state != after.state,
		Unusable: after.state == figureSpoilt}, nil
}

const (
	// settleAfter is longer than a running server takes to see what has changed in the database (alignEvery).
	settleAfter = 3 * time.Second
	// endAfter is when whoever is under way now has ended, or counts as lost.
	endAfter = forsakenAfter + time.Second

	compareRounds = 3
)

// CompareAll compares every SKU of the sale, and those that differ, or that requests hold units of, once more after a while: a running
// server sees by itself what orders of the usual way, and closed ones, have changed, and requests end. What is another difference each
// time is moving.
func (f *Flash) CompareAll(ctx context.Context) ([]Figure, error) {
	var list []Figure
	for _, sku := range f.SKUs() {
		one, err := f.Compare(ctx, sku)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	open := make([]bool, len(list)) // is to be looked at once more
	pause := time.Duration(0)
	for i, one := range list {
		if open[i] = !one.Equal() || one.Held > 0; open[i] {
			pause = max(pause, settleAfter)
		}
		if one.Held > 0 {
			pause = endAfter
		}
	}
	for round := 1; round < compareRounds && pause > 0; round++ {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		pause = 0
		for i, was := range list {
			if !open[i] {
				continue
			}
			now, err := f.Compare(ctx, was.SKU)
			if err != nil {
				return nil, err
			}
			if open[i] = !now.Equal() && (now.Left != was.Left || now.Available != was.Available); open[i] {
				pause, now.Moving = settleAfter, round == compareRounds-1
			}
			list[i] = now
		}
	}
	return list, nil
}

// Repair makes Redis's figure what the database says, where it is another one or none, and is false when orders were taken at each moment
// at which it tried: then there was nothing to repair, or it is to be tried again.
func (f *Flash) Repair(ctx context.Context, have Figure) (bool, error) {
	return f.settle(ctx, have.SKU)
}
