package cmd

import (
	"fmt"
	"strings"
	"testing"
)

// repairJSON is what the tests look at of a printed repair.
type repairJSON struct {
	ID, State, Reason string
	MadeBy            string `json:"made_by"`
	ApprovedBy        string `json:"approved_by"`
	AppliedBy         string `json:"applied_by"`
	Items             []struct {
		GapKind, State, Kind, Amount, Currency, Status, Event, Source, Outcome, Why, Next, Result, Account string
		TransactionID                                                                                      string `json:"transaction_id"`
		OrderID                                                                                            string `json:"order_id"`
		OccurredAt                                                                                         string `json:"occurred_at"`
		Messages                                                                                           []string
	}
}

func (r repairJSON) lines() (lines []string) {
	for _, i := range r.Items {
		lines = append(lines, fmt.Sprint(i.State, " ", i.Kind, " ", i.TransactionID, " ", i.Outcome, " ", i.Messages))
	}
	return lines
}

const plainShop = `
accounts:
  - name: shop
    provider: generic
    time_zone: Asia/Shanghai
    settings: {"signature":{"secrets":["s"],"from":"header:X-Signature","template":"{body}"},
      "fields":{"event_id":"$.id","event_type":"$.type","status":"$.status","transaction_id":"$.txn","order_id":"$.order",
      "amount":{"path":"$.amount","unit":"major"},"currency":"$.currency","occurred_at":"$.at"},
      "events":[{"type":"payment","status":"SUCCESS","event":"payment.succeeded"}]}
`

// plainRepairs is a shop with two orders that the statement says are paid, one that it does not know, and no callback.
func plainRepairs(t *testing.T, config string) (s *shell, reconcile []string) {
	t.Helper()
	s = &shell{t: t}
	conf := s.file("app.yaml", config+plainShop)
	s.global = []string{"--config", conf, "--database", "sqlite:" + t.TempDir() + "/app.db"}
	s.ok("import", "orders", s.file("orders.csv", "order_id,amount,currency\nO-1,20.00,CNY\nO-2,30.00,CNY\n"))
	statement := s.file("statement.csv", `transaction_id,order_id,type,amount,currency,status,occurred_at,parent_id,refund_order_id
ch1,O-1,payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,
ch2,O-2,payment,30.00,CNY,succeeded,2026-11-28 11:00:00,,
ch3,O-3,payment,40.00,CNY,succeeded,2026-11-28 12:00:00,,
`)
	return s, []string{"--date", "2026-11-28", "--statement", statement}
}

// repairOf is the repair in the report of a run.
func (s *shell) repairOf(wantCode int, args ...string) (r repairJSON) {
	s.t.Helper()
	code, out, talk := s.run(append([]string{"reconcile", "--format", "json"}, args...)...)
	if code != wantCode {
		s.t.Fatalf("app reconcile %s: exit %d, want %d\n%s%s", strings.Join(args, " "), code, wantCode, out, talk)
	}
	var reports []struct{ Repair repairJSON }
	decode(s.t, out, &reports)
	return reports[0].Repair
}

// books are the books in short.
func (s *shell) books() string {
	s.t.Helper()
	var text []string
	for _, id := range []string{"O-1", "O-2"} {
		var o struct {
			Status       string
			Transactions []struct{ Status, Source string }
		}
		s.json(&o, "orders", "show", id)
		text = append(text, fmt.Sprint(o.Status, o.Transactions))
	}
	return strings.Join(text, " ")
}

func TestRepairIsPlannedAppliedAndReversed(t *testing.T) {
	s, day := plainRepairs(t, "")
	dry := s.repairOf(exitLook, append(day, "--repair", "--dry-run", "--as", "alice")...)
	planned := []string{"planned payment ch1 applied [order.paid]", "planned payment ch2 applied [order.paid]", "planned payment ch3 no_order []"}
	if fmt.Sprint(dry.lines()) != fmt.Sprint(planned) || dry.ID != "" || s.ok("repair", "list") != "no repairs; plan one by app reconcile --date DAY --repair\n" {
		t.Errorf("a dry run: %+v", dry)
	}
	plan := s.repairOf(exitLook, append(day, "--repair", "--as", "alice")...)
	first := plan.Items[0]
	if fmt.Sprint(plan.lines()) != fmt.Sprint(planned) || plan.State != "planned" || plan.MadeBy != "alice" {
		t.Errorf("the plan: %+v", plan)
	}
	if got := fmt.Sprint(first.Account, first.OrderID, first.Amount, first.Currency, first.Status, first.OccurredAt, first.Event, first.Source); got !=
		"shopO-120.00CNYsucceeded2026-11-28T10:00:00+08:00payment.succeededreconcile" || !strings.Contains(first.Why, "row 2") {
		t.Errorf("its first item: %+v", first)
	}
	if got := s.books(); got != "unpaid[] unpaid[]" {
		t.Errorf("planning has booked: %s", got)
	}
	out := s.ok("repair", "apply", plan.ID[:20])
	if !strings.Contains(out, "applied by") || strings.Count(out, "booked") != 3 {
		t.Errorf("applied:\n%s", out)
	}
	want := "paid[{succeeded reconcile}] paid[{succeeded reconcile}]"
	if got := s.books(); got != want {
		t.Errorf("applied: %s, want %s", got, want)
	}
	s.ok("repair", "apply", plan.ID)
	if got := s.books(); got != want {
		t.Errorf("applied twice: %s, want %s", got, want)
	}
	s.ok("repair", "reverse", plan.ID, "--reason", "statement of another shop")
	if got := s.books(); got != "unpaid[{reversed reconcile} {reversed reconcile}] unpaid[{reversed reconcile} {reversed reconcile}]" {
		t.Errorf("reversed: %s", got)
	}
	var shown repairJSON
	s.json(&shown, "repair", "show", plan.ID)
	if shown.State != "reversed" || shown.Reason != "statement of another shop" {
		t.Errorf("shown: %+v", shown)
	}
	s.fails([]string{"reversed"}, "repair", "apply", plan.ID)
	log, zh := s.ok("audit", "list", "--subject", "repair/"+plan.ID), s.ok("audit", "list", "--subject", "repair/"+plan.ID, "--lang", "zh")
	for _, c := range [][2]string{{"planned: shop of 2026-11-28; 3 items planned\n", "制定计划：shop，2026-11-28；3 项已计划\n"},
		{"applied: shop of 2026-11-28; 3 items booked\n", "执行：shop，2026-11-28；3 项已入账\n"},
		{"reversed: shop of 2026-11-28; 3 items reversed; because: statement of another shop\n", "撤销：shop，2026-11-28；3 项已撤销；原因：statement of another shop\n"}} {
		if !strings.Contains(log, c[0]) || !strings.Contains(zh, c[1]) {
			t.Errorf("the log lacks %q or %q:\n%s\n%s", c[0], c[1], log, zh)
		}
	}
}

// Exit codes are those of the day as it stands after the repair.
func TestRepairAtOnce(t *testing.T) {
	s, day := plainRepairs(t, "")
	s.ok("import", "orders", s.file("orders.csv", "order_id,amount,currency\nO-3,40.00,CNY\n"))
	r := s.repairOf(exitDone, append(day, "--repair=apply", "--as", "alice")...)
	if r.State != "applied" || r.AppliedBy != "alice" || len(r.Items) != 3 || r.Items[2].State != "booked" {
		t.Errorf("%+v", r)
	}
	again := s.repairOf(exitDone, append(day, "--repair=apply", "--as", "alice")...)
	if again.ID != "" || len(again.Items) != 0 {
		t.Errorf("once more: %+v", again)
	}
}

func TestRepairNeedsASecondPerson(t *testing.T) {
	s, day := plainRepairs(t, "repair: {approvals: 2}\n")
	alone := append(day, "--repair=apply", "--as", "alice")
	plan := s.repairOf(exitFailed, alone...)
	if plan.ID == "" || plan.State != "planned" {
		t.Fatalf("what may not be applied is not planned: %+v", plan)
	}
	s.repairOf(exitFailed, alone...)
	for _, same := range []string{"alice", "ALICE", " Alice "} {
		s.fails([]string{"second person"}, "repair", "apply", plan.ID, "--as", same)
		s.fails([]string{"second person"}, "repair", "approve", plan.ID, "--as", same)
	}
	if got := s.books(); got != "unpaid[] unpaid[]" {
		t.Fatalf("one person alone has booked: %s", got)
	}
	s.ok("repair", "approve", plan.ID, "--as", "bob")
	s.fails([]string{"approved"}, "repair", "approve", plan.ID, "--as", "carol")
	s.ok("repair", "apply", plan.ID, "--as", "alice")
	if got := s.books(); got != "paid[{succeeded reconcile}] paid[{succeeded reconcile}]" {
		t.Errorf("two persons have booked: %s", got)
	}

	s, day = plainRepairs(t, "repair: {approvals: 2}\n")
	plan = s.repairOf(exitLook, append(day, "--repair", "--as", "alice")...)
	r := s.repairOf(exitLook, append(day, "--repair=apply", "--as", "bob")...) // O-3 is still not known
	if r.ID != plan.ID || r.AppliedBy != "bob" || r.ApprovedBy != "bob" || r.MadeBy != "alice" {
		t.Errorf("the second person's own run applies %+v, want %s", r, plan.ID)
	}
}

func TestRepairRefusals(t *testing.T) {
	s, day := plainRepairs(t, "")
	s.fails([]string{"--repair=often", "plan or apply"}, append([]string{"reconcile"}, append(day, "--repair=often")...)...)
	s.fails([]string{"not found", "app repair list"}, "repair", "show", "0123")
	s.fails([]string{"--reason"}, "repair", "reverse", "0123")
	s.fails([]string{"--state"}, "repair", "list", "--state", "often")
	plan := s.repairOf(exitLook, append(day, "--repair", "--as", "alice")...)
	s.fails([]string{"planned", "reversed"}, "repair", "reverse", plan.ID, "--reason", "no")
	s.ok("repair", "drop", plan.ID, "--reason", "a corrected file will come")
	s.fails([]string{"dropped"}, "repair", "apply", plan.ID)
	if got := s.books(); got != "unpaid[] unpaid[]" {
		t.Errorf("a dropped plan has booked: %s", got)
	}
	if again := s.repairOf(exitLook, append(day, "--repair", "--as", "alice")...); again.ID == plan.ID || again.ID == "" {
		t.Errorf("planned again: %q", again.ID)
	}
}
