package cmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// One word for one thing: what one list calls state or kind, every list takes.
func TestListsTakeTheSameWords(t *testing.T) {
	s := newShell(t)
	s.shop("wechatpay")
	s.ok("replay", kit+"wechatpay/callbacks")
	for _, c := range [][2][]string{
		{{"orders", "list", "--state", "refunded"}, {"orders", "list", "--status", "refunded"}},
		{{"callbacks", "list", "--state", "amount_mismatch"}, {"callbacks", "list", "--outcome", "amount_mismatch"}},
	} {
		var one, other []map[string]any
		s.json(&one, c[0]...)
		s.json(&other, c[1]...)
		if len(one) == 0 || !sameJSON(t, one, other) {
			t.Errorf("%v: %v, want %v", c[0], one, other)
		}
	}
	var refunds []map[string]any
	s.json(&refunds, "callbacks", "list", "--kind", "refund.succeeded")
	for _, r := range refunds {
		if r["event"] != "refund.succeeded" {
			t.Errorf("--kind refund.succeeded lists %v", r)
		}
	}
	if len(refunds) == 0 {
		t.Error("--kind refund.succeeded lists nothing")
	}
	s.fails([]string{"--kind", "refund.succeeded"}, "callbacks", "list", "--kind", "refund")
	s.fails([]string{"state", "status"}, "orders", "list", "--state", "paid", "--status", "paid")
	for _, kind := range []string{"missing_local", "missing_provider", "amount_mismatch", "currency_mismatch", "status_mismatch", "fee_mismatch",
		"duplicate_entry", "conflict", "unknown_order", "paid_after_close", "duplicate_payment", "not_allowed", "wrong_day", "unknown_status",
		"payout_mismatch", "bank_missing", "bank_unexpected"} {
		if out := s.ok("gaps", "list", "--kind", kind); out != "no gaps\n" {
			t.Errorf("--kind %s: %q", kind, out)
		}
	}
}

// An example is there to be pasted.
func TestExamplesCanBePasted(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			if !strings.HasPrefix(line, "  app ") || strings.ContainsAny(line, "…<>") || strings.Contains(line, "...") {
				t.Errorf("%s: example %q", c.CommandPath(), line)
			}
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(newRoot(&app{}))
}

// A pattern that could never find the day's file is refused at the start, where it stands.
func TestStatementPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		"a/*{day}*":             "unknown placeholder {day}",
		"a/*{DATE}*":            "unknown placeholder {DATE}",
		"a/*{date*":             "unknown placeholder {date",
		"a/*{}{date}":           "unknown placeholder {}",
		"a/*.csv":               "names no day",
		"a/[{date}.csv":         "no pattern",
		"a/{date}/[a-":          "no pattern",
		"a/*{date}*":            "",
		"a/{yyyymmdd}/*.csv":    "",
		"a/[ab]-{yymmdd}.csv.*": "",
	} {
		dir := writeFiles(t, map[string]string{"app.yaml": okAccount("a") + "  statements: '" + pattern + "'\n"})
		_, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(nil))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", pattern, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "app.yaml:5: ")):
			t.Errorf("%s: %v, want file, line and %q", pattern, err, want)
		}
	}
}

func TestLookingMakesNoDatabase(t *testing.T) {
	s := newShell(t)
	dir := t.TempDir()
	s.global = []string{"--config", kit + "app.yaml", "--database", "sqlite:" + filepath.Join(dir, "none.db"), "--no-migrate"}
	for _, args := range [][]string{{"gaps", "list"}, {"orders", "list"}, {"reconcile", "--date", "2026-11-27", "--account", "demopay"},
		{"import", "orders", kit + "demopay/orders.json"}} {
		s.fails([]string{"none.db", "no such file", "app migrate up"}, args...)
	}
	t.Chdir(dir) // where a file by a relative name would be made
	s.global[1], s.global[3] = filepath.Join(dir, "..", "app.yaml"), "sqlite:none.db"
	write(t, s.global[1], "", 0o600)
	s.fails([]string{"none.db"}, "gaps", "list")
	if out := s.ok("migrate", "status"); !strings.Contains(out, "missing") {
		t.Errorf("migrate status of no database: %s", out)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
