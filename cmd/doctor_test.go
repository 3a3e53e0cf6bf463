package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
)

// findings runs the doctor at a time of the test's choice and returns its findings as "status check: detail" lines.
func findings(t *testing.T, at time.Time, env map[string]string) (int, string) {
	t.Helper()
	var out, errw buffer
	results := &checkedWriter{w: &out}
	a := &app{in: strings.NewReader(""), out: results, err: &errw, now: func() time.Time { return at }, env: lookup(env), environ: environ(env)}
	code := a.run(t.Context(), []string{"doctor", "--format", "json"}, results)
	var checks []check
	if err := json.Unmarshal([]byte(out.String()), &checks); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), errw.String())
	}
	var lines strings.Builder
	for _, c := range checks {
		lines.WriteString(string(c.Status) + " " + c.Name + ": " + c.Detail + "\n")
	}
	return code, lines.String()
}

func TestDoctor(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		env := map[string]string{"APP_CONFIG": kitConfig, "DATABASE_URL": dsn}
		if got := runApp(t, env, "migrate", "up"); got.code != 0 {
			t.Fatal(got.err)
		}
		code, out := findings(t, time.Now(), env)
		for _, want := range []string{"ok configuration", "ok account wechatpay", "ok certificate: wechatpay", "ok statements: stripe", "ok database", "ok schema: up to date", "ok clock"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if code != exitDone {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"bad.yaml":    "lisen: x\n",
		"none.yaml":   "listen: 127.0.0.1:0\n",
		"folder.yaml": okAccount("a") + "  statements: nosuch/*{date}*\n",
		"open.yaml":   okAccount("a") + "  statements: '*{date}*'\n",
		"secret.yaml": stripeAccount + "  settings: {signing_secrets: ['file:secret']}\n",
		"secret":      "whsec_CANARY",
	})
	for file, mode := range map[string]os.FileMode{"open.yaml": 0o666, "secret": 0o644} {
		if err := os.Chmod(filepath.Join(dir, file), mode); err != nil {
			t.Fatal(err)
		}
	}
	empty := "sqlite:" + filepath.Join(dir, "empty.db")
	if err := os.WriteFile(filepath.Join(dir, "empty.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config, database string
		at               time.Time
		code             int
		want             string
	}{
		"no accounts":       {"none.yaml", "", time.Now(), exitLook, "failed configuration: no accounts configured in |none.yaml: write them there"},
		"unknown key":       {"bad.yaml", "", time.Now(), exitLook, "failed configuration: |bad.yaml:1: lisen: unknown key"},
		"no such file":      {"nosuch.yaml", "", time.Now(), exitLook, "failed configuration: |nosuch.yaml"},
		"no folder":         {"folder.yaml", "", time.Now(), exitLook, "failed statements: a: |nosuch"},
		"open file":         {"open.yaml", "", time.Now(), exitDone, "warning permissions: configuration file |others may change it|chmod 600"},
		"open secret":       {"secret.yaml", "", time.Now(), exitDone, "warning permissions: secret file |everybody may read it"},
		"no database yet":   {"secret.yaml", "sqlite:" + dir + "/new.db", time.Now(), exitDone, "warning database: |new.db is not there yet"},
		"old schema":        {"secret.yaml", empty, time.Now(), exitLook, "failed database: |app migrate up"},
		"database away":     {"secret.yaml", "postgres://me:CANARY@127.0.0.1:1/app", time.Now(), exitLook, "failed database: |127.0.0.1"},
		"clock at 1970":     {"secret.yaml", "", time.Unix(0, 0), exitLook, "failed clock: |1970"},
		"certificate ended": {kitConfig, "", time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), exitLook, "failed certificate: wechatpay|expired on 2029-12-31"},
		"certificate ends":  {kitConfig, "", time.Date(2029, 12, 20, 0, 0, 0, 0, time.UTC), exitDone, "warning certificate: wechatpay|days"},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"APP_CONFIG": c.config, "DATABASE_URL": c.database}
			if c.config != kitConfig {
				env["APP_CONFIG"] = filepath.Join(dir, c.config)
			}
			if c.database == "" {
				env["DATABASE_URL"] = "sqlite:" + filepath.Join(t.TempDir(), "none.db")
			}
			code, out := findings(t, c.at, env)
			if code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			for _, part := range strings.Split(c.want, "|") {
				if !strings.Contains(out, part) {
					t.Errorf("no %q in\n%s", part, out)
				}
			}
			if strings.Contains(out, "CANARY") {
				t.Errorf("a secret is shown:\n%s", out)
			}
		})
	}
}

func TestDoctorGathersOpenFiles(t *testing.T) {
	dir := writeFiles(t, map[string]string{"app.yaml": stripeAccount + "  settings: {signing_secrets: ['file:secret']}\n", "secret": "whsec_x"})
	for _, file := range []string{"app.yaml", "secret"} {
		if err := os.Chmod(filepath.Join(dir, file), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, out := findings(t, time.Now(), map[string]string{"APP_CONFIG": filepath.Join(dir, "app.yaml"), "DATABASE_URL": "sqlite:" + filepath.Join(dir, "none.db")})
	both := "chmod 600 " + filepath.Join(dir, "app.yaml") + " " + filepath.Join(dir, "secret")
	if strings.Count(out, "permissions") != 1 || !strings.Contains(out, "and 1 more like it: "+both) {
		t.Errorf("got\n%s", out)
	}
}

func TestDoctorTable(t *testing.T) {
	dir := writeFiles(t, map[string]string{"folder.yaml": okAccount("a") + "  statements: nosuch/*{date}*\n"})
	got := runApp(t, map[string]string{"DATABASE_URL": "sqlite:" + filepath.Join(dir, "none.db")}, "doctor", "--config", filepath.Join(dir, "folder.yaml"))
	if got.code != exitLook || got.err != "" {
		t.Errorf("exit %d, %q; want 1 and nothing more to say", got.code, got.err)
	}
	for _, sign := range []string{"✔", "✘", "!"} {
		if !strings.Contains(got.out, sign) {
			t.Errorf("no %s in\n%s", sign, got.out)
		}
	}
	if strings.Contains(got.out, "\x1b") {
		t.Error("colours where there is no terminal")
	}
}
