package cmd

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paybook/callback/providertest/acmekit"
	"paybook/callback/providertest/acmepay"
)

// TestNewProvider: a provider is one folder and one line. With its line in the list, a provider that no other file knows of is
// configured, receives, is reconciled and explained.
func TestNewProvider(t *testing.T) {
	providers[acmepay.Name] = open(acmepay.New) // the line
	t.Cleanup(func() { delete(providers, acmepay.Name) })

	kit := acmekit.Make(t)
	dir := writeFiles(t, map[string]string{"app.yaml": "accounts:\n- name: acmepay\n  provider: acmepay\n  settings_file: " + filepath.Join(kit, "config.json") +
		"\n  statements: " + filepath.Join(kit, "statements", "acme_{date}.csv") + "\n"})
	env := map[string]string{"APP_CONFIG": filepath.Join(dir, "app.yaml"), "DATABASE_URL": "sqlite:" + filepath.Join(dir, "app.db")}
	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"import", "orders", filepath.Join(kit, "orders.json")}, exitDone, ""},
		{[]string{"replay", filepath.Join(kit, "callbacks")}, exitDone, ""},
		{[]string{"orders", "show", "A-1"}, exitDone, "part_refunded"},
		{[]string{"reconcile", "--date", "2026-11-27"}, exitLook, "missing_local"},
		{[]string{"doctor", "--callback", filepath.Join(kit, "callbacks", "01_paid.json")}, exitDone, "payment.succeeded, transaction pay_1"},
		{[]string{"doctor", "--callback", filepath.Join(kit, "callbacks", "05_forged.json")}, exitLook, "Acme-Signature does not fit the body"},
	} {
		got := runApp(t, env, step.args...)
		if got.code != step.code || !strings.Contains(got.out, step.want) {
			t.Fatalf("app %s: exit %d, want %d and %q\n%s%s", strings.Join(step.args, " "), got.code, step.code, step.want, got.out, got.err)
		}
	}
	got := runApp(t, env, "reconcile", "--date", "2026-11-27", "--format", "json")
	var reports []struct {
		Compared, Matched int
		Gaps              []struct {
			TransactionID string `json:"transaction_id"`
		}
	}
	if err := json.Unmarshal([]byte(got.out), &reports); err != nil {
		t.Fatalf("%v\n%s", err, got.out)
	}
	if r := reports[0]; r.Compared != 3 || r.Matched != 2 || len(r.Gaps) != 1 || r.Gaps[0].TransactionID != "pay_2" {
		t.Errorf("%+v, want 3 compared, 2 matched and pay_2 missing", r)
	}
}

// TestExampleIsAProvider: the example keeps to what a provider's folder may import.
func TestExampleIsAProvider(t *testing.T) {
	const path = "paybook/callback/providertest/acmepay"
	list := goList(t)
	i := slices.IndexFunc(list, func(p listed) bool { return p.ImportPath == path })
	if i < 0 {
		t.Fatalf("%s is not there", path)
	}
	for _, imported := range list[i].Imports {
		if strings.HasPrefix(imported, "paybook/") && !slices.Contains(arrows["callback/PROVIDER"], kindOf(imported)) {
			t.Errorf("%s imports %s, which no provider's folder may", path, imported)
		}
	}
}
