package ledger_test

import (
	"os"
	"testing"

	"paybook/ledger/ledgertest"
)

func TestMain(m *testing.M) {
	if os.Getenv(leaseWorker) != "" {
		runLeaseWorker()
		return
	}
	os.Exit(ledgertest.Main(m))
}
