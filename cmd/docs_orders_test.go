package cmd

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"paybook/ledger/shop"
)

// ordersPage is the page of orders, stock, queue and Redis in one of its languages.
func ordersPage(t *testing.T, ending string) string {
	t.Helper()
	return readme(t, "docs/orders"+ending)
}

// pageTable are the rows of the first table behind a heading (counted from 1), by their first cell without its marks.
func pageTable(t *testing.T, text string, heading int) map[string][]string {
	t.Helper()
	p := page(strings.Split(text, "\n## "))
	if heading >= len(p) {
		t.Fatalf("%d headings, want %d", len(p)-1, heading)
	}
	rows := map[string][]string{}
	for _, row := range p.rows(heading) {
		rows[strings.Trim(row[0], " `")] = row
	}
	return rows
}

// The headings of the page whose tables are held against the code.
const (
	ordersSettings = 7
	ordersProblems = 8
)

// knownKeys asks the configuration for the keys of one of its mappings: it names them to whoever writes an unknown one.
func knownKeys(t *testing.T, text string) []string {
	t.Helper()
	dir := writeFiles(t, map[string]string{"app.yaml": text})
	_, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(nil))
	if err == nil {
		t.Fatalf("%s is taken", text)
	}
	_, keys, told := strings.Cut(err.Error(), "the keys here are ")
	if !told {
		t.Fatal(err)
	}
	return strings.Split(keys, ", ")
}

// The page has every setting of the shop, Redis and the queue, and no other.
func TestOrdersPageTellsEverySetting(t *testing.T) {
	want := []string{"api_keys"}
	for prefix, text := range map[string]string{"api_keys[].": "api_keys: [{nope: 1}]\n", "orders.": "orders: {nope: 1}\n", "redis.": "redis: {nope: 1}\n", "queue.": "queue: {nope: 1}\n"} {
		for _, key := range knownKeys(t, text) {
			want = append(want, prefix+key)
		}
	}
	slices.Sort(want)
	for _, ending := range languages {
		text := ordersPage(t, ending)
		if told := slices.Sorted(maps.Keys(pageTable(t, text, ordersSettings))); !slices.Equal(told, want) {
			t.Errorf("docs/orders%s tells\n%q\nwant\n%q", ending, told, want)
		}
		for _, scope := range shop.Scopes() {
			if !strings.Contains(text, "`"+string(scope)+"`") {
				t.Errorf("docs/orders%s does not tell the scope %s", ending, scope)
			}
		}
		example := readmeSettings(t, "README"+ending)
		for _, key := range want {
			if last := key[strings.LastIndex(key, ".")+1:]; !strings.Contains(example, last+":") {
				t.Errorf("README%s: its example does not show %s", ending, key)
			}
		}
	}
}

// readmeSettings is what the README's example configures of these.
func readmeSettings(t *testing.T, file string) string {
	t.Helper()
	all := readme(t, file)
	at := strings.LastIndex(all, "\napi_keys:") // the first is the least that starts
	if at < 0 {
		t.Fatalf("%s has no example of api_keys", file)
	}
	text, _, closed := strings.Cut(all[at+1:], "```")
	if !closed {
		t.Fatalf("%s: the example does not end", file)
	}
	return text
}

// The README's example is there to be pasted: it loads.
func TestReadmeSettingsLoad(t *testing.T) {
	for _, ending := range languages {
		dir := writeFiles(t, map[string]string{"app.yaml": readmeSettings(t, "README"+ending), "shop-key-new": strings.Repeat("n", 32), "queue-password": "p"})
		c, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(map[string]string{"SHOP_KEY": strings.Repeat("k", 32)}))
		if err != nil {
			t.Errorf("README%s: %v", ending, err)
			continue
		}
		if len(c.APIKeys) != 1 || len(c.APIKeys[0].Secrets) != 2 || c.Redis.URL == "" || len(c.Flash) != 1 || c.Queue == nil || len(c.warnings()) != 0 {
			t.Errorf("README%s configures %+v", ending, c)
		}
	}
}

// So does the least that starts, without any file beside it.
func TestReadmeLeastSettingsLoad(t *testing.T) {
	for _, ending := range languages {
		blocks := strings.Split(readme(t, "README"+ending), "```yaml\n")
		if len(blocks) != 3 {
			t.Fatalf("README%s: %d examples of the configuration, want 2", ending, len(blocks)-1)
		}
		text, _, _ := strings.Cut(blocks[1], "```")
		dir := writeFiles(t, map[string]string{"app.yaml": text})
		c, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(map[string]string{"SHOP_KEY": strings.Repeat("k", 48), "STRIPE_SECRET": "whsec_0f1e2d3c4b5a69788796a5b4c3d2e1f0"}))
		if err != nil {
			t.Errorf("README%s: %v", ending, err)
			continue
		}
		if len(c.Accounts) != 1 || len(c.APIKeys) != 1 || len(c.warnings()) != 0 || len(c.Accounts[0].warnings()) != 0 {
			t.Errorf("README%s configures %+v", ending, c)
		}
	}
}

// problemCode is a code in the shop's source, with the status that its remark tells.
var problemCode = regexp.MustCompile(`(?m)^\tCode\w+ += "(\w+)" +// ([0-9]{3})`)

// The page has every code of a problem with its status, and no other.
func TestOrdersPageTellsEveryProblem(t *testing.T) {
	source, err := os.ReadFile("../ledger/shop/problem.go")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, found := range problemCode.FindAllStringSubmatch(string(source), -1) {
		want[found[1]] = found[2]
	}
	if n := strings.Count(string(source), "\tCode") - strings.Count(string(source), "\tCode "); len(want) == 0 || len(want) != n {
		t.Fatalf("%d codes found of %d", len(want), n)
	}
	for _, ending := range languages {
		told := map[string]string{}
		for code, row := range pageTable(t, ordersPage(t, ending), ordersProblems) {
			told[code] = strings.TrimSpace(row[1])
		}
		if !maps.Equal(told, want) {
			t.Errorf("docs/orders%s tells\n%v\nwant\n%v", ending, told, want)
		}
	}
}

// The README's walk through the life of an order does what the table under it says.
func TestReadmeWalkOfAnOrder(t *testing.T) {
	for _, program := range []string{"curl", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s here", program)
		}
	}
	_, text, _ := strings.Cut(readme(t, "README.md"), "\n## The life of an order\n")
	blocks := strings.Split(text, "```sh\n")
	if len(blocks) < 3 {
		t.Fatal("the walk is not there")
	}
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "app.db")
	env := map[string]string{"DATABASE_URL": dsn}
	if !strings.Contains(blocks[1], `printf 'sku,quantity\nTEA-1,3\n' | app import stock -`) {
		t.Fatalf("another stock than this test's:\n%s", blocks[1])
	}
	stock := filepath.Join(writeFiles(t, map[string]string{"stock.csv": "sku,quantity\nTEA-1,3\n"}), "stock.csv")
	if got := runApp(t, env, "import", "stock", stock); got.code != exitDone {
		t.Fatal(got.err)
	}
	s := serve(t, env)
	script, _, _ := strings.Cut(blocks[2], "```")
	const address = "SHOP=http://127.0.0.1:8080\n"
	if !strings.Contains(script, address) {
		t.Fatalf("no %s", address)
	}
	command := exec.CommandContext(t.Context(), "sh", "-euc", strings.Replace(script, address, "SHOP="+s.url+"\n", 1))
	raw, err := command.CombinedOutput()
	out := string(raw)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if made, replayed := strings.Count(out, "HTTP/1.1 201 "), strings.Count(out, "Idempotency-Replayed: true"); made != 5 || replayed != 4 {
		t.Errorf("%d times 201 with %d replays, want 5 and 4", made, replayed)
	}
	rest := out
	for _, want := range []string{`"code":"key_reused"`, `"available":1,"reserved":2`, `"status":"paying","version":2`, `"code":"stale_version"`,
		`"status":"closed"`, `"available":3,"reserved":0`, `"event":"order.cancel"`} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %s, or not in this order:\n%s", want, out)
		}
		rest = after
	}
}

// A remark behind a command is typed with it, and zsh takes it for words.
func TestCommandsHaveNoRemarks(t *testing.T) {
	everyDocument(t, func(t *testing.T, file, text string) {
		code := ""
		for line := range strings.Lines(text) {
			fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
			switch {
			case isFence:
				code = fence
			case code == "sh" && strings.Contains(line, "#"), code == "" && strings.HasPrefix(line, "    make ") && strings.Contains(line, "#"):
				t.Errorf("%s: %s", file, line)
			}
		}
	})
}
