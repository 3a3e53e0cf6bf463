package reconcile

// BankReport is what a run of a bank account adds to its Report. Amounts are decimal text in major units of Currency, credits positive
// and debits negative; dates are YYYY-MM-DD by the bank's calendar.
type BankReport struct {
	Bank       string                `json:"bank"`
	Currency   string                `json:"currency"`
	Balances   string                `json:"balances"` // agree; none when a statement carries none
	Statements []BankStatementReport `json:"statements"`
	Pending    int                   `json:"pending,omitempty"` // lines that are announced and not booked: not counted, not matched
	Matched    []BankMatchReport     `json:"matched"`           // those that this day's lines are part of
	Payouts    int                   `json:"payouts"`           // that the lines were held against
}

// BankStatementReport is one statement, its pages put together.
type BankStatementReport struct {
	Number  string `json:"number,omitempty"`
	From    string `json:"from"`
	To      string `json:"to"`
	Opening string `json:"opening,omitempty"`
	Closing string `json:"closing,omitempty"`
	Lines   int    `json:"lines"`
	Credits string `json:"credits"`
	Debits  string `json:"debits"`
}

// BankMatchReport is one or more lines that are one or more payouts.
type BankMatchReport struct {
	How     string             `json:"how"` // reference, amount, sum (one line, several payouts), parts (several lines, one payout)
	Payouts []BankPayoutReport `json:"payouts"`
	Lines   []BankLineReport   `json:"lines"`
	// Difference is the payouts less the lines, BankFee what of it is a charge of the bank's.
	Difference string `json:"difference"`
	BankFee    string `json:"bank_fee"`
}

// BankPayoutReport is a payout as its provider tells it.
type BankPayoutReport struct {
	Account  string `json:"account"`
	PayoutID string `json:"payout_id"`
	Date     string `json:"date"`
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
	Status   string `json:"status"`
}

// BankLineReport is a line of a bank statement.
type BankLineReport struct {
	ID        string `json:"id"`
	Date      string `json:"date"`
	Amount    string `json:"amount"`
	Reference string `json:"reference"`
	File      string `json:"file"`
	Line      int    `json:"line"`
}
