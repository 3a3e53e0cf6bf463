package bank

import (
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/reconcile/lang"
)

// What a run of a bank says has its Chinese, with all names and sums in it.
func TestReasonsInChinese(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		b := euro()
		b.Ours.Credits = true
		pays(t, book, "stripe po_AAAA1111 2026-11-30 100.00", "stripe po_AAAA1112 2026-11-30 50.00", "stripe po_AAAA1113 2026-11-30 30.00 succeeded USD")
		r := runs(t, book, b, "2026-11-30", statementText("2026-11-30", "0.00", "2026-11-30 98.00 bank=1 ref=po_AAAA1111 chrg=2.00", "2026-11-30 7.00 bank=2 text=who"))
		said := append([]string{}, r.Notes...)
		for _, g := range append(r.Gaps, r.Carried...) {
			said = append(said, g.Reason)
		}
		if len(said) != 4 {
			t.Errorf("%q", said)
		}
		for _, english := range said {
			if chinese := lang.Chinese.Sentence(english); chinese == english || strings.Contains(chinese, " in ") ||
				strings.Contains(english, "po_AAAA1111") != strings.Contains(chinese, "po_AAAA1111") {
				t.Errorf("%q is %q", english, chinese)
			}
		}
	})
}
