package generic_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"paybook/callback/generic"
)

var yamlExample = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// The examples of the README are settings that work.
func TestReadmeExamples(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	accounts, pieces := 0, 0
	for _, found := range yamlExample.FindAllStringSubmatch(string(raw), -1) {
		text := strings.NewReplacer("${RAZORPAY_WEBHOOK_SECRET}", "razorpay-secret-of-the-shop", "${ACMEPAY_SECRET}", "acmepay-secret-of-the-shop").Replace(found[1])
		var file struct {
			Accounts []struct {
				Provider string
				Settings object
			}
			Settings object
		}
		switch err := yaml.Unmarshal([]byte(text), &file); {
		case err != nil:
			t.Fatal(err)
		case file.Settings != nil:
			file.Accounts = append(file.Accounts, struct {
				Provider string
				Settings object
			}{"razorpay", file.Settings})
		case file.Accounts == nil: // places of fields
			checkPlaces(t, text)
			pieces++
		}
		for _, a := range file.Accounts {
			accounts++
			settings, err := json.Marshal(a.Settings)
			if err != nil {
				t.Fatal(err)
			}
			build := generic.NewPreset(a.Provider)
			if a.Provider == generic.Name {
				build = generic.New
			}
			if _, err := build(settings, ""); err != nil {
				t.Errorf("%s: %v", a.Provider, err)
			}
		}
	}
	if accounts != 3 || pieces != 1 {
		t.Errorf("%d accounts and %d pieces were tried, want 3 and 1", accounts, pieces)
	}
}

func checkPlaces(t *testing.T, text string) {
	t.Helper()
	var fields object
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	for name, value := range fields {
		if _, err := generic.New(settings(within("fields", name, value)), ""); err != nil {
			t.Error(err)
		}
	}
}

// Every key that the settings know stands in the README.
func TestReadmeNamesEveryKey(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`\b(?:s|o|p|settings|columns|where|signature)\.(?:Text|Texts|Need|Word|Whole|Seconds|Flag|Object|Objects|Zone|Take|Has)\("([a-z_]+)"|column(?:Name|Names)\([a-z]+, "([a-z_]+)"|one\("([a-z_]+)"|l\.ids\(o, "([a-z_]+)"|\{"([a-z_]+)", &f\.`)
	own, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	layouts, err := filepath.Glob("../layout/*.go")
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, file := range append(own, layouts...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range key.FindAllStringSubmatch(string(source), -1) {
			keys++
			if name := strings.Join(m[1:], ""); !strings.Contains(string(readme), name) {
				t.Errorf("%s reads the key %s, which the README does not name", file, name)
			}
		}
	}
	if keys < 60 {
		t.Errorf("only %d keys were found in the sources", keys)
	}
}
