package cmd

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// TestReconcileInterrupted: a signal in the middle of a run leaves nothing of it, neither in the book nor where its report was to go; the
// next run gives what it would have given anyway.
func TestReconcileInterrupted(t *testing.T) {
	for _, c := range []struct {
		name   string
		signal syscall.Signal
	}{{"interrupt", syscall.SIGINT}, {"terminate", syscall.SIGTERM}, {"kill", syscall.SIGKILL}} {
		t.Run(c.name, func(t *testing.T) {
			dsn := "sqlite:" + filepath.Join(t.TempDir(), "app.db")
			dir := writeFiles(t, map[string]string{"app.yaml": pausedConfig, "long.csv": feesStatement()})
			args := func(dsn string, more ...string) []string {
				return append([]string{"reconcile", "--quiet", "--config", filepath.Join(dir, "app.yaml"), "--database", dsn, "--account", "shop", "--date",
					"2026-11-28", "--statement", filepath.Join(dir, "long.csv"), "--format", "csv"}, more...)
			}
			b := ledgertest.Open(t, dsn)
			out := filepath.Join(t.TempDir(), "report.csv")
			first := exec.Command(os.Args[0], args(dsn, "--output", out)...)
			first.Env = append(os.Environ(), asApp+"=1s")
			var talk bytes.Buffer
			first.Stderr = &talk
			if err := first.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = first.Process.Kill() })
			pauseAtWork(t, dsn, b, first)
			signalTo(t, first, c.signal)
			signalTo(t, first, syscall.SIGCONT)
			_ = first.Wait() // how it ended is its exit code's to say

			if c.signal != syscall.SIGKILL && (first.ProcessState.ExitCode() != exitFailed || talk.String() != "app: stopped by a signal; nothing is half-written\n") {
				t.Errorf("exit %d, %q", first.ProcessState.ExitCode(), talk.String())
			}
			left, err := os.ReadDir(filepath.Dir(out))
			if c.signal != syscall.SIGKILL && (err != nil || len(left) > 0) || exists(out) {
				t.Errorf("of the report is left: %v, %v", left, err)
			}
			gaps, _, err := b.Gaps(t.Context(), ledger.GapFilter{})
			runs, _, runsErr := b.Runs(t.Context(), ledger.RunFilter{})
			if err != nil || runsErr != nil || len(gaps)+len(runs) > 0 {
				t.Errorf("of the run are left: gaps %v, runs %v; %v %v", gaps, runs, err, runsErr)
			}
			again := whenFree(t, func() result { return runApp(t, nil, args(dsn)...) })
			fresh := runApp(t, nil, args("sqlite:"+filepath.Join(t.TempDir(), "fresh.db"))...)
			if again.code != exitLook || again != fresh {
				t.Errorf("the next run: %+v\nin a book without the first: %+v", again, fresh)
			}
		})
	}
}

// feesStatement takes a while to read, and little to settle: all but one of its rows are fees, which are compared with nothing.
func feesStatement() string {
	var b strings.Builder
	b.WriteString(statementHeader + "mine,O1,payment,20.00,CNY,succeeded,2026-11-28 10:00:00\n")
	for i := range 150_000 {
		fmt.Fprintf(&b, "fee%d,,fee,0.01,CNY,succeeded,2026-11-28 10:00:00\n", i)
	}
	return b.String()
}

// whenFree does what a killed process holds a lease of, as soon as that has ended.
func whenFree(t *testing.T, do func() result) (r result) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if r = do(); !strings.Contains(r.err, "busy: the same run is under way") {
			break
		}
	}
	return r
}

// TestDryRunWritesNothing: before and after, every row of every table is the same, whatever the report is written as.
func TestDryRunWritesNothing(t *testing.T) {
	s := replayedShop(t, "stripe", "demopay")
	before := dump(t, s)
	for _, format := range reportFormats {
		code, out, talk := s.run("reconcile", "--date", "2026-11-27", "--account", "stripe", "--account", "demopay", "--dry-run", "--format", format)
		if code != exitLook || out == "" {
			t.Errorf("%s: exit %d, %d bytes, %s", format, code, len(out), talk)
		}
		if after := dump(t, s); after != before {
			t.Errorf("%s: a dry run has written\n%s\nwhere there was\n%s", format, after, before)
		}
	}
	if code, _, talk := s.run("reconcile", "--date", "2026-11-27", "--account", "stripe"); code != exitLook || dump(t, s) == before {
		t.Errorf("a run that is none writes nothing either: exit %d, %s", code, talk)
	}
}

// dump is every row of every table of the shell's database.
func dump(t *testing.T, s *shell) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.global[slices.Index(s.global, "--database")+1], "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out strings.Builder
	for _, table := range texts(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
		fmt.Fprintf(&out, "%s:\n%s\n", table, strings.Join(texts(t, db, `SELECT * FROM "`+table+`" ORDER BY 1, 2`), "\n"))
	}
	return out.String()
}

// texts are a query's rows, each as text.
func texts(t *testing.T, db *sql.DB, query string) (list []string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var row []string
		for _, c := range cells {
			row = append(row, c.String)
		}
		list = append(list, strings.Join(row, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestReportFormats: each format on standard output and in a file is the same, but for the mark of Chinese CSV in a file, and the same run after run.
func TestReportFormats(t *testing.T) {
	s := replayedShop(t, "stripe")
	args := []string{"reconcile", "--date", "2026-11-27", "--account", "stripe", "--format"}
	if code, _, talk := s.run(append(args, "json")...); code != exitLook {
		t.Fatal(code, talk)
	}
	for _, format := range reportFormats {
		for _, l := range []string{"en", "zh"} {
			_, first, _ := s.run(append(args, format, "--lang", l)...)
			file := filepath.Join(t.TempDir(), "report")
			code, out, talk := s.run(append(args, format, "--lang", l, "--output", file)...)
			text, err := os.ReadFile(file)
			if code != exitLook || out != "" || err != nil || strings.TrimPrefix(string(text), "\uFEFF") != first || first == "" || !strings.Contains(talk, "written to") {
				t.Errorf("%s, %s: exit %d, %d bytes in the file, %d before, %v, %s", format, l, code, len(text), len(first), err, talk)
			}
			if han := strings.Contains(first, "账簿"); format != "xlsx" && han != (l == "zh" && format != "json") {
				t.Errorf("%s, %s: Chinese %v", format, l, han)
			}
		}
	}
}

// TestLanguage: --lang comes first, then reports.lang, then APP_LANG; JSON is English always.
func TestLanguage(t *testing.T) {
	s := replayedShop(t, "stripe")
	if code, out, talk := s.run("reconcile", "--date", "2026-11-27", "--account", "stripe", "--format", "json", "--lang", "zh"); code != exitLook || strings.Contains(out, "账") {
		t.Fatalf("exit %d, %s%s", code, out, talk)
	}
	kitYAML, err := filepath.Abs(s.global[1])
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(kitYAML)
	if err != nil {
		t.Fatal(err)
	}
	chinese := strings.ReplaceAll(string(text), "settings_file: ", "settings_file: "+filepath.Dir(kitYAML)+"/") + "\nreports: {lang: zh}\n"
	dir := writeFiles(t, map[string]string{"zh.yaml": chinese})
	database := s.global[slices.Index(s.global, "--database")+1]
	for _, c := range []struct {
		env  map[string]string
		args []string
		want lang.Language
	}{
		{nil, nil, lang.English},
		{map[string]string{"APP_LANG": "zh_CN.UTF-8"}, nil, lang.Chinese},
		{map[string]string{"APP_LANG": "zh"}, []string{"--lang", "en"}, lang.English},
		{map[string]string{"APP_LANG": "en", "APP_REPORTS_LANG": "zh"}, nil, lang.Chinese},
		{map[string]string{"APP_LANG": "en", "APP_CONFIG": filepath.Join(dir, "zh.yaml")}, nil, lang.Chinese},
		{map[string]string{"APP_CONFIG": filepath.Join(dir, "zh.yaml")}, []string{"--lang", "en-GB"}, lang.English},
	} {
		if c.env["APP_CONFIG"] == "" {
			c.args = append(c.args, "--config", kitYAML)
		}
		for _, command := range [][]string{{"gaps", "list"}, {"gaps", "list", "--format", "csv"}} {
			got := runApp(t, c.env, append(append(command, "--database", database), c.args...)...)
			if got.code != exitDone || strings.Contains(got.out, "账簿缺失") != (c.want == lang.Chinese) || strings.Contains(got.out, "missing_local") == (c.want == lang.Chinese) {
				t.Errorf("%v, %v: exit %d, want %s:\n%s%s", c.env, c.args, got.code, c.want, got.out, got.err)
			}
		}
	}
	for env, want := range map[string]string{"APP_LANG": "environment APP_LANG", "APP_REPORTS_LANG": "environment APP_REPORTS_LANG: reports.lang"} {
		if got := runApp(t, map[string]string{env: "de"}, "gaps", "list", "--config", kitYAML, "--database", database); got.code != exitFailed || !strings.Contains(got.err, want) {
			t.Errorf("%s=de: %+v", env, got)
		}
	}
}

// TestGapsInChinese: a gap that is kept is shown with its reason in Chinese, and a workbook made in Chinese can be applied.
func TestGapsInChinese(t *testing.T) {
	s := replayedShop(t, "stripe")
	s.runJSON(exitLook, "--date", "2026-11-27", "--account", "stripe")
	var gaps []reconcile.GapReport
	s.json(&gaps, "gaps", "list", "--kind", "missing_local")
	if len(gaps) == 0 {
		t.Fatal("no gaps")
	}
	shown := s.ok("gaps", "show", gaps[0].ID, "--lang", "zh")
	for _, want := range []string{"账簿缺失", "回调从未到达，或被拒收", "下一步", gaps[0].TransactionID, gaps[0].Next, "未决"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "never arrived") || !strings.Contains(s.ok("gaps", "show", gaps[0].ID), "never arrived") {
		t.Errorf("in Chinese:\n%s", shown)
	}
	file := filepath.Join(t.TempDir(), "gaps.xlsx")
	s.ok("gaps", "list", "--format", "xlsx", "--output", file, "--lang", "zh")
	fillGap(t, file, "账簿缺失", map[string]string{reconcile.ColumnDecision: "assign", reconcile.ColumnOwner: "王", reconcile.ColumnDueOn: "2026-12-31"})
	s.ok("gaps", "apply", file)
	s.json(&gaps, "gaps", "list", "--kind", "missing_local")
	if gaps[len(gaps)-1].Owner+gaps[0].Owner == "" || !slices.ContainsFunc(gaps, func(g reconcile.GapReport) bool { return g.Owner == "王" && g.DueOn == "2026-12-31" }) {
		t.Errorf("applied: %+v", gaps)
	}
}

// fillGap writes into the first gap's row of a sheet, as a person would.
func fillGap(t *testing.T, path, sheet string, cells map[string]string) {
	t.Helper()
	f, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := f.GetRows(sheet)
	if err != nil || len(rows) < 2 {
		t.Fatalf("%d rows of %s, %v", len(rows), sheet, err)
	}
	for title, value := range cells {
		at, err := excelize.CoordinatesToCellName(slices.Index(rows[0], title)+1, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.SetCellStr(sheet, at, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
}
