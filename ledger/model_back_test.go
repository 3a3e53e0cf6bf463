package ledger_test

import (
	"time"

	"paybook/models"
)

// The half of the model that is about money going back: refunds, their failures, disputes.

func (b *ideal) tellRefund(account string, ev models.Event) models.Outcome {
	own := ev.TransactionID
	if own == "" {
		own = "shop:" + ev.RefundOrderID
	}
	b.named(account, models.Payment, ev.ParentID, append([]string{ev.ParentID}, ev.ParentAliases...)...)
	names := []string{"shop:" + ev.RefundOrderID}
	if ev.TransactionID != "" {
		names = append(names, ev.TransactionID)
	}
	k := b.named(account, models.Refund, own, names...)
	r := b.rows[k]
	if r == nil {
		r = b.fresh(k, ev)
		r.ParentID, r.RefundOrderID = ev.ParentID, ev.RefundOrderID
		return b.fitRefund(r)
	}
	return b.refundAgain(r, ev)
}

func (b *ideal) refundAgain(r *idealRow, ev models.Event) models.Outcome {
	failed, late := ev.Kind == models.RefundFailed, ev.OccurredAt.Before(r.OccurredAt)
	if failed && r.Event == models.RefundFailed && !late {
		r.OccurredAt = ev.OccurredAt // of several failures the last holds
	}
	switch {
	case r.contradicts(ev):
		return r.conflict()
	case failed && r.succeeded() && !late: // it succeeded, and came back
		return b.comeBack(r, ev.Kind, ev.OccurredAt)
	case r.Event == models.RefundFailed && ev.Kind == models.RefundSucceeded && late: // both happened, in that order
		failure := r.OccurredAt
		r.take(ev)
		outcome := b.fitRefund(r)
		b.comeBack(r, models.RefundFailed, failure)
		return outcome
	case ev.Kind == models.RefundPending && r.succeeded() && r.Money() != ev.Money && r.remark == "":
		r.remark = models.OutcomeAmountMismatch // asked for another sum than went out
		r.shows(r.Outcome)
		return models.OutcomeAmountMismatch
	case stage(says[ev.Kind]) > stage(r.Status):
		if r.Event == models.RefundPending && ev.Kind == models.RefundSucceeded && r.Money() != ev.Money {
			r.remark = models.OutcomeAmountMismatch
		}
		r.take(ev)
		return b.fitRefund(r)
	case failed && r.succeeded() && !r.waits():
		return models.OutcomeNotAllowed
	}
	return models.OutcomeDuplicate
}

func (b *ideal) fitRefund(r *idealRow) models.Outcome {
	p, o := b.family(r)
	if o == nil {
		return r.shows(models.OutcomeNoOrder)
	}
	r.shows(models.OutcomeApplied)
	switch sum := b.refunded(p); {
	case !r.succeeded():
	case r.Currency != p.Currency:
		r.shows(models.OutcomeCurrencyMismatch)
	case sum > p.AmountMinor:
		r.shows(models.OutcomeNotAllowed)
	case o.settledBy == p:
		b.recount(o, r)
	}
	return r.Outcome
}

// refunded is what has gone back of a payment and stayed away.
func (b *ideal) refunded(p *idealRow) (sum int64) {
	for _, r := range b.rows {
		if r.Account != p.Account || r.ParentID != p.TransactionID || r.Currency != p.Currency || !r.counts() {
			continue
		}
		switch r.Kind {
		case models.Refund:
			sum += r.AmountMinor
		case models.RefundReversal:
			sum -= r.AmountMinor
		}
	}
	return sum
}

func (b *ideal) recount(o *idealOrder, by *idealRow) {
	sum := b.refunded(o.settledBy)
	if sum == o.RefundedMinor {
		return
	}
	o.RefundedMinor = sum
	to := o.stand()
	if disputed(o) {
		to = o.Status
	}
	b.step(o, to, by.Event, by, true)
}

// comeBack books what undoes a refund or a chargeback as a row of its own, once.
func (b *ideal) comeBack(r *idealRow, on models.EventKind, at time.Time) models.Outcome {
	if r.back != nil {
		return models.OutcomeDuplicate
	}
	back := &idealRow{Transaction: r.Transaction, of: r}
	back.Kind, back.Event, back.OccurredAt, back.Outcome = models.RefundReversal, on, at, ""
	if r.Kind == models.Chargeback {
		back.Kind = models.ChargebackReversal
	}
	r.back = back
	b.rows[rowKey{back.Account, back.Kind, back.TransactionID}] = back
	return b.fitReversal(back)
}

func (b *ideal) fitReversal(back *idealRow) models.Outcome {
	if back.of.waits() {
		return back.shows(models.OutcomeNoOrder)
	}
	back.ParentID, back.OrderID = back.of.ParentID, back.of.OrderID
	back.shows(models.OutcomeApplied)
	if back.Kind == models.ChargebackReversal {
		return back.Outcome // the dispute's own row moves the order
	}
	if back.of.Outcome == models.OutcomeNotAllowed { // one too many that came back is none too many
		back.of.shows(models.OutcomeApplied)
	}
	p := b.parentOf(back)
	if o := b.orders[p.OrderID]; o.settledBy == p {
		b.recount(o, back)
	}
	b.roomAgain(p)
	return back.Outcome
}

// roomAgain lets refunds that were one too many in, when others have come back.
func (b *ideal) roomAgain(p *idealRow) {
	var list []*idealRow
	for _, r := range b.rows {
		if r.Kind == models.Refund && r.Outcome == models.OutcomeNotAllowed && r.Account == p.Account && r.ParentID == p.TransactionID {
			list = append(list, r)
		}
	}
	byTime(list)
	for _, r := range list {
		b.fitRefund(r)
	}
}

// A dispute is opened, lost and won, each at one time of its own; won after it was lost brings the money back, lost after it was won
// takes it a second time.
func (b *ideal) tellDispute(account string, ev models.Event) models.Outcome {
	b.named(account, models.Payment, ev.ParentID, append([]string{ev.ParentID}, ev.ParentAliases...)...)
	k := rowKey{account, models.Chargeback, ev.TransactionID}
	r := b.rows[k]
	if r == nil {
		r = b.fresh(k, ev)
		r.ParentID = ev.ParentID
		if ev.Kind == models.DisputeLost {
			r.LostAt = ev.OccurredAt
		}
		outcome := b.fitDispute(r)
		if ev.Kind == models.DisputeWon {
			b.comeBack(r, ev.Kind, ev.OccurredAt)
		}
		return outcome
	}
	if r.contradicts(ev) {
		return r.conflict()
	}
	if ev.OccurredAt.Before(r.OccurredAt) {
		r.OccurredAt = ev.OccurredAt // the money went with the first of what is told of it
	}
	switch ev.Kind {
	case models.DisputeWon:
		return b.won(r, ev)
	case models.DisputeLost:
		return b.lost(r, ev)
	}
	return models.OutcomeDuplicate
}

func (b *ideal) won(r *idealRow, ev models.Event) models.Outcome {
	if r.back != nil {
		return models.OutcomeDuplicate
	}
	if ev.OccurredAt.Before(r.LostAt) { // the loss we know of was the second taking
		b.secondTaking(r, r.LostAt).shows(r.Outcome)
	}
	r.Event = ev.Kind
	outcome := b.fitDispute(r)
	b.comeBack(r, ev.Kind, ev.OccurredAt)
	return outcome
}

func (b *ideal) lost(r *idealRow, ev models.Event) models.Outcome {
	switch {
	case !r.LostAt.IsZero():
		return models.OutcomeDuplicate
	case r.back == nil:
		r.LostAt, r.Event = ev.OccurredAt, ev.Kind
		return b.fitDispute(r)
	case ev.OccurredAt.Before(r.back.OccurredAt):
		r.LostAt = ev.OccurredAt
		return models.OutcomeNoted // it was won after that
	}
	r.LostAt = ev.OccurredAt
	return b.fitDispute(b.secondTaking(r, ev.OccurredAt))
}

func (b *ideal) secondTaking(r *idealRow, at time.Time) *idealRow {
	again := &idealRow{Transaction: r.Transaction, remark: r.remark}
	again.TransactionID, again.Event, again.OccurredAt = r.TransactionID+models.SecondRound, models.DisputeLost, at
	r.again = again
	b.rows[rowKey{again.Account, again.Kind, again.TransactionID}] = again
	return again
}

func (b *ideal) fitDispute(r *idealRow) models.Outcome {
	p, o := b.family(r)
	if o == nil {
		return r.shows(models.OutcomeNoOrder)
	}
	r.shows(models.OutcomeApplied)
	switch {
	case r.Currency != p.Currency:
		r.shows(models.OutcomeCurrencyMismatch)
	case o.settledBy != p:
	default:
		b.moveDisputed(o, r)
	}
	for _, follower := range []*idealRow{r.back, r.again} {
		if follower != nil && follower.waits() {
			b.fit(follower)
		}
	}
	return r.Outcome
}

func (b *ideal) moveDisputed(o *idealOrder, r *idealRow) {
	lost, opened := b.others(r)
	to := models.Disputed
	switch {
	case r.Event == models.DisputeWon && !disputed(o):
		return // won before we heard of it
	case r.Event == models.DisputeLost, r.Event == models.DisputeWon && lost, r.Event == models.DisputeOpened && o.Status == models.ChargedBack:
		to = models.ChargedBack
	case r.Event == models.DisputeWon && !opened:
		to = o.stand()
	}
	b.step(o, to, r.Event, r, true)
}

// others says how the payment's other disputes stand.
func (b *ideal) others(but *idealRow) (lost, opened bool) {
	for _, r := range b.rows {
		if r != but && r.Kind == models.Chargeback && r.Account == but.Account && r.ParentID == but.ParentID && r.counts() && r.back == nil {
			lost = lost || r.Event == models.DisputeLost
			opened = opened || r.Event == models.DisputeOpened
		}
	}
	return lost, opened
}
