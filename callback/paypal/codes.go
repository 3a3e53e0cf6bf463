package paypal

import "paybook/models"

// meaning is what a transaction event code and its direction make of a row. The zero meaning is a movement of the balance that
// is none of ours: kept as an adjustment, not compared.
type meaning struct {
	kind   models.TransactionKind
	status models.TransactionStatus // "": succeeded
}

// groups are the codes' first two digits (the code list in developer.paypal.com/reference/tcodes). One code goes both ways: a
// debit of a payment's code is money that we paid, and of the others' refunds or chargebacks a credit is what others owed us.
var groups = map[string]struct{ credit, debit meaning }{
	"T00": {credit: meaning{kind: models.Payment}},
	"T01": {credit: meaning{kind: models.EntryFee}, debit: meaning{kind: models.EntryFee}},
	"T02": {credit: meaning{kind: models.EntryConversion}, debit: meaning{kind: models.EntryConversion}},
	"T03": {}, // from the bank into the balance
	"T04": {credit: meaning{models.Payout, models.StatusReversed}, debit: meaning{kind: models.Payout}},
	"T05": {}, "T06": {}, "T07": {}, "T08": {}, "T09": {}, "T10": {}, "T11": {}, "T12": {}, "T13": {}, "T14": {}, "T15": {credit: meaning{kind: models.EntryReserve}, debit: meaning{kind: models.EntryReserve}},
	"T21": {credit: meaning{kind: models.EntryReserve}, debit: meaning{kind: models.EntryReserve}},
	"T16": {}, "T17": {}, "T18": {}, "T19": {}, "T20": {}, "T22": {}, "T30": {}, "T50": {}, "T97": {}, "T98": {}, "T99": {},
}

// codes are those that mean something else than their group. Holds and their releases are reserves: the money is still ours.
var codes = map[string]struct{ credit, debit meaning }{
	"T1105": {credit: meaning{kind: models.EntryReserve}, debit: meaning{kind: models.EntryReserve}}, // a hold let go again
	"T1110": {credit: meaning{kind: models.EntryReserve}, debit: meaning{kind: models.EntryReserve}}, // held for a dispute
	"T1111": {credit: meaning{kind: models.EntryReserve}, debit: meaning{kind: models.EntryReserve}}, // and let go
	"T1106": {debit: meaning{kind: models.Chargeback}},                                               // taken back by PayPal
	"T1107": {debit: meaning{kind: models.Refund}},
	"T1108": {credit: meaning{kind: models.EntryFee}, debit: meaning{kind: models.EntryFee}}, // a fee given back
	"T1109": {credit: meaning{kind: models.EntryFee}, debit: meaning{kind: models.EntryFee}},
	"T1201": {debit: meaning{kind: models.Chargeback}},
	"T1202": {credit: meaning{kind: models.ChargebackReversal}},
}

// meaningOf is known for a code of a group we know.
func meaningOf(code string, credit bool) (m meaning, known bool) {
	if len(code) != len("T0006") {
		return meaning{kind: models.EntryAdjustment, status: models.StatusSucceeded}, false
	}
	both, own := codes[code]
	if !own {
		both, known = groups[code[:3]]
	}
	m = both.debit
	if credit {
		m = both.credit
	}
	if m.kind == "" {
		m.kind = models.EntryAdjustment
	}
	if m.status == "" {
		m.status = models.StatusSucceeded
	}
	return m, known || own
}

// statuses are the words of a transaction detail report's Transactional Status. The settlement report has none: what is in it
// has moved the balance.
var statuses = map[string]models.TransactionStatus{
	"S": models.StatusSucceeded, "P": models.StatusPending, "D": models.StatusFailed, "V": models.StatusReversed,
}
