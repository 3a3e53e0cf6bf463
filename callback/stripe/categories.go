package stripe

import "paybook/models"

// category is what a reporting_category of a balance report means for the book.
type category struct {
	kind    models.TransactionKind
	status  models.TransactionStatus
	sign    int // what gross must be: 1 not negative, -1 not positive, 0 either
	adjusts bool
}

// categories are those that are a movement of our own, a fee, or money held back (the full list is in stripe-go's
// balancetransaction.go). All others, named in otherCategories or not, move the balance without being one: transfers, top-ups, advances,
// issuing. They are kept as adjustments under their own word, never dropped.
var categories = map[string]category{
	"charge":           {kind: models.Payment, status: models.StatusSucceeded, sign: 1},
	"refund":           {kind: models.Refund, status: models.StatusSucceeded, sign: -1},
	"refund_failure":   {kind: models.RefundReversal, status: models.StatusSucceeded, sign: 1},
	"dispute":          {kind: models.Chargeback, status: models.StatusSucceeded, sign: -1},
	"dispute_reversal": {kind: models.ChargebackReversal, status: models.StatusSucceeded, sign: 1},

	// A bank debit that was counted as paid and bounced: the money is taken back under the charge's own id, so the payment
	// itself is reversed. A book that still calls it succeeded must disagree.
	"charge_failure": {kind: models.Payment, status: models.StatusReversed, sign: -1},
	// A partial capture is two rows of one charge: the whole sum authorised, and what was let go.
	"partial_capture_reversal": {kind: models.Payment, status: models.StatusSucceeded, sign: -1, adjusts: true},

	"payout":          {kind: models.Payout, status: models.StatusSucceeded}, // positive: collected from the bank account
	"payout_reversal": {kind: models.Payout, status: models.StatusReversed},

	"fee":          {kind: models.EntryFee, status: models.StatusSucceeded},
	"stripe_fee":   {kind: models.EntryFee, status: models.StatusSucceeded},
	"network_cost": {kind: models.EntryFee, status: models.StatusSucceeded},
	"tax":          {kind: models.EntryFee, status: models.StatusSucceeded},

	"risk_reserved_funds":    {kind: models.EntryReserve, status: models.StatusSucceeded},
	"connect_reserved_funds": {kind: models.EntryReserve, status: models.StatusSucceeded},
}

// otherCategories are the rest of Stripe's list, which move the balance without being a movement of ours. A word that is in
// neither list is new, and the report says so.
var otherCategories = []string{
	"advance", "advance_funding", "anticipation_repayment", "climate_order_purchase", "climate_order_refund", "connect_collection_transfer",
	"contribution", "financing_paydown", "financing_paydown_reversal", "financing_payout",
	"financing_payout_reversal", "issuing_authorization_hold", "issuing_authorization_release", "issuing_dispute", "issuing_transaction",
	"other_adjustment", "platform_earning", "platform_earning_refund", "topup", "topup_reversal", "transfer",
	"transfer_reversal",
}

// payoutStatuses are the words of payout_status, which are those of the API's payout object.
var payoutStatuses = map[string]models.TransactionStatus{
	"paid":       models.StatusSucceeded,
	"pending":    models.StatusPending,
	"in_transit": models.StatusPending,
	"failed":     models.StatusFailed,
	"canceled":   models.StatusFailed, // as in the event payout.canceled
}
