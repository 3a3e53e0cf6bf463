package redisgate_test

import (
	"os"
	"testing"

	"paybook/ledger/ledgertest"
)

func TestMain(m *testing.M) { os.Exit(ledgertest.Main(m)) }
