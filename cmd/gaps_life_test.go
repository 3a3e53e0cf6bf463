package cmd

import (
	"database/sql"
	"strings"
	"testing"

	"paybook/models"
	"paybook/reconcile"
)

// newGapsShell is a shell whose book has four open gaps of demopay.
func newGapsShell(t *testing.T) (*shell, []reconcile.GapReport) {
	t.Helper()
	s := newShell(t)
	t.Setenv(envUser, "li")
	s.shop("demopay")
	s.ok("replay", kit+"demopay/callbacks")
	if code, _, talk := s.run("reconcile", "--date", "2026-11-27", "--account", "demopay"); code != exitLook {
		t.Fatalf("reconcile: exit %d, %s", code, talk)
	}
	var gaps []reconcile.GapReport
	if s.json(&gaps, "gaps", "list"); len(gaps) != 4 {
		t.Fatalf("%d gaps", len(gaps))
	}
	return s, gaps
}

func TestGapsAreSharedOut(t *testing.T) {
	s, gaps := newGapsShell(t)
	one, two := gaps[0].ID, gaps[1].ID
	s.ok("gaps", "assign", one, two[:8], "--to", "wang", "--due", "2026-11-30")
	s.ok("gaps", "assign", two, "--due", "2030-01-01", "--as", "zhao")
	s.ok("gaps", "comment", one, "--text", "asked the provider")
	s.ok("gaps", "resolve", one, "--reason", "paid by hand")
	s.ok("gaps", "reopen", one, "--reason", "it bounced", "--as", "王")
	var g gapWithHistory
	s.json(&g, "gaps", "show", one)
	if g.Owner != "wang" || g.DueOn != "2026-11-30" || g.Overdue == nil || !*g.Overdue || g.State != models.GapOpen {
		t.Errorf("shown %+v", g.GapReport)
	}
	var told []string
	for _, h := range g.History {
		told = append(told, h.Actor+": "+h.Text)
	}
	want := "run: opened as missing_provider, by run " + g.History[0].runOf(t) +
		"|li: assigned to wang, due on 2026-11-30|li: commented: asked the provider|li: resolved: paid by hand|王: reopened: it bounced"
	if got := strings.Join(told, "|"); got != want {
		t.Errorf("history\n%s\nwant\n%s", got, want)
	}
	table := s.ok("gaps", "show", one)
	for _, w := range []string{"overdue", "history", "王: reopened: it bounced"} {
		if !strings.Contains(table, w) {
			t.Errorf("the table does not show %q:\n%s", w, table)
		}
	}
	for flags, ids := range map[string][]string{"--owner wang": {one, two}, "--owner=": {gaps[2].ID, gaps[3].ID}, "--overdue": {one}, "--due-before 2026-12-01": {one},
		"--owner wang --due-before 2031-01-01": {one, two}, "--older-than 0": nil, "--owner nobody": nil} {
		var list []reconcile.GapReport
		s.json(&list, append([]string{"gaps", "list"}, strings.Fields(flags)...)...)
		got, ok := "", len(list) == len(ids)
		for i := range list {
			got += " " + list[i].ID
			ok = ok && strings.Contains(strings.Join(ids, " "), list[i].ID)
		}
		if !ok {
			t.Errorf("list %s: %s, want %v", flags, got, ids)
		}
	}
	var back reconcile.GapReport
	if s.json(&back, "gaps", "assign", two, "--to", ""); back.Owner != "" || back.DueOn != "" {
		t.Errorf("taken away: %+v", back)
	}
	s.ok("audit", "verify")
}

// runOf is the run that an entry names.
func (h *historyJSON) runOf(t *testing.T) string {
	t.Helper()
	var d struct{ Run string }
	decode(t, string(h.Detail), &d)
	return d.Run
}

func TestGapsThatAreRefused(t *testing.T) {
	s, gaps := newGapsShell(t)
	id := gaps[0].ID
	for _, c := range []struct{ args, want []string }{
		{[]string{"assign", id}, []string{"--to"}},
		{[]string{"assign", "--to", "li"}, []string{"ID is missing"}},
		{[]string{"assign", id, "--to", "li", "--due", "1.12.2026"}, []string{"--due", "YYYY-MM-DD"}},
		{[]string{"assign", id, "--due", "2026-12-01"}, []string{"owner"}},
		{[]string{"assign", id, "ffff", "--to", "li"}, []string{`"ffff"`, "not found", "app gaps list"}},
		{[]string{"assign", id, id[:6], "--to", "li"}, []string{"twice"}},
		{[]string{"assign", id, "--to", "a\x1bb"}, []string{"one line"}},
		{[]string{"comment", id}, []string{"words"}},
		{[]string{"resolve", id}, []string{"reason"}},
		{[]string{"reopen", id, "--reason", "x"}, []string{"open, not resolved"}},
		{[]string{"resolve", id, "--reason", "x", "--as", "run"}, []string{"--as", `"run"`}},
		{[]string{"resolve", id, "--reason", "x", "--as", "a\nb"}, []string{"--as"}},
		{[]string{"list", "--due-before", "soon"}, []string{"--due-before", "YYYY-MM-DD"}},
		{[]string{"list", "--older-than", "-1"}, []string{"--older-than"}},
		{[]string{"list", "--format", "html"}, []string{"csv or xlsx"}},
	} {
		s.fails(c.want, append([]string{"gaps"}, c.args...)...)
	}
	var g gapWithHistory
	if s.json(&g, "gaps", "show", id); len(g.History) != 1 || g.Owner != "" {
		t.Errorf("something was done: %+v", g)
	}
}

func TestAuditLogIsListedAndVerified(t *testing.T) {
	s, gaps := newGapsShell(t)
	s.ok("gaps", "resolve", gaps[0].ID, gaps[1].ID, "--reason", "paid by hand")
	var list []auditEntryJSON
	s.json(&list, "audit", "list", "--actor", "li")
	if len(list) != 2 || list[0].Seq != 7 || list[0].Subject != "gap/"+gaps[1].ID || list[0].Text != "resolved: paid by hand" {
		t.Errorf("by li: %+v", list)
	}
	s.json(&list, "audit", "list", "--subject", "gap/"+gaps[0].ID[:7])
	if len(list) != 2 || list[1].Action != "gap.opened" {
		t.Errorf("of one gap: %+v", list)
	}
	code, out, talk := s.run("audit", "list", "--limit", "3", "--format", "json")
	if decode(t, out, &list); code != exitDone || len(list) != 3 || !strings.Contains(talk, "--after '5'") {
		t.Errorf("a page: %d rows, %s", len(list), talk)
	}
	if s.json(&list, "audit", "list", "--after", "5"); len(list) != 4 || list[3].Action != "run.saved" {
		t.Errorf("the next page: %+v", list)
	}
	if out := s.ok("audit", "list", "--lang", "zh"); !strings.Contains(out, "对象") || !strings.Contains(out, "解决：paid by hand") || !strings.Contains(out, "，有差异") ||
		strings.Contains(out, "opened") || strings.Contains(out, "saved") {
		t.Errorf("in Chinese:\n%s", out)
	}
	if out := s.ok("audit", "verify", "--lang", "zh"); !strings.Contains(out, "7 行，均完好") || !strings.Contains(out, "4 处差异，1 次对账") ||
		!strings.Contains(out, "日志完好") {
		t.Errorf("verified in Chinese:\n%s", out)
	}
	var c auditCheckJSON
	s.json(&c, "audit", "verify")
	if c.Result != "intact" || c.Entries != 7 || c.Gaps != 4 || c.Runs != 1 || !strings.HasPrefix(c.Head, "7:") {
		t.Errorf("verify: %+v", c)
	}
	s.ok("audit", "verify", "--head", c.Head)
	if head := s.ok("audit", "head"); head != c.Head+"\n" {
		t.Errorf("head %q, want %s", head, c.Head)
	}
	for _, head := range []string{"", "7", "7:abc", "x:" + c.Head[2:], "-1:" + c.Head[2:], c.Head + "0"} {
		s.fails([]string{"--head", "SEQ:HASH"}, "audit", "verify", "--head", head)
	}
	s.fails([]string{"--after"}, "audit", "list", "--after", "x")
	if code, out, _ := s.run("audit", "verify", "--head", "8:"+c.Head[2:]); code != exitLook || !strings.Contains(out, "row 8 is missing") {
		t.Errorf("a head of rows that are gone: exit %d\n%s", code, out)
	}
	db := sqliteOf(t, s)
	if _, err := db.Exec("UPDATE gaps SET state = 'open' WHERE id = ?", gaps[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE audit SET actor = 'wang' WHERE seq = 3"); err != nil {
		t.Fatal(err)
	}
	code, out, _ = s.run("audit", "verify")
	for _, w := range []string{"row 3 is not as it was written", "gap/" + gaps[0].ID + " is open, the log says resolved", "broken"} {
		if code != exitLook || !strings.Contains(out, w) {
			t.Errorf("exit %d, not told: %s\n%s", code, w, out)
		}
	}
	code, out, _ = s.run("audit", "verify", "--format", "json")
	if decode(t, out, &c); code != exitLook || c.Result != "broken" || c.Broken.Seq != 3 || c.Broken.What != "changed" || len(c.Differs) != 1 {
		t.Errorf("exit %d, %+v", code, c)
	}
}

// sqliteOf opens the shell's database beside the program.
func sqliteOf(t *testing.T, s *shell) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", strings.TrimPrefix(s.global[3], "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
