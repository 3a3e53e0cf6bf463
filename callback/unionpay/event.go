package unionpay

import (
	"errors"
	"fmt"
	"strings"

	"paybook/models"
)

// txnTypes says what a notification of each type tells, when it went well and when not. Types that are not here (collections,
// pay-outs, files) are kept and not used.
var txnTypes = map[string]struct{ done, failed models.EventKind }{
	"01": {models.PaymentSucceeded, models.PaymentFailed},  // consumption
	"02": {models.PaymentAuthorised, models.PaymentFailed}, // pre-authorisation
	"03": {models.PaymentCaptured, models.PaymentFailed},   // its completion; one that fails leaves the authorisation as it was
	"04": {models.RefundSucceeded, models.RefundFailed},
	"31": {models.PaymentVoided, models.RefundFailed}, // void of a payment
	"32": {models.PaymentVoided, models.EventUnknown}, // void of a pre-authorisation: no money came, so none fails to go back
	"33": {models.PaymentVoided, models.RefundFailed}, // void of a completion
}

// eventOf is what a genuine message says.
func eventOf(f form) models.Event {
	ev := models.Event{ID: clip(f["queryId"])}
	if err := fill(&ev, f); err != nil {
		ev.Kind, ev.Detail = models.EventUnparsable, err.Error()
	}
	return ev
}

func fill(ev *models.Event, f form) (err error) {
	kinds, known := txnTypes[f["txnType"]]
	switch {
	case f["txnType"] == "":
		return errors.New("txnType is missing")
	case !known:
		ev.Kind, ev.Detail = models.EventUnknown, "txnType "+clip(f["txnType"])
		return nil
	}
	done, err := succeeded(ev, f)
	if err != nil {
		return err
	}
	ev.Kind = kinds.failed
	if done {
		ev.Kind = kinds.done
	}
	if err := fillNames(ev, f); err != nil {
		return err
	}
	if ev.Money, err = amount(f); err != nil {
		return err
	}
	ev.OccurredAt, err = occurredAt(f)
	return err
}

// succeeded: A6 is money that has moved although something about it went wrong.
func succeeded(ev *models.Event, f form) (bool, error) {
	switch code := f["respCode"]; code {
	case "":
		return false, errors.New("respCode is missing")
	case "00":
		return true, nil
	case "A6":
		ev.Detail = "respCode A6: success with a defect; look at origRespCode of the query before goods or money are released"
		return true, nil
	default:
		ev.Detail = strings.TrimSuffix(fmt.Sprintf("respCode %s: %s", clip(code), clip(f.text("respMsg"))), ": ")
		return false, nil
	}
}

// fillNames: each message has a queryId and an orderId of its own. Of a refund, a void or a completion the orderId is not the
// shop's order but a number made for it; what it belongs to is told by origQryId, if at all. The trace name only finds it: a number
// may come twice in a second, from two institutions.
func fillNames(ev *models.Event, f form) error {
	own, orig, number, order := f["queryId"], f["origQryId"], f["orderId"], f["origOrderId"]
	for _, c := range []struct {
		field    string
		optional bool
	}{{"queryId", false}, {"orderId", false}, {"origQryId", true}, {"origOrderId", true}} {
		if got := f[c.field]; !isID(got) && !(got == "" && c.optional) {
			return fmt.Errorf("%s is missing or no id", c.field)
		}
	}
	ev.TransactionID = own
	switch f["txnType"] {
	case "01", "02":
		ev.OrderID = number
	case "03":
		ev.ParentID, ev.OrderID = orig, order
	case "32":
		if orig == "" && ev.Kind == models.PaymentVoided {
			return errors.New("origQryId is missing: which authorisation is voided?")
		}
		fallthrough
	default:
		ev.ParentID, ev.RefundOrderID, ev.OrderID = orig, number, order
	}
	if at, ok := tracedAt(f); ok && isID(f["traceNo"]) {
		ev.FoundBy = []string{traceName(at, f["traceNo"])}
	}
	return nil
}

// currencies are the ISO 4217 numbers of what UnionPay settles in. Its amounts are minor units of each.
var currencies = map[string]string{
	"156": "CNY", "344": "HKD", "446": "MOP", "901": "TWD", "840": "USD", "978": "EUR", "826": "GBP", "392": "JPY", "410": "KRW",
	"702": "SGD", "764": "THB", "458": "MYR", "360": "IDR", "704": "VND", "608": "PHP", "356": "INR", "036": "AUD", "554": "NZD",
	"124": "CAD", "756": "CHF", "643": "RUB", "398": "KZT", "784": "AED", "682": "SAR", "792": "TRY", "710": "ZAR", "986": "BRL",
}

// amount is txnAmt, what the order costs. settleAmt is what is settled, in another currency perhaps.
func amount(f form) (models.Money, error) {
	currency, known := currencies[f["currencyCode"]]
	if !known {
		return models.Money{}, fmt.Errorf("currencyCode %q is missing or none we know", clip(f["currencyCode"]))
	}
	sum, err := models.ParseMinor(f["txnAmt"], currency, models.Digits(currency))
	if err != nil {
		return models.Money{}, fmt.Errorf("txnAmt: %w", err)
	}
	if sum.Minor <= 0 {
		return models.Money{}, fmt.Errorf("txnAmt is %s, expected more than nothing", sum)
	}
	return sum, nil
}
