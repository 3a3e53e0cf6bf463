package alert

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"paybook/reconcile/lang"
)

// words are what is said in one language.
type words struct {
	newGaps, newGap, balancedRun, more, missing  string
	late, failed, silent                         string
	lateOver, failedOver, silentOver, nextDoctor string
	problem, digestOpen, digestNone              string
	kindLine, carriedLine, overdueLine, dueLine  string
	lastRun, noRun, test                         string
	sum, order                                   string
	lang                                         lang.Language // of what reports say too: kinds, statuses and results are called alike
}

// phrases is a language's words, English for one that is not known.
func phrases(language string) *words {
	if language == string(lang.Chinese) {
		return &chinese
	}
	return &english
}

var english = words{
	newGaps: "%s, %s: %d new gaps", newGap: "%s, %s: 1 new gap", balancedRun: "%s, %s: balanced", more: "and %d more: app gaps list --account %s --date %s", missing: "–",
	late: "%s: the statement of %s is not here, it was due by %s", failed: "%s: the run of %s could not be made",
	silent:   "%s: no callback for %s while orders wait (%d or more)",
	lateOver: "%s: the statement of %s has come", failedOver: "%s: the run of %s is made", silentOver: "%s: callbacks come again, or no order waits any more",
	nextDoctor: "next: app doctor", problem: "last try: %s",
	digestOpen: "%s: %d open gaps", digestNone: "%s: no open gaps",
	kindLine: "%s: %d (within a day %d, within a week %d, older %d)", carriedLine: "carried, not due yet: %d", overdueLine: "overdue: %d", dueLine: "due today: %d",
	lastRun: "%s: last run %s, %s", noRun: "%s: no run yet", test: "A test of the sink %s: it arrives",
	sum: "%s, fee %s", order: "order %s", lang: lang.English,
}

var chinese = words{
	newGaps: "%s %s：新增差异 %d 处", newGap: "%s %s：新增差异 1 处", balancedRun: "%s %s：平账", more: "另有 %d 处：app gaps list --account %s --date %s", missing: "无",
	late: "%s：%s 的账单未到，应于 %s 前到达", failed: "%s：%s 的对账未能完成",
	silent:   "%s：%s 内没有收到回调，且有订单（至少 %d 笔）待支付",
	lateOver: "%s：%s 的账单已到", failedOver: "%s：%s 的对账已完成", silentOver: "%s：回调已恢复，或已无待支付订单",
	nextDoctor: "下一步：app doctor", problem: "最近一次尝试：%s",
	digestOpen: "%s：未决差异 %d 处", digestNone: "%s：没有未决差异",
	kindLine: "%s：%d 处（一天内 %d，一周内 %d，更早 %d）", carriedLine: "结转（未到期）：%d 处", overdueLine: "已逾期：%d 处", dueLine: "今日到期：%d 处",
	lastRun: "%s：最近对账 %s，%s", noRun: "%s：尚未对账", test: "通知测试（%s）：已送达",
	sum: "%s，手续费 %s", order: "订单 %s", lang: lang.Chinese,
}

func (w *words) kind(kind string) string {
	if name := w.lang.Word(kind); name != kind {
		return name + " (" + kind + ")"
	}
	return kind
}

// against says what stands against what. Where the two sides are of the same sum it is not the sums that differ: then their fees do, or
// their statuses, or it is the order that asks for another.
func (w *words) against(g *Gap) string {
	statement, book := cmp.Or(g.Statement, w.missing), cmp.Or(g.Ledger, w.missing)
	if statement != book {
		return statement + " ≠ " + book
	}
	switch {
	case g.StatementFee != g.LedgerFee:
		return fmt.Sprintf(w.sum, statement, cmp.Or(g.StatementFee, w.missing)) + " ≠ " + fmt.Sprintf(w.sum, book, cmp.Or(g.LedgerFee, w.missing))
	case g.StatementStatus != g.LedgerStatus:
		return statement + " " + w.lang.Word(g.StatementStatus) + " ≠ " + book + " " + w.lang.Word(g.LedgerStatus)
	case g.Order != "" && g.Order != statement:
		return statement + " ≠ " + fmt.Sprintf(w.order, g.Order)
	}
	return statement
}

func (w *words) gaps(a *Alert, n int) {
	a.Title = fmt.Sprintf(w.newGaps, a.Account, a.Date, n)
	if n == 1 {
		a.Title = fmt.Sprintf(w.newGap, a.Account, a.Date)
	}
	for _, c := range a.Counts {
		a.Lines = append(a.Lines, fmt.Sprintf("%s: %d", w.kind(c.Kind), c.N))
	}
	for _, g := range a.Gaps {
		line := w.kind(g.Kind) + " " + cut(g.TransactionID, 80)
		if g.OrderID != "" {
			line += " / " + cut(g.OrderID, 80)
		}
		a.Lines = append(a.Lines, line+": "+w.against(&g)+"  → app gaps show "+g.ID)
	}
	if rest := n - len(a.Gaps); rest > 0 {
		a.Lines = append(a.Lines, fmt.Sprintf(w.more, rest, a.Account, a.Date))
	}
}

func (w *words) balanced(a *Alert) { a.Title = fmt.Sprintf(w.balancedRun, a.Account, a.Date) }

func (w *words) trouble(a *Alert, t Trouble) {
	switch {
	case t.Kind == LateDay && t.Over:
		a.Title = fmt.Sprintf(w.lateOver, t.Account, t.Date)
	case t.Kind == LateDay:
		zone := t.Zone
		if zone == nil {
			zone = time.UTC
		}
		a.Title = fmt.Sprintf(w.late, t.Account, t.Date, t.By.In(zone).Format("2006-01-02 15:04 MST"))
	case t.Kind == Failed && t.Over:
		a.Title = fmt.Sprintf(w.failedOver, t.Account, t.Date)
	case t.Kind == Failed:
		a.Title = fmt.Sprintf(w.failed, t.Account, t.Date)
	case t.Over:
		a.Title = fmt.Sprintf(w.silentOver, t.Account)
	default:
		a.Title = fmt.Sprintf(w.silent, t.Account, span(t.For), t.Orders)
	}
	if t.Over {
		return
	}
	if t.Problem != "" {
		a.Lines = append(a.Lines, fmt.Sprintf(w.problem, cut(t.Problem, 500)))
	}
	a.Lines = append(a.Lines, w.nextDoctor)
}

// span is 30m, and not 30m0s.
func span(d time.Duration) string {
	text := d.String()
	if d%time.Minute == 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d%time.Hour == 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (w *words) digest(a *Alert, o overview) {
	a.Title = fmt.Sprintf(w.digestOpen, a.Date, o.open)
	if o.open == 0 {
		a.Title = fmt.Sprintf(w.digestNone, a.Date)
	}
	for _, k := range o.kinds {
		a.Lines = append(a.Lines, fmt.Sprintf(w.kindLine, w.kind(string(k.kind)), k.day+k.week+k.older, k.day, k.week, k.older))
	}
	for _, l := range []struct {
		text string
		n    int64
	}{{w.overdueLine, o.overdue}, {w.dueLine, o.due}, {w.carriedLine, o.carried}} {
		if l.n > 0 {
			a.Lines = append(a.Lines, fmt.Sprintf(l.text, l.n))
		}
	}
	for _, run := range o.runs {
		a.Lines = append(a.Lines, fmt.Sprintf(w.lastRun, run.Account, run.Date, w.lang.Word(string(run.Result))))
	}
	for _, account := range o.none {
		a.Lines = append(a.Lines, fmt.Sprintf(w.noRun, account))
	}
}

// TestAlert is the message by which somebody tries whether a sink can be reached.
func TestAlert(sink, lang string, now time.Time) Alert {
	return Alert{ID: fmt.Sprintf("test-%s-%d", sink, now.UnixNano()), Kind: Test, Title: fmt.Sprintf(phrases(lang).test, sink), At: now.UTC(), Lines: []string{"app alerts test"}}
}
