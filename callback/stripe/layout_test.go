package stripe_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

// A batch is told by the file's own name. A folder called so holds whatever it holds.
func TestBatchIsNotTheFolders(t *testing.T) {
	for name, want := range map[string]bool{
		"payout_reconciliation_itemized_2026-11-27.csv":                         true,
		"reports/payout_reconciliation.csv.gz":                                  true,
		"payout_reconciliation/balance_change_from_activity_2026-11-27.csv":     false,
		"/a/payout_reconciliation_old/balance_change_from_activity_itemized.gz": false,
	} {
		if st, _, err := read(t, name, columns+"\n", time.UTC); err != nil || st.Batch != want {
			t.Errorf("%s: batch %v, %v; want %v", name, st.Batch, err, want)
		}
	}
}

// An amount without its currency, or the reverse, is in we don't know what.
func TestCustomerFacingColumnsGoTogether(t *testing.T) {
	const lone = "balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id"
	for column, missing := range map[string]string{"customer_facing_amount": "customer_facing_currency", "customer_facing_currency": "customer_facing_amount"} {
		_, _, err := read(t, "report.csv", lone+","+column+"\n", time.UTC)
		var got *models.FileError
		if !errors.As(err, &got) || got.Column != missing || !strings.Contains(err.Error(), "lacks "+missing) {
			t.Errorf("only %s: %v, want an error that names %s", column, err, missing)
		}
	}
	if _, _, err := read(t, "report.csv", lone+"\n", time.UTC); err != nil {
		t.Errorf("without both: %v", err)
	}
}

func TestUnknownCategoryIsTold(t *testing.T) {
	for category, want := range map[string]string{"invented_2027": "invented_2027", "": "(empty)", "topup": "", "charge": "", "transfer_reversal": ""} {
		got := mustRead(t, columns+"\ntxn_1,2026-11-27 08:00:00,usd,10.00,0,10.00,"+category+",src_1,,,ch_1,pi_1,A1\n")[0]
		if got.UnknownKind != want || want != "" && got.Kind != models.EntryAdjustment {
			t.Errorf("%q is a %s, unknown kind %q; want %q", category, got.Kind, got.UnknownKind, want)
		}
	}
}
