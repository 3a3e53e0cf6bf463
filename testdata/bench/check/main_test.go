package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	pgbenchText = "transaction type: a.sql\nlatency average = 6.400 ms\ninitial connection time = 40 ms\ntps = 5000.123 (without initial connection time)\n"
	loadText    = `{"acks_per_s":10000,"refused":0,"io_errors":0,"distinct_acked_total":120,"next_ordinal":120,"latency_ms":{"p50":6,"p99":12},"cpu_cores":{"app":1}}`
	expectCSV   = "transaction_id,type,kind\nP1,payment,missing_local\nR1,refund,amount_mismatch\nC1,payment,carried\nC2,payment,carried\n"
)

func TestGaps(t *testing.T) {
	const p1 = `{"kind":"missing_local","entry_kind":"payment","transaction_id":"P1","state":"open"}`
	const r1 = `{"kind":"amount_mismatch","entry_kind":"refund","transaction_id":"R1","state":"open"}`
	for name, c := range map[string]struct {
		report string
		code   int
		says   string
	}{
		"exact":           {`[{"gaps":[` + p1 + `,` + r1 + `],"carried":[{"kind":"missing_provider","entry_kind":"payment","transaction_id":"C1","state":"carried"}]}]`, 0, ""},
		"one is missing":  {`[{"gaps":[` + p1 + `]}]`, 1, "refund R1: amount_mismatch not found"},
		"one twice":       {`[{"gaps":[` + p1 + `,` + r1 + `,` + p1 + `]}]`, 1, "payment P1: found missing_local"},
		"another kind":    {`[{"gaps":[` + p1 + `,` + strings.Replace(r1, "amount", "status", 1) + `]}]`, 1, "found status_mismatch"},
		"carried is open": {`[{"gaps":[` + p1 + `,` + r1 + `,{"kind":"missing_provider","entry_kind":"payment","transaction_id":"C1","state":"open"}]}]`, 1, "payment C1"},
		"wrongly carried": {`[{"gaps":[` + p1 + `,` + r1 + `],"carried":[{"entry_kind":"payment","transaction_id":"P9"}]}]`, 1, "payment P9: carried"},
		"failed run":      {`[{"account":"a","error":{"what":"x"}}]`, 2, "the run failed"},
		"no run":          {`[]`, 2, "0 runs"},
		"no JSON":         {`gaps`, 2, "report.json"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"expected.csv": expectCSV, "report.json": c.report})
			expect(t, c.code, c.says, "gaps", filepath.Join(dir, "expected.csv"), filepath.Join(dir, "report.json"))
		})
	}
}

func TestRound(t *testing.T) {
	files := map[string]string{"r1-before.txt": pgbenchText, "r1-after.txt": pgbenchText, "r1-load.json": loadText}
	expect(t, 0, "", "round", folder(t, files), "r1")
	files["r1-load.json"] = strings.Replace(loadText, `"refused":0`, `"refused":3`, 1)
	expect(t, 1, "3 refused", "round", folder(t, files), "r1")
	files["r1-after.txt"] = "pgbench: error: connection failed"
	files["r1-load.json"] = loadText
	expect(t, 2, "r1-after.txt", "round", folder(t, files), "r1")
}

func TestPgbenchOutput(t *testing.T) {
	dir := folder(t, map[string]string{"out.txt": pgbenchText})
	r, err := readPgbench(filepath.Join(dir, "out.txt"))
	if err != nil || r.tps != 5000.123 || r.latency != 6.4 {
		t.Fatalf("got %+v, %v; want 5000.123 tps and 6.4 ms", r, err)
	}
}

func TestStored(t *testing.T) {
	dir := folder(t, map[string]string{"r1-load.json": loadText, "r2-load.json": loadText})
	expect(t, 0, "", "stored", dir, "240")
	expect(t, 1, "240 distinct transactions were acknowledged, 239 are stored", "stored", dir, "239")
	expect(t, 1, "0 distinct", "stored", t.TempDir(), "0")
	expect(t, 2, "count", "stored", dir, "many")
}

func TestTimedKeepsTheExitCode(t *testing.T) {
	if code, err := run([]string{"time", "a shell", "sh", "-c", "exit 1"}); code != 1 || err != nil {
		t.Errorf("exit code %d, %v; want 1 and no error", code, err)
	}
	expect(t, 2, "/no/such/program", "time", "nothing", "/no/such/program")
}

func TestWithin(t *testing.T) {
	expect(t, 3, "", "within", "4096", "exit", "sh", "-c", "exit 3")
	expect(t, tooLarge, "may take 1", "within", "1", "large", "sh", "-c", ":")
	expect(t, 2, "no number", "within", "some", "x", "true")
}

func TestUsage(t *testing.T) {
	expect(t, 2, "usage", "gaps")
	expect(t, 2, "unknown", "nonsense", "x")
}

func expect(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	got, err := run(args)
	if got != code || (err != nil) != (says != "") || (err != nil && !strings.Contains(err.Error(), says)) {
		t.Errorf("check %s: exit code %d, %v; want %d and %q", strings.Join(args, " "), got, err, code, says)
	}
}

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
