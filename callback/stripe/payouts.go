package stripe

import "paybook/models"

// payouts reads a payouts report. Its rows are kept by payout id and not compared.
func (f *file) payouts(each func(models.Entry) error) (models.Statement, error) {
	if err := f.need("payouts", "payout_id", "payout_status", "currency", "gross"); err != nil {
		return models.Statement{}, err
	}
	if err := f.setTime("effective_at"); err != nil {
		return models.Statement{}, err
	}
	return models.Statement{Title: "payouts file"}, f.everyRow(f.payout, each)
}

// payout is paid out as a negative gross; a positive one was collected from the bank account.
func (f *file) payout() (models.Entry, error) {
	e := models.Entry{Kind: models.Payout, StatusText: f.Get("payout_status"), Line: f.Line()}
	status, known := payoutStatuses[e.StatusText]
	if !known {
		status = models.StatusUnknown
	}
	e.Status = status
	var err error
	if e.TransactionID, err = f.ID("payout_id"); err != nil {
		return e, err
	}
	if e.TransactionID == "" {
		return e, f.Fail("payout_id", "empty")
	}
	gross, fee, err := f.amounts()
	if err != nil {
		return e, err
	}
	if e.Money, e.Fee = gross.Abs(), fee; gross.Minor > 0 {
		e.Gross = gross
	}
	trace, err := f.ID("trace_id")
	if err != nil {
		return e, err
	}
	if trace != "" { // what the bank's line shows
		e.Aliases = []string{trace}
	}
	e.OccurredAt, err = f.time()
	return e, err
}
