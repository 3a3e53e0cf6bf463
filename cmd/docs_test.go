package cmd

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
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

// documented are the providers in code, and their settings. Those by configuration alone are in docs_presets_test.go.
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
	sectionExample   = 1
	sectionSettings  = 3
	sectionChecks    = 4
	sectionEvents    = 6
	sectionStatement = 7
	sectionTry       = 9
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
	for _, provider := range paged() {
		for _, ending := range languages {
			t.Run(provider+ending, func(t *testing.T) { test(t, provider, readPage(t, provider+ending)) })
		}
	}
}

// paged are the providers with a page of nine sections: all but generic, which is a kit to make one.
func paged() []string { return append(slices.Sorted(maps.Keys(documented)), generic.Presets()...) }

// A provider without a page, or one that its index does not name, would be one that only its author can configure.
func TestEveryProviderHasAPage(t *testing.T) {
	for _, ending := range languages {
		index, err := os.ReadFile(docs + "providers/README" + ending)
		if err != nil {
			t.Fatal(err)
		}
		for name := range providers {
			if !exists(docs + "providers/" + name + ending) {
				t.Errorf("docs/providers/%s%s is missing", name, ending)
			}
			if !strings.Contains(string(index), "\n| `"+name+"` | ") || !strings.Contains(string(index), "]("+name+ending+")") {
				t.Errorf("docs/providers/README%s does not name %s", ending, name)
			}
		}
	}
}

// The settings table has every key there is, and no other.
func TestPagesTellEverySetting(t *testing.T) {
	everyPage(t, func(t *testing.T, provider string, p page) {
		told := p.settings()
		config, inCode := documented[provider]
		if !inCode {
			keysThatAre(t, provider, told)
			return
		}
		slices.Sort(told)
		if want := settingKeys(config, ""); !slices.Equal(told, want) {
			t.Errorf("settings told:\n%q\nwant\n%q", told, want)
		}
	})
}

// settings are the keys that the page tells.
func (p page) settings() (told []string) {
	for _, row := range p.rows(sectionSettings) {
		told = append(told, strings.Trim(row[0], " `"))
	}
	return told
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
			if event := recording.Expect.Event; event != "" && event != string(models.EventUnparsable) && !strings.Contains(p[sectionEvents], "`"+event+"`") {
				t.Errorf("%s says %s, which is not told", recording.Name, event)
			}
		}
	})
}

func kitAccount(t *testing.T, provider string) *Account {
	t.Helper()
	for _, file := range []string{kitConfig, presetsConfig} {
		c, err := loadConfig(file, lookup(nil))
		if err != nil {
			t.Fatal(err)
		}
		if account, err := c.account(provider); err == nil {
			return account
		}
	}
	t.Fatalf("the kit has no account %s", provider)
	return nil
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
	for _, provider := range append(paged(), generic.Name) {
		t.Run(provider, func(t *testing.T) {
			raw, err := os.ReadFile("docs/providers/" + provider + ".md")
			if err != nil {
				t.Fatal(err)
			}
			sections := page(strings.Split(string(raw), "\n## "))
			lines := sections.code(t, len(sections)-1, "sh")
			database := "sqlite:" + filepath.Join(t.TempDir(), "app.db")
			for line := range strings.Lines(lines) {
				args := strings.Fields(line)
				want := exitDone
				if args[1] == "reconcile" || args[1] == "doctor" { // its report has gaps, its callback is refused
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
