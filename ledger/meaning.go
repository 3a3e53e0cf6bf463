package ledger

import "paybook/models"

// meaning is what an event says about a movement: which kind of row it belongs to, and how far that row has come by it.
// A row only takes an event of a higher rank: a late copy of an earlier stage changes nothing.
type meaning struct {
	kind   models.TransactionKind
	status models.TransactionStatus
	rank   int
}

// Ranks. A success outranks a failure told before it: money that has come in is never hidden by an attempt that failed.
const (
	rankPending = iota + 1
	rankAuthorised
	rankEnded // failed, closed
	rankSucceeded
	rankSettled // a dispute's end, after its beginning
)

var meanings = map[models.EventKind]meaning{
	models.PaymentPending:    {models.Payment, models.StatusPending, rankPending},
	models.PaymentAuthorised: {models.Payment, models.StatusAuthorised, rankAuthorised},
	models.PaymentFailed:     {models.Payment, models.StatusFailed, rankEnded},
	models.PaymentClosed:     {models.Payment, models.StatusClosed, rankEnded},
	models.PaymentSucceeded:  {models.Payment, models.StatusSucceeded, rankSucceeded},
	models.PaymentCaptured:   {models.Payment, models.StatusSucceeded, rankSucceeded},
	models.PaymentFinished:   {models.Payment, models.StatusSucceeded, rankSucceeded},
	models.RefundPending:     {models.Refund, models.StatusPending, rankPending},
	models.RefundAbnormal:    {models.Refund, models.StatusPending, rankPending},
	models.RefundFailed:      {models.Refund, models.StatusFailed, rankEnded},
	models.RefundClosed:      {models.Refund, models.StatusClosed, rankEnded},
	models.RefundSucceeded:   {models.Refund, models.StatusSucceeded, rankSucceeded},
	models.PaymentVoided:     {models.Refund, models.StatusSucceeded, rankSucceeded},
	captureVoided:            {models.Refund, models.StatusSucceeded, rankSucceeded},
	models.DisputeOpened:     {models.Chargeback, models.StatusSucceeded, rankSucceeded},
	models.DisputeLost:       {models.Chargeback, models.StatusSucceeded, rankSettled},
	models.DisputeWon:        {models.Chargeback, models.StatusSucceeded, rankSettled},
	models.PayoutPending:     {models.Payout, models.StatusPending, rankPending},
	models.PayoutFailed:      {models.Payout, models.StatusFailed, rankSettled}, // a payout can bounce after it was paid
	models.PayoutPaid:        {models.Payout, models.StatusSucceeded, rankSucceeded},
}

// rankOf is how far a row has come. A void is a refund's event, but on a payment's row it is the end of an authorisation.
func rankOf(r *row) int {
	if r.Kind == models.Payment && r.Event == models.PaymentVoided {
		return rankEnded
	}
	return meanings[r.Event].rank
}

// unmoved is what becomes of events that move no money.
var unmoved = map[models.EventKind]models.Outcome{
	models.DisputeNotified: models.OutcomeNoted,
	models.DisputeInquiry:  models.OutcomeNoted,
	models.DisputeCreated:  models.OutcomeNoted,
	models.DisputeUpdated:  models.OutcomeNoted,
	models.ReportAvailable: models.OutcomeNoted,
	models.EventThin:       models.OutcomeNeedsFetch,
	models.EventUnparsable: models.OutcomeUnreadable,
	models.EventUnknown:    models.OutcomeIgnored,
}
