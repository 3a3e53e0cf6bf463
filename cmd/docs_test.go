package cmd

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"paybook/callback/adyen"
	"paybook/callback/alipay"
	"paybook/callback/generic"
	"paybook/callback/paypal"
	"paybook/callback/stripe"
	"paybook/callback/unionpay"
	"paybook/callback/wechatpay"
	"paybook/models"
)

// documented are the providers with a page of their own, in docs/providers, and their settings.
var documented = map[string]reflect.Type{
	adyen.Name:     reflect.TypeFor[adyen.Config](),
	alipay.Name:    reflect.TypeFor[alipay.Config](),
	paypal.Name:    reflect.TypeFor[paypal.Config](),
	stripe.Name:    reflect.TypeFor[stripe.Config](),
	unionpay.Name:  reflect.TypeFor[unionpay.Config](),
	wechatpay.Name: reflect.TypeFor[wechatpay.Config](),
}

const docs = "../docs/"

// The endings of a page in its two languages.
var languages = []string{".md", ".zh-CN.md"}

// The sections of a provider's page that are looked into, from 1.
const (
	sectionExample  = 1
	sectionSettings = 3
	sectionChecks   = 4
	sectionEvents   = 6
	sectionTry      = 9
)

// page is the text behind each heading of the second level; what is above the first is number 0.
type page []string

func readPage(t *testing.T, name string) page {
	t.Helper()
	raw, err := os.ReadFile(docs + "providers/" + name)
	if err != nil {
		t.Fatal(err)
	}
	p := page(strings.Split(string(raw), "\n## "))
	for i := 1; i < len(p); i++ {
		if !strings.HasPrefix(p[i], strconv.Itoa(i)+". ") {
			t.Fatalf("%s: section %d begins with %.20q", name, i, p[i])
		}
	}
	if len(p)-1 != sectionTry {
		t.Fatalf("%s: %d sections, want %d", name, len(p)-1, sectionTry)
	}
	return p
}

// rows are the rows of a section's first table, without its header, cell by cell.
func (p page) rows(section int) [][]string {
	var rows [][]string
	for line := range strings.Lines(p[section]) {
		if cells, ok := strings.CutPrefix(strings.TrimSpace(line), "|"); ok {
			rows = append(rows, strings.Split(strings.TrimSuffix(cells, "|"), "|"))
		} else if rows != nil {
			break
		}
	}
	return rows[2:]
}

// code is the section's block of that language.
func (p page) code(t *testing.T, section int, language string) string {
	t.Helper()
	_, block, found := strings.Cut(p[section], "```"+language+"\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatalf("section %d has no block of %s", section, language)
	}
	return block
}

// everyPage runs a test for each provider's page in each language.
func everyPage(t *testing.T, test func(t *testing.T, provider string, p page)) {
	for provider := range documented {
		for _, ending := range languages {
			t.Run(provider+ending, func(t *testing.T) { test(t, provider, readPage(t, provider+ending)) })
		}
	}
}

// A provider without a page would be one that only its author can configure. What is made by configuration alone has
// callback/generic/README.md.
func TestEveryProviderHasAPage(t *testing.T) {
	configured := append(generic.Presets(), generic.Name)
	for name := range providers {
		if _, ok := documented[name]; !ok && !slices.Contains(configured, name) {
			t.Errorf("%s has no page in docs/providers", name)
		}
	}
}

// The settings table has every key there is, and no other.
func TestPagesTellEverySetting(t *testing.T) {
	everyPage(t, func(t *testing.T, provider string, p page) {
		var told []string
		for _, row := range p.rows(sectionSettings) {
			told = append(told, strings.Trim(row[0], " `"))
		}
		slices.Sort(told)
		if want := settingKeys(documented[provider], ""); !slices.Equal(told, want) {
			t.Errorf("settings told:\n%q\nwant\n%q", told, want)
		}
	})
}

func settingKeys(of reflect.Type, path string) []string {
	var keys []string
	for _, f := range reflect.VisibleFields(of) {
		into := f.Type
		if into.Kind() == reflect.Pointer {
			into = into.Elem()
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" || name == "-":
		case into.Kind() == reflect.Struct:
			keys = append(keys, settingKeys(into, path+name+".")...)
		default:
			keys = append(keys, path+name)
		}
	}
	slices.Sort(keys)
	return keys
}

// An example is there to be pasted: it loads, once its secrets and keys are there, and its account is the one of the address.
func TestPagesExamplesLoad(t *testing.T) {
	everyPage(t, func(t *testing.T, provider string, p page) {
		example := p.code(t, sectionExample, "yaml")
		kitOf := filepath.Join(kit, provider)
		for _, text := range []string{example, uncommented(example)} {
			c, err := loadExample(t, kitOf, text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if len(c.Accounts) != 1 || c.Accounts[0].ProviderName != provider || len(c.Accounts[0].Statements) == 0 {
				t.Errorf("the example configures %+v", c.Accounts)
			}
			if address := c.PublicURL + "/callbacks/" + c.Accounts[0].Name; !strings.Contains(p[sectionExample], "`"+address+"`") {
				t.Errorf("the address %s is not told", address)
			}
		}
	})
}

// uncommented takes in the lines that are offered as comments.
func uncommented(example string) string {
	return regexp.MustCompile(`(?m)^( +)# (\S+: |- )`).ReplaceAllString(example, "$1$2")
}

// exampleSecrets are values that the providers take, by the name of the variable or of the file.
var exampleSecrets = map[string]string{
	"WECHATPAY_API_V3_KEY": "TestOnlyApiV3Key0123456789abcdef", "STRIPE_SIGNING_SECRET": "whsec_TESTONLY0123456789",
	"secrets/stripe_signing_secret_old": "whsec_TESTONLY9876543210", "secrets/adyen_hmac_key": strings.Repeat("7E", 32),
	"ADYEN_WEBHOOK_PASSWORD": "test-only", "ALIPAY_APP_ID": "2021000000000001", "secrets/alipay_seller_id": "2088000000000019",
	"UNIONPAY_MER_ID": "777000000000001", "PAYPAL_WEBHOOK_ID": "3TX54321TESTHOOK0",
}

func loadExample(t *testing.T, kitOf, text string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	if keys := filepath.Join(kitOf, "keys"); exists(keys) {
		if err := os.CopyFS(filepath.Join(dir, "keys"), os.DirFS(keys)); err != nil {
			t.Fatal(err)
		}
	}
	for name, secret := range exampleSecrets {
		if !strings.HasPrefix(name, "secrets/") {
			continue
		}
		if err := os.MkdirAll(filepath.Join(dir, "secrets"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "app.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadConfig(file, lookup(exampleSecrets))
}

// What a page says a refusal is answered with is what the provider answers, and every reason of the kit's refusals is told.
func TestPagesTellTheAnswers(t *testing.T) {
	everyPage(t, func(t *testing.T, provider string, p page) {
		account := kitAccount(t, provider)
		told := map[string]bool{}
		for _, row := range p.rows(sectionChecks) {
			found := regexp.MustCompile("([0-9]{3}) `([a-z_]+)`").FindStringSubmatch(row[2])
			if found == nil {
				t.Fatalf("%q tells no status and reason", row[2])
			}
			told[found[2]] = true
			if status, _, _ := account.Provider.Reply(models.Answer{Reason: models.Reason(found[2])}); strconv.Itoa(status) != found[1] {
				t.Errorf("%s: told %s, answered %d", found[2], found[1], status)
			}
		}
		for _, recording := range kitRecordings(t, provider) {
			if reason := recording.Expect.Reason; reason != "" && !told[reason] {
				t.Errorf("%s is refused with %s, which is not told", recording.Name, reason)
			}
			if event := recording.Expect.Event; event != "" && !strings.Contains(p[sectionEvents], "`"+event+"`") {
				t.Errorf("%s says %s, which is not told", recording.Name, event)
			}
		}
	})
}

func kitAccount(t *testing.T, provider string) *Account {
	t.Helper()
	c, err := loadConfig(kitConfig, lookup(nil))
	if err != nil {
		t.Fatal(err)
	}
	account, err := c.account(provider)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

type kitRecording struct {
	Name   string
	Expect struct{ Reason, Event string }
}

func kitRecordings(t *testing.T, provider string) []kitRecording {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(kit, provider, "callbacks", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings of %s (%v)", provider, err)
	}
	list := make([]kitRecording, len(files))
	for i, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &list[i]); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return list
}

// The lines to try do what the page says of them, in a folder of one's own.
func TestPagesLinesToTry(t *testing.T) {
	t.Chdir("..")
	for provider := range documented {
		t.Run(provider, func(t *testing.T) {
			raw, err := os.ReadFile("docs/providers/" + provider + ".md")
			if err != nil {
				t.Fatal(err)
			}
			lines := page(strings.Split(string(raw), "\n## ")).code(t, sectionTry, "sh")
			database := "sqlite:" + filepath.Join(t.TempDir(), "app.db")
			for line := range strings.Lines(lines) {
				args := strings.Fields(line)
				want := exitDone
				if args[1] == "reconcile" || args[1] == "doctor" {
					want = exitLook
				}
				if r := runApp(t, map[string]string{"DATABASE_URL": database}, args[1:]...); r.code != want {
					t.Errorf("%sexit %d, want %d\n%s%s", line, r.code, want, r.out, r.err)
				}
			}
		})
	}
}

// Who changes a provider's page in one language is reminded of the other: line for line they are of one shape.
func TestLanguagesKeepStep(t *testing.T) {
	everyDocument(t, func(t *testing.T, file, text string) {
		if filepath.Base(filepath.Dir(file)) != "providers" || strings.HasSuffix(file, languages[1]) {
			return
		}
		other, err := os.ReadFile(strings.TrimSuffix(file, languages[0]) + languages[1])
		if err != nil {
			t.Error(err)
			return
		}
		english, chinese := strings.Split(text, "\n"), strings.Split(string(other), "\n")
		if len(english) != len(chinese) {
			t.Errorf("%s: %d lines, in Chinese %d", file, len(english), len(chinese))
		}
		for i := range min(len(english), len(chinese)) {
			if shape(english[i]) != shape(chinese[i]) {
				t.Fatalf("%s:%d: %.60q, in Chinese %.60q", file, i+1, english[i], chinese[i])
			}
		}
	})
}

var beginning = regexp.MustCompile("^ *(#+|[0-9]+\\.|-|```.*|app .*|)")

// shape is how a line begins, and how many cells it has if it is a table's.
func shape(line string) string {
	cells := 0
	if strings.HasPrefix(line, "|") {
		cells = strings.Count(line, "|")
	}
	return fmt.Sprint(beginning.FindString(line), cells, strings.TrimSpace(line) == "")
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)`)

func TestLinksOfDocumentsLead(t *testing.T) {
	everyDocument(t, func(t *testing.T, file, text string) {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if target := found[1]; !strings.Contains(target, ":") && !exists(filepath.Join(filepath.Dir(file), target)) {
				t.Errorf("%s: the link to %s leads nowhere", file, target)
			}
		}
	})
}

// everyDocument runs a test for the README and every document in docs.
func everyDocument(t *testing.T, test func(t *testing.T, file, text string)) {
	t.Helper()
	files, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(docs, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 2*len(documented) {
		t.Fatalf("%d documents (%v)", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		test(t, file, string(raw))
	}
}
