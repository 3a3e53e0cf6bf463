package generic_test

import (
	"fmt"
	"strings"
	"testing"

	"paybook/callback/generic"
	"paybook/callback/providertest"
)

// The default layout, and one with a footer that counts the rows.
func TestLongStatementsNeedNoMemory(t *testing.T) {
	lines := strings.SplitAfter(demopayFile(t), "\n")
	for name, c := range map[string]struct {
		p   *generic.Provider
		big providertest.Big
	}{
		"default": {mustNew(t, settings(nil)), providertest.Big{
			Head: header,
			Row: func(i int) string {
				return fmt.Sprintf("42000000002026112900%010d,ORD%010d,payment,0.10,CNY,succeeded,2026-11-29T10:00:00+08:00\n", i, i)
			},
			Tail: func(int) string { return "" },
		}},
		"demopay": {mustOpen(t, "demopay"), providertest.Big{
			Head: lines[0] + lines[1],
			Row: func(i int) string {
				return fmt.Sprintf("DP%014d,,ORD-2026-5010,PAYMENT,20.00,0.60,19.40,USD,2026-11-27 23:59:58,B20261127\n", i)
			},
			Tail: func(n int) string { return fmt.Sprintf("TOTAL,%d,,,,,,,,\n", n) },
		}},
	} {
		t.Run(name, func(t *testing.T) { providertest.Flat(t, c.p, "day.csv", c.big) })
	}
}
