package callback

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// Chore is the inquiries as work of the queue: one of the replicas asks at a time.
func (q *Inquirer) Chore() ledger.Chore {
	return ledger.Chore{Name: "inquiries", Every: 30 * time.Second, Limit: 10 * time.Minute, Do: q.Round}
}

// Round asks about all that is due. What fails is asked again after 1, 2, 4 … minutes, an hour at most, and given up in the end.
func (q *Inquirer) Round(ctx context.Context) error {
	q.prepare()
	due, err := q.Book.DueInquiries(ctx, inquiriesAtOnce)
	if err != nil {
		return err
	}
	var failed []error
	for _, i := range due {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := q.pursue(ctx, i); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", i.Subject, err))
		}
	}
	return errors.Join(failed...)
}

// pursue asks about one subject, unless it has settled by itself.
func (q *Inquirer) pursue(ctx context.Context, i ledger.Inquiry) error {
	questions, err := q.questions(ctx, i)
	if err != nil {
		return err
	}
	if questions == nil {
		return q.Book.EndInquiry(ctx, i)
	}
	now := q.Now().UTC()
	if now.Sub(i.Since) > q.GiveUp {
		i.NextAt, i.Result = nil, "given up after "+q.GiveUp.String()+": "+i.Result
		return q.Book.PutInquiry(ctx, i)
	}
	var results []string
	settled, tries := false, i.Tries
	for _, account := range slices.Sorted(maps.Keys(questions)) {
		for _, question := range questions[account] {
			h := q.Ask(ctx, account, question)
			if ctx.Err() != nil {
				return ctx.Err() // nobody's fault: the next round asks
			}
			if !errors.Is(h.Err, errLeftAlone) {
				tries = i.Tries + 1
			}
			settled = settled || len(h.Events) > 0 && h.Err == nil && strings.HasPrefix(i.Subject, ledger.AboutCallback)
			results = append(results, account+": "+h.Words())
		}
	}
	if !settled {
		questions, err = q.questions(ctx, i)
		settled = questions == nil
	}
	if err != nil || settled {
		return errors.Join(err, q.Book.EndInquiry(ctx, i))
	}
	next := now.Add(pauseAfter(i.Tries))
	i.Tries, i.LastAt, i.NextAt, i.Result = tries, &now, &next, strings.Join(results, "; ")
	return q.Book.PutInquiry(ctx, i)
}

// pauseAfter is 1 minute, 2, 4 … an hour.
func pauseAfter(tries int64) time.Duration {
	if tries >= 6 {
		return inquiryLongest
	}
	return inquiryFirstPause << tries
}

// questions are what is to be asked of whom, by account; nil when nothing is open any more.
func (q *Inquirer) questions(ctx context.Context, i ledger.Inquiry) (map[string][]models.Query, error) {
	id, isOrder := strings.CutPrefix(i.Subject, ledger.AboutOrder)
	if isOrder {
		return q.OrderQuestions(ctx, id, i.Query.OrderedAt)
	}
	one := map[string][]models.Query{i.Account: {i.Query}}
	payment, isPayment := strings.CutPrefix(i.Subject, ledger.AboutPayment)
	if !isPayment {
		return one, nil
	}
	name := ledger.Name{Account: i.Account, Kind: models.Payment, ID: payment}
	found, err := q.Book.FindTransactions(ctx, map[ledger.Name]bool{name: true})
	if t, known := found[name]; err != nil || !known || t.Status != models.StatusPending {
		return nil, err
	}
	return one, nil
}

// OrderQuestions are what is to be asked about an order that waits for its money: of the accounts where a payment of it has begun, else of
// all that keep their orders here; nil for an order that waits for none. orderedAt is when its buyer was sent to pay, zero: when it was made.
func (q *Inquirer) OrderQuestions(ctx context.Context, id string, orderedAt time.Time) (map[string][]models.Query, error) {
	q.prepare()
	h, err := q.Book.OrderHistory(ctx, id)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case h.Order.Status != models.Unpaid && h.Order.Status != models.Paying:
		return nil, nil
	}
	if orderedAt.IsZero() {
		orderedAt = h.Order.CreatedAt
	}
	list := map[string][]models.Query{}
	for _, t := range h.Transactions {
		if t.Kind == models.Payment && t.Status == models.StatusPending && q.asked[t.Account] != nil {
			list[t.Account] = append(list[t.Account], models.Query{Kind: models.Payment, TransactionID: t.ShownID(), OrderID: id, OrderedAt: orderedAt})
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	for name, a := range q.asked {
		if !a.elsewhere {
			list[name] = []models.Query{{Kind: models.Payment, OrderID: id, OrderedAt: orderedAt}}
		}
	}
	return list, nil
}
