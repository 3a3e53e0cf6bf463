package cmd

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reconcileSettings is the heading of the page of the daily run whose table is held against the code.
const reconcileSettings = 12

// stripeLeast is the least account, for what stands in one.
const stripeLeast = "accounts:\n  - {name: stripe, provider: stripe, livemode: true, settings: {signing_secrets: [whsec_0f1e2d3c4b5a69788796a5b4c3d2e1f0]}, "

// reconcileKeys are the settings that the page must tell, by the mapping they stand in.
func reconcileKeys(t *testing.T) []string {
	t.Helper()
	keys := map[string]bool{"archive": true}
	add := func(prefix, text string) {
		for _, key := range knownKeys(t, text) {
			keys[prefix+key] = true
		}
	}
	add("reports.", "reports: {nope: 1}\n")
	add("repair.", "repair: {nope: 1}\n")
	add("orders.query.", "orders: {query: {nope: 1}}\n")
	add("banks[].", "banks: [{nope: 1}]\n")
	add("accounts[].fees[].", stripeLeast+"fees: [{nope: 1}]}\n")
	add("accounts[].silence.", stripeLeast+"silence: {nope: 1}}\n")
	add("accounts[].schedule.", stripeLeast+"statements: '{date}.csv', schedule: {nope: 1}}\n")
	for place := range fetchKeys {
		add("accounts[].fetch.", stripeLeast+"fetch: {from: "+place+", nope: 1}}\n")
	}
	for kind := range alertKeys {
		add("alerts[].", "alerts: [{kind: "+kind+", nope: 1}]\n")
	}
	return slices.Sorted(maps.Keys(keys))
}

// The page has every setting of the daily run, and no other.
func TestReconcilePageTellsEverySetting(t *testing.T) {
	want := reconcileKeys(t)
	for _, ending := range languages {
		if told := slices.Sorted(maps.Keys(pageTable(t, readme(t, "docs/reconcile"+ending), reconcileSettings))); !slices.Equal(told, want) {
			t.Errorf("docs/reconcile%s tells\n%q\nwant\n%q", ending, told, want)
		}
	}
}

// kitWith is a folder with these files and the accounts of the kit that the documents' examples name.
func kitWith(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := writeFiles(t, files)
	for _, account := range []string{"adyen", "demopay", "wechatpay"} {
		from, err := filepath.Abs(filepath.Join(kit, account))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, filepath.Join(dir, account)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The page's examples are there to be pasted: with the accounts and files that they name they load.
func TestReconcilePageExamplesLoad(t *testing.T) {
	settings := map[string]string{"wechatpay.json": "wechatpay", "demopay.json": "demopay"}
	for _, ending := range languages {
		blocks := strings.Split(readme(t, "docs/reconcile"+ending), "```yaml\n")[1:]
		if len(blocks) != 4 {
			t.Fatalf("docs/reconcile%s: %d examples, want 4", ending, len(blocks))
		}
		for i, block := range blocks {
			text, _, _ := strings.Cut(block, "```")
			if strings.HasPrefix(text, "banks:") {
				text = "accounts: [{name: adyen, provider: adyen, settings_file: adyen/config.json}]\n" + text
			}
			for file, provider := range settings {
				text = strings.ReplaceAll(text, "settings_file: "+file, "settings_file: "+provider+"/config.json")
			}
			dir := kitWith(t, map[string]string{"app.yaml": text, "sftp-password": "p", "smtp-password": "p", "feishu-url": "https://open.feishu.cn/hook/x", "feishu-secret": "s"})
			c, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(map[string]string{"STRIPE_SECRET": "whsec_0f1e2d3c4b5a69788796a5b4c3d2e1f0"}))
			if err != nil {
				t.Errorf("docs/reconcile%s, example %d: %v", ending, i+1, err)
				continue
			}
			if got := []int{len(c.Banks), len(c.Alerts), len(c.Accounts)}; got[0]+got[1]+got[2] == 0 {
				t.Errorf("docs/reconcile%s, example %d configures nothing", ending, i+1)
			}
		}
	}
}

// So does the README's example as a whole, with the files that it names.
func TestReadmeWholeExampleLoads(t *testing.T) {
	for _, ending := range languages {
		_, text, _ := strings.Cut(readme(t, "README"+ending), "```yaml\nlisten:")
		text, _, _ = strings.Cut(text, "```")
		text = strings.Replace("listen:"+text, "settings_file: wechatpay.json", "settings_file: wechatpay/config.json", 1)
		dir := kitWith(t, map[string]string{"app.yaml": text, "shop-key-new": strings.Repeat("n", 32), "queue-password": "p"})
		c, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(map[string]string{"SHOP_KEY": strings.Repeat("k", 32), "STRIPE_SECRET": "whsec_0f1e2d3c4b5a69788796a5b4c3d2e1f0"}))
		if err != nil {
			t.Errorf("README%s: %v", ending, err)
			continue
		}
		if len(c.Banks) != 1 || len(c.Alerts) != 1 || c.Approvals != 1 || c.Accounts[0].Schedule == nil || c.Inquiries.After == 0 || len(c.Accounts[0].Fees) != 1 {
			t.Errorf("README%s configures %+v", ending, c)
		}
	}
}

// A word of a command line, with or without quotes.
var shellWord = regexp.MustCompile(`"[^"]*"|\S+`)

// The page's walk gives what the table under it says.
func TestReconcilePageWalk(t *testing.T) {
	testdata, err := filepath.Abs(kit)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(readme(t, "docs/reconcile.md"), "```sh\n")
	walk, _, _ := strings.Cut(text, "```")
	dir := t.TempDir()
	if err := os.Symlink(testdata, filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	env := map[string]string{"APP_CONFIG": "testdata/app.yaml", "APP_USER": "wang"}
	var got []result
	for line := range strings.Lines(walk) {
		words := shellWord.FindAllString(line, -1)
		if len(words) == 0 || words[0] != "app" {
			continue
		}
		for i := range words {
			words[i] = strings.Trim(words[i], `"`)
		}
		r := runApp(t, env, words[1:]...)
		if r.code == exitFailed {
			t.Fatalf("%s%s%s", line, r.out, r.err)
		}
		got = append(got, r)
	}
	want := []struct {
		code int
		text string
	}{
		{exitDone, "orders: 13 new"}, {exitDone, "transactions: 7 new"}, {exitDone, "20 as expected"},
		{exitLook, "4 gaps"}, {exitDone, "owner        wang"}, {exitDone, "d25bcc9a"}, {exitDone, "2026-12-04"},
		{exitLook, "not repairable"}, {exitLook, "3 gaps"}, {exitDone, "applied"}, {exitDone, "resolved"}, {exitDone, "resolution   order corrected by hand, ticket 4712"},
		{exitDone, ""}, {exitDone, "no decisions"}, {exitLook, ""}, {exitLook, "13 gaps"}, {exitDone, "+175.98"}, {exitDone, "balanced"},
		{exitDone, "the log holds, and all is as it says"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d commands, want %d", len(got), len(want))
	}
	for i, w := range want {
		if got[i].code != w.code || !strings.Contains(got[i].out, w.text) {
			t.Errorf("command %d: exit %d, want %d and %q:\n%s%s", i+1, got[i].code, w.code, w.text, got[i].out, got[i].err)
		}
	}
	page, err := os.ReadFile("report.html")
	if err != nil || !strings.Contains(string(page), "差异") {
		t.Errorf("no report in Chinese (%v)", err)
	}
}

// A command within the text, and its flags.
var (
	inlineCommand = regexp.MustCompile("`(app [^`]+)`")
	inlineFlag    = regexp.MustCompile(`--[a-z-]+`)
)

// Every command that the page names is there, with its flags.
func TestReconcilePageCommandsExist(t *testing.T) {
	for _, ending := range languages {
		all := inlineCommand.FindAllStringSubmatch(readme(t, "docs/reconcile"+ending), -1)
		if len(all) < 20 {
			t.Fatalf("docs/reconcile%s: %d commands found", ending, len(all))
		}
		for _, found := range all {
			words := strings.Fields(found[1])[1:]
			if n := slices.IndexFunc(words, func(w string) bool { return strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" }); n >= 0 {
				words = words[:n]
			}
			help := runApp(t, nil, append(words, "--help")...)
			if !strings.Contains(help.out, "  app "+strings.Join(words, " ")) {
				t.Errorf("docs/reconcile%s: there is no %q", ending, found[1])
			}
			for _, flag := range inlineFlag.FindAllString(found[1], -1) {
				if !strings.Contains(help.out, flag) {
					t.Errorf("docs/reconcile%s: %q: there is no %s", ending, found[1], flag)
				}
			}
		}
	}
}
