package adyen

import "paybook/models"

// rowType is what a row's Type means for the book.
type rowType struct {
	kind   models.TransactionKind
	credit bool   // a movement comes in the credit columns, otherwise in the debit columns
	round  string // what ends the id of a movement that the same dispute has had before
}

// rowTypes are the types of a settlement details report, in small letters, as their case is not the same everywhere. Those that are
// neither movements of ours nor fees nor money held back move the balance all the same, and are kept as adjustments under their own word; a type that is
// not here is new, and the report says so. With "externally" the money goes another way than through Adyen.
var rowTypes = map[string]rowType{
	"settled":                      {kind: models.Payment, credit: true},
	"settledexternally":            {kind: models.Payment, credit: true},
	"settledexternallywithinfo":    {kind: models.Payment, credit: true},
	"settledinstallment":           {kind: models.Payment, credit: true},
	"refunded":                     {kind: models.Refund},
	"refundedexternally":           {kind: models.Refund},
	"refundedexternallywithinfo":   {kind: models.Refund},
	"refundedreversed":             {kind: models.RefundReversal, credit: true},
	"chargeback":                   {kind: models.Chargeback},
	"chargebackexternally":         {kind: models.Chargeback},
	"chargebackexternallywithinfo": {kind: models.Chargeback},
	"secondchargeback":             {kind: models.Chargeback, round: models.SecondRound},
	"chargebackreversed":           {kind: models.ChargebackReversal, credit: true},

	"fee":                    {kind: models.EntryFee},
	"misccosts":              {kind: models.EntryFee},
	"invoicededuction":       {kind: models.EntryFee},
	"paymentcost":            {kind: models.EntryFee},
	"settlecost":             {kind: models.EntryFee},
	"authorisationschemefee": {kind: models.EntryFee},

	"merchantpayout": {kind: models.Payout},

	"reserveadjustment": {kind: models.EntryReserve},
	"depositcorrection": {kind: models.EntryReserve},

	"paidout":                 {kind: models.EntryAdjustment}, // to third parties
	"paidoutreversed":         {kind: models.EntryAdjustment},
	"internalcompanypayout":   {kind: models.EntryAdjustment},
	"epapaid":                 {kind: models.EntryAdjustment},
	"bankinstructionreturned": {kind: models.EntryAdjustment},
	"balancetransfer":         {kind: models.EntryAdjustment}, // from or to another batch
	"matchedstatement":        {kind: models.EntryAdjustment},
	"manualcorrected":         {kind: models.EntryAdjustment},
}

// feeColumns are what Adyen kept of a row, in its net currency: Commission alone for a blended price, the others for
// interchange++. A chargeback's fee is there as well, on top of the sum that is taken back.
var feeColumns = []string{"Commission (NC)", "Markup (NC)", "Scheme Fees (NC)", "Interchange (NC)"}
