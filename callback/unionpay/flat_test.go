package unionpay

import (
	"fmt"
	"strings"
	"testing"

	"paybook/callback/providertest"
)

func TestLongFilesNeedNoMemory(t *testing.T) {
	before, after, _ := strings.Cut(paid(t, 1, nil), "202611291000000000001")
	providertest.Flat(t, mustNew(t, nil), zmName, providertest.Big{
		Row:  func(i int) string { return before + fmt.Sprintf("2026112910%011d", i) + after + "\r\n" },
		Tail: func(int) string { return "" },
	})
}
