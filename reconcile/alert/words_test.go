package alert_test

import (
	"strings"
	"testing"

	"paybook/models"
	"paybook/reconcile/alert"
	"paybook/reconcile/lang"
)

// A line of a gap tells what differs, and never that a sum is not itself; its words in Chinese are those of the reports.
func TestWhatDiffers(t *testing.T) {
	side := func(amount, status, fee string) *models.Side {
		return &models.Side{Amount: amount, Currency: "CNY", Status: status, Fee: fee}
	}
	for _, c := range []struct {
		kind     models.GapKind
		s, l, o  *models.Side
		want, zh string
	}{
		{models.GapMissingLocal, side("9.00", "succeeded", ""), nil, side("9.00", "unpaid", ""), "9.00 CNY ≠ –", "9.00 CNY ≠ 无"},
		{models.GapMissingProvider, nil, side("9.00", "succeeded", ""), nil, "– ≠ 9.00 CNY", "无 ≠ 9.00 CNY"},
		{models.GapAmount, side("9.00", "succeeded", ""), side("8.00", "succeeded", ""), side("9.00", "paid", ""), "9.00 CNY ≠ 8.00 CNY", "9.00 CNY ≠ 8.00 CNY"},
		{models.GapAmount, side("149.00", "succeeded", ""), side("149.00", "succeeded", ""), side("150.00", "unpaid", ""), "149.00 CNY ≠ order 150.00 CNY", "149.00 CNY ≠ 订单 150.00 CNY"},
		{models.GapStatus, side("35.00", "pending", ""), side("35.00", "closed", ""), side("35.00", "paid", ""), "35.00 CNY pending ≠ 35.00 CNY closed", "35.00 CNY 处理中 ≠ 35.00 CNY 已关闭"},
		{models.GapFee, side("9.00", "succeeded", "0.05"), side("9.00", "succeeded", "0.06"), nil, "9.00 CNY, fee 0.05 ≠ 9.00 CNY, fee 0.06", "9.00 CNY，手续费 0.05 ≠ 9.00 CNY，手续费 0.06"},
		{models.GapPaidAfterClose, side("9.00", "succeeded", ""), side("9.00", "succeeded", ""), side("9.00", "closed", ""), ": 9.00 CNY  →", ": 9.00 CNY  →"},
	} {
		oneOffice(t, func(o *office) {
			en, zh := &inbox{}, &inbox{}
			g := gap("a1", c.kind)
			g.Statement, g.Ledger, g.Order = c.s, c.l, c.o
			o.run(g)
			o.tick(o.post(alert.Route{Name: "en", Sink: en}, alert.Route{Name: "zh", Sink: zh, Lang: "zh"}))
			if text := en.got[0].Lines[1]; !strings.Contains(text, c.want) {
				t.Errorf("%s: %q", c.kind, text)
			}
			if text := zh.got[0].Lines[1]; !strings.Contains(text, c.zh) || !strings.HasPrefix(text, lang.Chinese.Word(string(c.kind))+" ("+string(c.kind)+")") {
				t.Errorf("%s: %q", c.kind, text)
			}
		})
	}
}
