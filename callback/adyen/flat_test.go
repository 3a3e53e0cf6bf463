package adyen_test

import (
	"fmt"
	"strings"
	"testing"

	"paybook/callback/providertest"
)

// The batch is closed: what its rows come to is paid out.
func TestLongReportsNeedNoMemory(t *testing.T) {
	before, after, _ := strings.Cut(row(settled), "PSP1")
	order, after, _ := strings.Cut(after, "PSP1")
	providertest.Flat(t, mustNew(t, settings("")), "settlement_detail_report_batch_7.csv", providertest.Big{
		Head: columns + "\n",
		Row: func(i int) string {
			id := fmt.Sprintf("PSP%013d", i)
			return before + id + order + id + after + "\n"
		},
		Tail: func(n int) string {
			return row(fmt.Sprintf("|MerchantPayout|TX1XT batch 7||||%d.%02d", 4950*n/100, 4950*n%100)) + "\n"
		},
	})
}
