package ledger

import "paybook/models"

// transition is one row of the state table: in state From, event On leads to To, if When holds. Rows, not a switch, because
// the compiler does not check a switch for completeness; a test walks every state × event.
type transition struct {
	From models.OrderStatus
	On   models.EventKind
	To   models.OrderStatus
	When condition
}

// condition names what must hold for a row of the table, in the words the diagram prints.
type condition string

const (
	always      condition = ""
	whole       condition = "whole amount refunded"
	part        condition = "part refunded"
	nothing     condition = "nothing refunded any more"
	attemptOver condition = "closed by the provider, not by the shop; its units still there"
	notShipped  condition = "not shipped yet"
	otherOpen   condition = "another dispute is open"
	otherLost   condition = "another dispute is lost"
	noOther     condition = "no other dispute"
)

// back stands for "where it was before the dispute".
const back models.OrderStatus = "(before the dispute)"

var transitions = []transition{
	{models.Unpaid, models.OrderPay, models.Paying, always},
	{models.Paid, models.OrderShip, models.Shipped, always},
	{models.PartRefunded, models.OrderShip, models.PartRefunded, notShipped}, // what is left of it goes out
	{models.Unpaid, models.OrderCancel, models.Closed, always},
	{models.Paying, models.OrderCancel, models.Closed, always},
	{models.Unpaid, models.OrderExpire, models.Closed, always},
	{models.Paying, models.OrderExpire, models.Closed, always},

	{models.Unpaid, models.PaymentSucceeded, models.Paid, always},
	{models.Paying, models.PaymentSucceeded, models.Paid, always},
	{models.Unpaid, models.PaymentClosed, models.Closed, always},
	{models.Paying, models.PaymentClosed, models.Closed, always},
	{models.Closed, models.PaymentSucceeded, models.Paid, attemptOver},

	{models.Paid, models.RefundSucceeded, models.Refunded, whole},
	{models.Paid, models.RefundSucceeded, models.PartRefunded, part},
	{models.Shipped, models.RefundSucceeded, models.Refunded, whole},
	{models.Shipped, models.RefundSucceeded, models.PartRefunded, part},
	{models.PartRefunded, models.RefundSucceeded, models.Refunded, whole},
	{models.PartRefunded, models.RefundSucceeded, models.PartRefunded, part},
	{models.Refunded, models.RefundSucceeded, models.Refunded, whole}, // imported as refunded, now told of the refunds
	{models.Refunded, models.RefundSucceeded, models.PartRefunded, part},
	{models.Disputed, models.RefundSucceeded, models.Disputed, always},
	{models.ChargedBack, models.RefundSucceeded, models.ChargedBack, always},

	{models.Refunded, models.RefundFailed, models.Paid, nothing},
	{models.Refunded, models.RefundFailed, models.PartRefunded, part},
	{models.PartRefunded, models.RefundFailed, models.Paid, nothing},
	{models.PartRefunded, models.RefundFailed, models.PartRefunded, part},
	{models.Disputed, models.RefundFailed, models.Disputed, always},
	{models.ChargedBack, models.RefundFailed, models.ChargedBack, always},

	{models.Paid, models.DisputeOpened, models.Disputed, always},
	{models.Shipped, models.DisputeOpened, models.Disputed, always},
	{models.PartRefunded, models.DisputeOpened, models.Disputed, always},
	{models.Refunded, models.DisputeOpened, models.Disputed, always},
	{models.Disputed, models.DisputeOpened, models.Disputed, always}, // one more, of another part
	{models.ChargedBack, models.DisputeOpened, models.ChargedBack, always},
	{models.Paid, models.DisputeLost, models.ChargedBack, always},
	{models.Shipped, models.DisputeLost, models.ChargedBack, always},
	{models.PartRefunded, models.DisputeLost, models.ChargedBack, always},
	{models.Refunded, models.DisputeLost, models.ChargedBack, always},
	{models.Disputed, models.DisputeLost, models.ChargedBack, always},
	{models.ChargedBack, models.DisputeLost, models.ChargedBack, always},
	{models.Disputed, models.DisputeWon, back, noOther},
	{models.Disputed, models.DisputeWon, models.Disputed, otherOpen},
	{models.Disputed, models.DisputeWon, models.ChargedBack, otherLost},
	{models.ChargedBack, models.DisputeWon, back, noOther},
	{models.ChargedBack, models.DisputeWon, models.Disputed, otherOpen},
	{models.ChargedBack, models.DisputeWon, models.ChargedBack, otherLost},
}

// moves looks up the table. when answers whether a row's condition holds.
func moves(from models.OrderStatus, on models.EventKind, when func(condition) bool) (models.OrderStatus, bool) {
	for _, t := range transitions {
		if t.From == from && t.On == on && (t.When == always || when(t.When)) {
			return t.To, true
		}
	}
	return "", false
}

// tableEvent is the event a movement counts as in the state table. Refunds are not here: what they make of an order is decided by the
// sum (recount).
func tableEvent(k models.EventKind) models.EventKind {
	if k == models.PaymentCaptured || k == models.PaymentFinished {
		return models.PaymentSucceeded
	}
	return k
}
