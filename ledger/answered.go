package ledger

import "context"

// Answered is the answer that is kept under a key; ok is false when there is none. It takes nothing. A key that may not be used for this
// request, or that somebody is using, is the same error as from CreateOrderOnce.
func (l *Ledger) Answered(ctx context.Context, k Key) (a Answer, ok bool, err error) {
	row, err := l.readToken(l.read.WithContext(ctx), k)
	if err != nil {
		return Answer{}, false, err
	}
	known, err := (&hold{Key: k}).judge(row, l.clock())
	if known == nil || err != nil {
		return Answer{}, false, err
	}
	return *known, true, nil
}
