package html

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// evil is what a stranger may write where an id is expected.
const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>' & </title></style></svg>`

func report() *reconcile.Report {
	side := func(amount, status string) *models.Side {
		return &models.Side{Amount: amount, Currency: "CNY", Status: status, File: "bill.csv", Line: 7}
	}
	return &reconcile.Report{
		Account: "shop", Provider: "wechatpay", Date: "2026-11-28", TimeZone: "Asia/Shanghai", RunID: "0192", Result: models.Gapped, Compared: 9, Matched: 6,
		Statement: reconcile.StatementReport{Files: []reconcile.FileReport{{Name: "bill.csv", SHA256: "ab"}}, Entries: 10, ControlTotals: "agree",
			Totals: []reconcile.Total{{Kind: models.Payment, Currency: "CNY", Count: 9, Amount: "180.00", Fee: "1.08"}}},
		Ledger: reconcile.LedgerReport{Transactions: 8, Totals: []reconcile.Total{{Kind: models.Payment, Currency: "CNY", Count: 8, Amount: "160.00"}}},
		Gaps: []reconcile.GapReport{
			{ID: "a1", Kind: models.GapMissingLocal, EntryKind: models.Payment, TransactionID: "4200002026112800000000000001", OrderID: evil, State: models.GapOpen,
				Statement: side("20.00", "succeeded"), Reason: "bill.csv, row 7 has this payment of 20.00 CNY, the book does not: its callback never arrived or was refused",
				Next: "app callbacks list --account shop --date 2026-11-28", FirstSeen: "2026-11-29", AgeDays: 3, Evidence: "h0"},
			{ID: "a2", Kind: models.GapAmount, EntryKind: models.Payment, TransactionID: evil, State: models.GapOpen, Statement: side("-20.00", "succeeded"),
				Ledger: side("19.00", evil), Reason: evil, Next: evil, FirstSeen: "2026-11-29", Owner: evil},
		},
		Carried: []reconcile.GapReport{{ID: "c1", Kind: models.GapMissingProvider, EntryKind: models.Refund, TransactionID: "r1", State: models.GapCarried, Ledger: side("5.00", "succeeded")}},
		Healed:  []reconcile.GapReport{{ID: "h1", Kind: models.GapAmount, EntryKind: models.Payment, State: models.GapResolved}},
		Summary: map[models.GapKind]int{models.GapMissingLocal: 1, models.GapAmount: 1},
		Notes:   []string{"a.csv: the same statement as b.csv, read once", evil},
		Repair: &reconcile.RepairReport{ID: "rep-1", State: models.RepairApplied, MadeBy: evil, MadeAt: "2026-11-29T09:00:00+08:00", Reason: evil,
			Items: []reconcile.RepairItemReport{
				{GapID: "a1", State: models.ItemBooked, Kind: models.Payment, TransactionID: evil, OrderID: evil, Amount: "20.00", Currency: "CNY",
					Outcome: models.OutcomeApplied, Messages: []string{"order.paid"}, Why: "planned so", Result: "the book has it by now"},
				{GapID: "a2", GapKind: models.GapAmount, State: models.ItemNotRepairable, Kind: models.Payment, TransactionID: evil, Why: "there is nothing to book", Next: evil},
			}},
		Bank: &reconcile.BankReport{Bank: "main", Currency: "EUR", Matched: []reconcile.BankMatchReport{{How: "reference", BankFee: "0.50",
			Payouts: []reconcile.BankPayoutReport{{Account: "stripe", PayoutID: "po_77", Date: "2026-11-27", Amount: "10.00", Currency: "EUR"}},
			Lines:   []reconcile.BankLineReport{{Date: "2026-11-28", Amount: "9.50", Reference: evil}}}}},
		Bridges: []reconcile.Bridge{{Account: "shop", PayoutID: "po_1", Date: "2026-11-29", Currency: "CNY", Expected: "168.92", Paid: "168.00", Remainder: "-0.92",
			Steps: []reconcile.BridgeStep{{Step: "payments", Count: 9, Amount: "180.00"}, {Step: "refunds", Count: 1, Amount: "-10.00"}, {Step: "fees", Amount: "-1.08"}}}},
	}
}

func written(t *testing.T, items []reconcile.Item, l lang.Language, room int) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out, items, l, room); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestWrite: a page has what the report has, the same bytes each time, and nothing of a stranger is markup.
func TestWrite(t *testing.T) {
	items := []reconcile.Item{{Report: report()}, {Account: "other", Err: errors.New("no statement " + evil)}}
	for _, l := range []lang.Language{lang.English, lang.Chinese} {
		text := written(t, items, l, gapsMax)
		if again := written(t, items, l, gapsMax); again != text {
			t.Errorf("%s: written twice it differs", l)
		}
		for _, word := range []string{"4200002026112800000000000001", "180.00", "160.00", "20.00", "-0.92", "po_1", "po_77", "9.50 EUR", "app callbacks list --account shop --date 2026-11-28",
			"Asia/Shanghai", "<svg", "bill.csv",
			"rep-1", "order.paid"} {
			if !strings.Contains(text, word) {
				t.Errorf("%s: %q is missing", l, word)
			}
		}
		if tag := regexp.MustCompile(`(?i)<(script|img|iframe|link|object|embed|form)|\son\w+=|https?://|url\(|@import|javascript:`).
			FindString(strings.ReplaceAll(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), escaped(evil), "")); tag != "" {
			t.Errorf("%s: the page has %q", l, tag)
		}
		if n := strings.Count(text, "<details"); n != 4 || strings.Count(text, "</details>") != n || strings.Count(text, "<svg") != strings.Count(text, "</svg>") {
			t.Errorf("%s: %d gaps are laid out", l, n)
		}
	}
	zh := written(t, items, lang.Chinese, gapsMax)
	for _, word := range []string{`<html lang="zh-CN">`, "账簿缺失", "回调从未到达", "未解释余额", "结转", "未能对账", "差异按天数", "与 b.csv 是同一份账单", "账簿已有记录", "不能补单",
		"没有可记账的内容"} {
		if !strings.Contains(zh, word) {
			t.Errorf("in Chinese %q is missing", word)
		}
	}
}

// escaped is evil as a page says it.
func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(s)
}

// TestManyItems: a page has as many items of a repair as a browser bears, those that are booked first, and says how many others there are.
func TestManyItems(t *testing.T) {
	r := report().Repair
	for range 4 {
		r.Items = append(r.Items, r.Items[:2]...)
	}
	for room, want := range map[int]string{10: "5 5 0", 7: "5 2 3", 3: "3 0 7"} {
		p := newRepair(r, lang.English, room)
		if got := fmt.Sprint(len(p.Booked), len(p.Left), p.More); got != want {
			t.Errorf("room for %d: %s, want %s", room, got, want)
		}
	}
}

// TestPolicy: the page forbids itself all but its own style, whose hash it names.
func TestPolicy(t *testing.T) {
	text := written(t, []reconcile.Item{{Report: report()}}, lang.English, gapsMax)
	policy := regexp.MustCompile(`content="(default-src[^"]*)"`).FindStringSubmatch(text)
	if policy == nil || !strings.Contains(policy[1], "default-src &#39;none&#39;") || !strings.Contains(policy[1], "style-src &#39;sha256-") {
		t.Fatalf("policy %q", policy)
	}
	if strings.Contains(text, "ZgotmplZ") || strings.Contains(text, "style=") {
		t.Error("the page has a style that the policy forbids, or text in a place that cannot hold it")
	}
	if got := strings.SplitN(strings.SplitN(text, "<style>", 2)[1], "</style>", 2)[0]; got != style {
		t.Error("the style on the page is not the one that was hashed")
	}
}

// TestManyGaps: a page has as many gaps as a browser bears, counts all of them and says where the others are.
func TestManyGaps(t *testing.T) {
	r := report()
	r.Gaps, r.Healed, r.Carried = nil, nil, nil
	for i := range 12 {
		r.Gaps = append(r.Gaps, reconcile.GapReport{ID: fmt.Sprintf("id%02d", i), Kind: models.GapMissingLocal, State: models.GapOpen})
	}
	text := written(t, []reconcile.Item{{Report: r}}, lang.English, 10)
	if strings.Count(text, "<details") != 10 || !strings.Contains(text, "2 further gaps are not on this page") || !strings.Contains(text, "12 gaps") {
		t.Errorf("%d gaps on the page", strings.Count(text, "<details"))
	}
	if strings.Contains(text, "id10") || !strings.Contains(text, "id09") {
		t.Error("not the first ten are shown")
	}
}

// TestWaterfall: each step begins where the one before has ended, and the sums begin at nothing.
func TestWaterfall(t *testing.T) {
	w := newWaterfall(&report().Bridges[0], lang.English)
	bars := w.Chart.Bars
	if len(bars) != 6 {
		t.Fatalf("%d bars", len(bars))
	}
	for i, want := range []string{"more", "less", "less", "sum", "sum", "rest"} {
		if bars[i].Class != want || bars[i].Width <= 0 || bars[i].X < barFrom || bars[i].X+bars[i].Width > barTo {
			t.Errorf("bar %d: %+v, want %s", i, bars[i], want)
		}
	}
	if bars[0].X != barFrom || bars[0].Width != barTo-barFrom || bars[1].X+bars[1].Width != barTo || bars[2].X+bars[2].Width != bars[1].X {
		t.Errorf("steps %+v", bars[:3])
	}
	if bars[3].X != barFrom || bars[3].X+bars[3].Width != bars[2].X || bars[2].Next != bars[2].X {
		t.Errorf("expected %+v behind %+v", bars[3], bars[2])
	}
	below := newWaterfall(&reconcile.Bridge{Steps: []reconcile.BridgeStep{{Step: "refunds", Amount: "-10.00"}}, Expected: "-10.00", Remainder: "0.00"}, lang.English)
	if zero := below.Chart.Zero; zero != barTo || below.Chart.Bars[0].X != barFrom || len(below.Chart.Bars) != 3 {
		t.Errorf("below nothing: %+v", below.Chart)
	}
	empty := newWaterfall(&reconcile.Bridge{}, lang.English)
	if len(empty.Chart.Bars) != 2 || empty.Chart.Bars[0].Width != 0 {
		t.Errorf("nothing: %+v", empty.Chart)
	}
}

func TestAges(t *testing.T) {
	r := &reconcile.Report{}
	for _, days := range []int{0, 1, 2, 3, 7, 8, 30, 31, 4000} {
		r.Gaps = append(r.Gaps, reconcile.GapReport{AgeDays: days})
	}
	var got []string
	for _, b := range ageChart(r, lang.English).Bars {
		got = append(got, b.Label+" "+b.Value)
	}
	if want := "today 1, 1 day 1, 2 to 3 days 2, 4 to 7 days 1, 8 to 30 days 2, over 30 days 2"; strings.Join(got, ", ") != want {
		t.Errorf("ages %q, want %q", got, want)
	}
}

// TestSample writes the page to a file, to be looked at: HTML_SAMPLE=page.html go test ./reconcile/html
func TestSample(t *testing.T) {
	path := os.Getenv("HTML_SAMPLE")
	if path == "" {
		t.Skip("HTML_SAMPLE names no file")
	}
	l := lang.Language(os.Getenv("APP_LANG"))
	if err := os.WriteFile(path, []byte(written(t, []reconcile.Item{{Report: report()}}, l, gapsMax)), 0o600); err != nil {
		t.Fatal(err)
	}
}
