package paypal

import (
	"fmt"
	"strings"
	"testing"

	"paybook/callback/providertest"
)

// A balance report whose footer counts its rows.
func TestLongBalanceReportsNeedNoMemory(t *testing.T) {
	before, after, _ := strings.Cut(saleRow, "CAP1")
	providertest.Flat(t, withBalance(t), "balance.csv", providertest.Big{
		Head: balanceHead,
		Row:  func(i int) string { return before + fmt.Sprintf("CAP%014d", i) + after },
		Tail: func(n int) string { return balanceFoot(1, n, 1) },
	})
}

// A report whose section, and the report as a whole, count and add up their rows.
func TestLongReportsNeedNoMemory(t *testing.T) {
	before, after, _ := strings.Cut(sb("CAP1", "ORD-1", "O1", "ODR", "T0006", "CR", "4999", "USD", "DR", "224", "USD"), "CAP1")
	head, _, _ := strings.Cut(payments(), `"SB"`)
	providertest.Flat(t, plain(t), "STL-20261127.01.009.CSV", providertest.Big{
		Head: head,
		Row:  func(i int) string { return before + fmt.Sprintf("CAP%014d", i) + after + "\r\n" },
		Tail: func(n int) string {
			sums := fmt.Sprintf(`"USD","%d","0","0","%d","CR","0"`, 4999*n, 224*n)
			return fmt.Sprintf("\"SF\",%s\r\n\"SC\",\"%d\"\r\n\"RF\",%s\r\n\"RC\",\"%d\"\r\n\"FF\",\"%d\"\r\n", sums, n, sums, n, n)
		},
	})
}
