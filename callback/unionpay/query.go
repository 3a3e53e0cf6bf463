package unionpay

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"paybook/callback/ask"
	"paybook/models"
)

// unknownCode is the respCode of a transaction that UnionPay has never heard of.
const unknownCode = "34"

// Query asks about a payment or a refund by its queryId or, where that is not known, by the shop's number together with the time at
// which the shop sent it (txnTime), as a number may come again another day.
func (p *Provider) Query(ctx context.Context, client *http.Client, q models.Query) (cb models.Callback, events []models.Event, err error) {
	if err := p.canAsk(); err != nil {
		return cb, nil, err
	}
	question, err := questionOf(q)
	if err != nil {
		return cb, nil, err
	}
	answer, f, err := p.call(ctx, client, p.api.query.String()+queryPath, question, ask.AnswerMax)
	if answer.Status == http.StatusOK {
		cb = answer.Evidence(p.api.query.Path+queryPath, q.Asked)
	}
	if err != nil {
		return cb, nil, err
	}
	// A failure of the question need not be signed: nothing is booked by it.
	if f["respCode"] == "00" || f["signature"] != "" {
		if err := p.checkSigned(f, q.Asked); err != nil {
			return cb, nil, err
		}
	}
	switch f["respCode"] {
	case "00":
	case unknownCode:
		return cb, nil, nil
	default:
		return cb, nil, failure(answer.Host, f)
	}
	if err := p.isAbout(f, question); err != nil {
		return cb, nil, err
	}
	return cb, answered(f), nil
}

func questionOf(q models.Query) (form, error) {
	number := q.OrderID
	switch q.Kind {
	case models.Payment:
	case models.Refund:
		number = q.RefundOrderID
	default:
		return nil, &models.CannotAsk{What: "UnionPay is asked about payments and refunds only"}
	}
	switch {
	case q.TransactionID != "" && !strings.Contains(q.TransactionID, ":"): // a name of ours for what has no id yet
		return form{"txnType": "00", "txnSubType": "02", "queryId": q.TransactionID}, nil
	case number != "" && !q.OrderedAt.IsZero():
		return form{"txnType": "00", "txnSubType": "00", "orderId": number, "txnTime": momentOf(q.OrderedAt)}, nil
	}
	return nil, &models.CannotAsk{What: "UnionPay finds a transaction by its queryId, or by the shop's number with the time it was sent at (txnTime); neither is known"}
}

// isAbout refuses an answer for another merchant, or to another question, as a copy of an earlier one would be: nothing signed in it
// tells when it was given.
func (p *Provider) isAbout(f, question form) error {
	if got := f["merId"]; got != p.merID {
		return reject(models.ReasonMerchant, "merId %q is not this account's", clip(got))
	}
	for _, field := range []string{"queryId", "orderId", "txnTime"} {
		if want, asked := question[field]; asked && f[field] != want {
			return reject(models.ReasonMalformed, "the answer is about %s %q, asked was %q", field, clip(f[field]), clip(want))
		}
	}
	return nil
}

// answered puts the transaction as its notification would. respCode is about the question, origRespCode about what was asked for. What is
// under way has not moved yet; of what failed before it had an id nothing can be booked.
func answered(f form) []models.Event {
	orig := f["origRespCode"]
	if busy(orig) {
		return nil
	}
	told := maps.Clone(f)
	told["respCode"], told["respMsg"] = orig, f["origRespMsg"]
	if f["queryId"] == "" && orig != "" && orig != "00" && orig != "A6" {
		return nil
	}
	return []models.Event{eventOf(told)}
}
