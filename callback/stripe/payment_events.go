package stripe

import (
	"cmp"
	"errors"

	"paybook/models"
)

// paidIntent is a payment told through its PaymentIntent: the charge is the movement, the PaymentIntent its second name.
func paidIntent(kind models.EventKind, amountField string) reading {
	return func(o object) (models.Event, error) {
		intent := o.id("id")
		ev, err := o.movement(kind, cmp.Or(o.latestCharge(), intent), amountField)
		return alsoNamed(ev, intent), err
	}
}

func authorised(o object) (models.Event, error) {
	if o.Get("amount_capturable").Number() == "0" { // told once more when all is captured or let go
		return models.Event{Kind: models.EventUnknown, Detail: "nothing left to capture"}, nil
	}
	return paidIntent(models.PaymentAuthorised, "amount_capturable")(o)
}

// intentItself is news of the PaymentIntent as a whole. It is not named by the charge: that may be an earlier attempt which
// failed, while the PaymentIntent's id leads to the good one, if there is one.
func intentItself(kind models.EventKind) reading {
	return func(o object) (models.Event, error) {
		ev, err := o.movement(kind, o.id("id"), "amount")
		return namedAlone(ev), err
	}
}

// failedIntent is one attempt that failed. The PaymentIntent is its parent but no second name of it: the next attempt has
// the same PaymentIntent, and would be taken for the failed one.
func failedIntent(o object) (models.Event, error) {
	intent := o.id("id")
	ev, err := o.movement(models.PaymentFailed, cmp.Or(o.id("last_payment_error", "charge"), o.latestCharge(), intent), "amount")
	ev.Detail = o.word("last_payment_error", "code")
	return childOf(namedAlone(ev), intent), err
}

func charge(kind models.EventKind, amountField string) reading {
	return func(o object) (models.Event, error) {
		ev, err := o.movement(kind, o.id("id"), amountField)
		return alsoNamed(ev, o.id("payment_intent")), err
	}
}

func chargeMade(o object) (models.Event, error) {
	captured, told := o.Get("captured").Bool()
	switch {
	case !told:
		return models.Event{}, errors.New("captured: missing, or not true or false")
	case !captured:
		return charge(models.PaymentAuthorised, "amount")(o)
	case !o.Get("amount_captured").Exists(): // API versions before 2020; what is captured at once is captured whole
		return charge(models.PaymentSucceeded, "amount")(o)
	}
	return charge(models.PaymentSucceeded, "amount_captured")(o)
}

func chargeFailed(o object) (models.Event, error) {
	ev, err := o.movement(models.PaymentFailed, o.id("id"), "amount")
	ev.Detail = o.word("failure_code")
	return childOf(namedAlone(ev), o.id("payment_intent")), err
}

// checkout is a finished page: finished is not paid. Bank debits and vouchers are paid days later, or never.
func checkout(o object) (models.Event, error) {
	switch status := o.Get("payment_status").String(); status {
	case "paid":
		return checkoutAs(models.PaymentSucceeded)(o)
	case "unpaid":
		return checkoutAs(models.PaymentPending)(o)
	case "no_payment_required":
		return models.Event{Kind: models.EventUnknown, Detail: "a checkout without a payment"}, nil
	default:
		return models.Event{}, unknownWord("payment_status", status)
	}
}

// checkoutAs names the payment by its PaymentIntent, as the session does not tell the charge. Without one (subscriptions)
// nothing is booked: under the session's id the same payment would be booked again when its charge is told.
func checkoutAs(kind models.EventKind) reading {
	return func(o object) (models.Event, error) {
		intent := o.id("payment_intent")
		if intent == "" {
			return models.Event{Kind: models.EventUnknown, Detail: "a checkout that names no PaymentIntent"}, nil
		}
		ev, err := o.movement(kind, intent, "amount_total")
		return namedAlone(ev), err
	}
}
