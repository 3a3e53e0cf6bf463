// Package bank is the third side: it reads the statements of bank accounts (camt.053, MT940, CSV) and finds in their lines the payouts
// that the providers' statements have told of. A payout without a line, a line without a payout, and a pair that disagrees about the sum
// are gaps like any other, kept under the account "bank/NAME".
//
// The readers are our own. There is no Go module for MT940, and those for ISO 20022 take a whole file into memory, one struct a version,
// with amounts as floats, and have had no release for years. What is needed of both formats is a page each, and that page has to name
// the line of whatever is wrong. camt.053 is read by encoding/xml, token by token and by the names of its elements, which are the same
// in all its versions; CSV by the table reader of the providers' statements.
package bank

import (
	"regexp"
	"time"

	"paybook/models"
)

// Formats of bank statements.
const (
	Camt053 = "camt053"
	MT940   = "mt940"
	CSV     = "csv"
)

// Bank is one account at a bank.
type Bank struct {
	Name       string
	Format     string   // Camt053, MT940 or CSV
	Account    []string // its number or IBAN, and further spellings of it; a statement of another account is refused
	Currency   string   // ISO 4217
	Zone       *time.Location
	Statements []string // where the daily run looks: see reconcile.Folder
	Accounts   []string // of the providers whose payouts land here
	// Window is for how many banking days (Monday to Friday) before and after its own day a payout is looked for, and waited for.
	Window     int
	Tolerance  int64                // minor units by which lines that name a payout may differ from it
	Fee        Fee                  // what the bank may keep of a payout
	References map[string]Reference // by the account of the payout; an account that is not in it has the default
	Ours       Ours                 // which lines look like a provider's money
	Encoding   string               // of MT940 and CSV, see Encodings; "": UTF-8
	Layout     Layout               // of CSV
	// Elsewhere are the currencies of the other banks, by the accounts of their payouts: those are not missed here.
	Elsewhere map[string][]string
}

// Fee is what the bank may keep of a payout without a gap.
type Fee struct {
	Told bool  // charges that its statement names
	Max  int64 // and up to so many minor units that nothing names
}

// Reference is how a payout's id is found in a line's texts. The zero value is the default: the whole id, or its last characters, stand
// in one of them, whatever the spaces and the case.
type Reference struct {
	Last int // how many of the last characters will do; 0: LastDefault; negative: only the whole id
	// Pattern, when set, finds it instead: what its first group captures in a text is the id, or the end of it.
	Pattern *regexp.Regexp
	// Payout, when set, finds in the payout's id what Pattern captures, such as the number of the batch.
	Payout *regexp.Regexp
}

// LastDefault is how many of the last characters of a payout's id name it where a bank's field is too short for all of it.
const LastDefault = 12

// LastMin is how few of them may do: fewer are shared by chance.
const LastMin = 8

// Ours says which lines look like a provider's money, so that one without a payout is a gap.
type Ours struct {
	Credits  bool             // every credit does
	Patterns []*regexp.Regexp // and every line with a text that one of these matches
}

// looks says whether a line looks like a provider's money.
func (o Ours) looks(texts []string, minor int64) bool {
	if o.Credits && minor > 0 {
		return true
	}
	for _, p := range o.Patterns {
		for _, text := range texts {
			if p.MatchString(text) {
				return true
			}
		}
	}
	return false
}

func (b *Bank) money(minor int64) models.Money {
	return models.Money{Minor: minor, Currency: b.Currency}
}
