package reconcile

// Bridge says how a payout came about: payments, less refunds, chargebacks and fees, more or less what else there was. Amounts are
// decimal text in major units of Currency, with a sign. What the steps do not explain is the Remainder, which is never left out.
type Bridge struct {
	Account   string       `json:"account"`
	PayoutID  string       `json:"payout_id"` // or the settlement batch
	Date      string       `json:"date"`      // when it was paid, in the account's zone; "": not known
	Currency  string       `json:"currency"`
	Steps     []BridgeStep `json:"steps"`
	Expected  string       `json:"expected"`  // the steps' sum
	Paid      string       `json:"paid"`      // what the provider says it paid; "": it does not say
	Remainder string       `json:"remainder"` // Paid less Expected
}

// BridgeStep is one kind of rows in a payout.
type BridgeStep struct {
	Step   string `json:"step"` // payments, refunds, refund_reversals, chargebacks, chargeback_reversals, fees, conversions, reserves, adjustments
	Count  int64  `json:"count"`
	Amount string `json:"amount"`
}
