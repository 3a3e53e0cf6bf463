package acmepay_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"paybook/callback/providertest"
	"paybook/callback/providertest/acmekit"
	"paybook/callback/providertest/acmepay"
)

// TestAcmePay is the one line that a provider's own test begins with.
func TestAcmePay(t *testing.T) {
	p, err := acmepay.New(json.RawMessage(`{"secret":"`+acmekit.Secret+`"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	providertest.Run(t, p, acmekit.Make(t))
}

func TestSettings(t *testing.T) {
	for settings, want := range map[string]string{`{}`: "settings.secret", `{"secret":" "}`: "settings.secret", `{"secret":"s","key":1}`: "settings.key"} {
		if _, err := acmepay.New(json.RawMessage(settings), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%s) = %v, want %s named", settings, err, want)
		}
	}
}

var update = flag.Bool("update", false, "copy acmepay.go into the READMEs")

const (
	codeBegin = "<!-- example provider: written by `go test ./callback/providertest/acmepay -run Readme -update` -->\n"
	codeEnd   = "<!-- end of the example provider -->\n"
)

// The code in both READMEs is this package's own, so it compiles and passes.
func TestCodeInReadme(t *testing.T) {
	code, err := os.ReadFile("acmepay.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"README.md", "README.zh-CN.md"} {
		path := "../../../" + file
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(string(raw), codeBegin)
		_, tail, ok2 := strings.Cut(rest, codeEnd)
		if !ok || !ok2 {
			t.Fatalf("%s has no place for the example provider", file)
		}
		want := head + codeBegin + "```go\n" + string(code) + "```\n" + codeEnd + tail
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if want != string(raw) {
			t.Errorf("the example in %s is not acmepay.go; run go test ./callback/providertest/acmepay -run Readme -update", file)
		}
	}
}
