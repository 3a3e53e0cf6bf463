package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/callback/generic"
	"paybook/models"
	"paybook/reconcile"
)

// runJSON runs app reconcile --format json and gives its array.
func (s *shell) runJSON(wantCode int, args ...string) []map[string]any {
	s.t.Helper()
	code, out, talk := s.run(append([]string{"reconcile", "--format", "json"}, args...)...)
	if code != wantCode {
		s.t.Fatalf("app reconcile %s: exit %d, want %d\n%s%s", strings.Join(args, " "), code, wantCode, out, talk)
	}
	var items []map[string]any
	decode(s.t, out, &items)
	return items
}

func replayedShop(t *testing.T, providers ...string) *shell {
	t.Helper()
	s := newShell(t)
	for _, p := range providers {
		s.shop(p)
		s.ok("replay", kit+p+"/callbacks")
	}
	return s
}

func TestReconcileKits(t *testing.T) {
	for _, provider := range kitProviders {
		if exists(kit + provider + "/expected_reconciliation.json") { // else: callbacks only
			t.Run(provider, func(t *testing.T) { checkKit(t, replayedShop(t, provider), provider) })
		}
	}
}

// The providers that are made by configuration alone and shipped with the program.
func TestPresetKits(t *testing.T) {
	for _, provider := range generic.Presets() {
		if provider == "standardwebhooks" { // has no statement; its kit is among the others
			continue
		}
		t.Run(provider, func(t *testing.T) {
			s := newShellWith(t, "presets.yaml")
			s.shop(provider)
			s.ok("replay", kit+provider+"/callbacks")
			checkKit(t, s, provider)
		})
	}
}

// checkKit reconciles a kit's day twice: the gaps must be those the kit planted.
func checkKit(t *testing.T, s *shell, provider string) {
	t.Helper()
	raw, err := os.ReadFile(kit + provider + "/expected_reconciliation.json")
	if err != nil {
		t.Fatal(err)
	}
	var want expectedRun
	decode(t, string(raw), &want)
	for range 2 {
		got := s.runJSON(exitLook, "--date", want.Date, "--account", provider)[0]
		if got["compared"] != float64(max(want.StatementRows, want.MoneyRows)) || got["matched"] != float64(want.Matched) {
			t.Errorf("compared %v, matched %v; want %+v", got["compared"], got["matched"], want)
		}
		var found, planted []string
		gaps, _ := got["gaps"].([]any)
		for _, g := range gaps {
			gap, _ := g.(map[string]any)
			found = append(found, fmt.Sprint(gap["kind"], " ", gap["transaction_id"]))
		}
		for _, g := range want.Gaps {
			planted = append(planted, g.Type+" "+g.TransactionID)
		}
		slices.Sort(found)
		slices.Sort(planted)
		if !slices.Equal(found, planted) {
			t.Errorf("gaps %v, want %v", found, planted)
		}
	}
}

func TestReconcileEveryAccount(t *testing.T) {
	s := replayedShop(t, "stripe", "demopay", "paypal", "adyen")
	code, out, talk := s.run("reconcile", "--date", "2026-11-27", "--format", "json")
	var items []map[string]any
	decode(t, out, &items)
	if code != exitFailed || len(items) != 7 {
		t.Fatalf("exit %d, %d items, %s", code, len(items), out)
	}
	for i, account := range []string{"wechatpay", "alipay", "unionpay", "stripe", "paypal", "adyen", "demopay"} {
		noFile := i < 3 // theirs are of another day
		if got := items[i]; got["account"] != account || (got["error"] != nil) != noFile || !noFile && got["result"] != "gaps" {
			t.Errorf("%s: %v %v; an account without a file must not stop the others", account, got["error"], got["result"])
		}
	}
	for _, w := range []string{"standardwebhooks: skipped", "app: wechatpay: ", "2026-11-27"} {
		if !strings.Contains(talk, w) {
			t.Errorf("%q is not said: %s", w, talk)
		}
	}
	var gaps []reconcile.GapReport
	if s.json(&gaps, "gaps", "list"); len(gaps) != 16 {
		t.Errorf("%d gaps saved, want those of the four accounts that could be run", len(gaps))
	}
	if code, out, talk := s.run("reconcile", "--account", "standardwebhooks"); code != exitFailed || out != "" || !strings.Contains(talk, "statement source") {
		t.Errorf("only a skipped account: exit %d, %q, %q", code, out, talk)
	}
}

func TestReconcileUsage(t *testing.T) {
	s := newShell(t)
	file := kit + "wechatpay/statements/tradebill_ALL_2026-11-29.csv"
	s.fails([]string{"--date", "YYYY-MM-DD"}, "reconcile", "--date", "29.11.2026")
	s.fails([]string{"exactly one --account"}, "reconcile", "--statement", file)
	s.fails([]string{"exactly one --account"}, "reconcile", "--no-statement", "--account", "stripe", "--account", "wechatpay")
	s.fails([]string{"exclude each other"}, "reconcile", "--account", "wechatpay", "--no-statement", "--statement", file)
	s.fails([]string{"--format", "table or json or csv or xlsx or html"}, "reconcile", "--format", "pdf")
	s.fails([]string{"--lang", "en or zh"}, "reconcile", "--lang", "de")
	s.fails([]string{"--color", "auto, always, never"}, "reconcile", "--color", "yes")
	s.fails([]string{`"nobody"`, "wechatpay"}, "reconcile", "--account", "nobody")
	s.fails([]string{"--account: empty"}, "reconcile", "--account", "")
	s.fails([]string{"stray"}, "reconcile", "stray")
	s.fails([]string{"demopay: no statement for demopay on 2026-11-20"}, "reconcile", "--account", "demopay", "--date", "2026-11-20") // once, not on both
}

func TestReconcileTakesTheOnlyAccount(t *testing.T) {
	s := newShell(t)
	dir := writeFiles(t, map[string]string{"one.yaml": okAccount("only")})
	s.global[1] = filepath.Join(dir, "one.yaml")
	if code, out, talk := s.run("reconcile", "--date", "2026-11-01", "--no-statement"); code != exitDone || !strings.Contains(out, "only  2026-11-01") {
		t.Errorf("exit %d, %q, %q", code, out, talk)
	}
	s.fails([]string{"only: ", "nosuch.csv"}, "reconcile", "--date", "2026-11-01", "--statement", "nosuch.csv")
}

func TestReconcileNoStatementAndDryRun(t *testing.T) {
	s := replayedShop(t, "demopay")
	got := s.runJSON(exitLook, "--date", "2026-11-27", "--account", "demopay", "--no-statement", "--dry-run")
	summary, _ := got[0]["summary"].(map[string]any)
	if summary["missing_provider"] == 0.0 || len(summary) != 1 {
		t.Errorf("summary %v", summary)
	}
	if list := s.ok("gaps", "list", "--format", "json"); list != "[]\n" {
		t.Errorf("a dry run wrote %s", list)
	}
	if got := s.runJSON(exitDone, "--date", "2026-11-01", "--account", "demopay", "--no-statement"); got[0]["result"] != "balanced" {
		t.Errorf("an empty day without a statement: %v", got)
	}
}

func TestReconcileOutputIsWholeOrNotThere(t *testing.T) {
	s := replayedShop(t, "demopay")
	dir := t.TempDir()
	csv := filepath.Join(dir, "gaps.csv")
	code, out, talk := s.run("reconcile", "--date", "2026-11-27", "--account", "demopay", "--format", "csv", "--output", csv)
	if code != exitLook || out != "" || !strings.Contains(talk, csv) {
		t.Errorf("exit %d, %q, %q", code, out, talk)
	}
	text, err := os.ReadFile(csv)
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); err != nil || len(lines) != 5 || !strings.HasPrefix(lines[0], "account,date,gap_id") {
		t.Errorf("%v, %s", err, text)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left beside it: %v, %v", files, err)
	}
	s.fails([]string{"--output"}, "reconcile", "--date", "2026-11-27", "--account", "demopay", "--output", filepath.Join(dir, "no", "where"))
}

func TestGapsListShowResolve(t *testing.T) {
	s := replayedShop(t, "wechatpay")
	s.runJSON(exitLook, "--date", "2026-11-29", "--account", "wechatpay")
	var list []reconcile.GapReport
	s.json(&list, "gaps", "list", "--kind", "missing_local", "--account", "wechatpay", "--date", "2026-11-29", "--state", "open")
	if len(list) == 1 && list[0].ResolvedAt != "" {
		t.Errorf("an open gap was resolved at %s", list[0].ResolvedAt)
	}
	if len(list) != 1 || list[0].TransactionID != "4200002999202611290000000007" || list[0].Account != "wechatpay" || list[0].Date != "2026-11-29" {
		t.Fatalf("list = %+v", list)
	}
	id := list[0].ID
	shown := s.ok("gaps", "show", id[:8])
	for _, w := range []string{id, "missing_local", "9.90 CNY", "row 11", "app callbacks list"} {
		if !strings.Contains(shown, w) {
			t.Errorf("%q is not shown:\n%s", w, shown)
		}
	}
	s.fails([]string{"reason"}, "gaps", "resolve", id)
	s.fails([]string{"reason"}, "gaps", "resolve", id, "--reason", " ")
	var resolved reconcile.GapReport
	s.json(&resolved, "gaps", "resolve", id, "--reason", "refunded by hand")
	if resolved.State != models.GapResolved || resolved.Resolution != "refunded by hand" {
		t.Errorf("resolved = %+v", resolved)
	}
	if at, err := time.Parse(time.RFC3339, resolved.ResolvedAt); err != nil || time.Since(at).Abs() > time.Minute || !strings.HasSuffix(resolved.ResolvedAt, "+08:00") {
		t.Errorf("resolved at %q, want now in the account's zone", resolved.ResolvedAt)
	}
	var again reconcile.GapReport
	s.json(&again, "gaps", "show", id)
	if shown := s.ok("gaps", "show", id); again.ResolvedAt != resolved.ResolvedAt || !strings.Contains(shown, "resolved     "+resolved.ResolvedAt) {
		t.Errorf("resolved at %q, JSON says %q, text\n%s", resolved.ResolvedAt, again.ResolvedAt, shown)
	}
	s.fails([]string{"resolved already"}, "gaps", "resolve", id, "--reason", "again")
	s.fails([]string{"not found", "`app gaps list`"}, "gaps", "show", "ffffffff")
	s.fails([]string{"--kind", "missing_local"}, "gaps", "list", "--kind", "lost")
	s.fails([]string{"--state", "carried"}, "gaps", "list", "--state", "lost")
	if table := s.ok("gaps", "list", "--state", "resolved"); !strings.Contains(table, id) {
		t.Errorf("table:\n%s", table)
	}
	if empty := s.ok("gaps", "list", "--account", "stripe"); empty != "no gaps\n" {
		t.Errorf("empty list: %q", empty)
	}
}

// F23, second half: what came before its order and was never ordered is listed by the run.
func TestReconcileListsUnknownOrders(t *testing.T) {
	s := newShell(t)
	s.run("replay", kit+"demopay/callbacks/01_payment_succeeded.json")
	got := s.runJSON(exitLook, "--date", "2026-11-27", "--account", "demopay")
	if summary, _ := got[0]["summary"].(map[string]any); summary["unknown_order"] != 1.0 {
		t.Errorf("summary %v", got[0]["summary"])
	}
}
