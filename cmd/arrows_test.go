package cmd

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// arrows is who may import whom, of our own packages. A provider's folder stands for all of them.
var arrows = map[string][]string{
	"main":              {"cmd"},
	"cmd":               {"callback", "callback/parse", "callback/PROVIDER", "callback/queue", "ledger", "ledger/forward", "ledger/redisgate", "ledger/shop", "models", "reconcile", "reconcile/alert", "reconcile/bank", "reconcile/console", "reconcile/lang", "reconcile/html", "reconcile/source", "reconcile/xlsx", "testdata"},
	"callback":          {"ledger", "models"},
	"callback/ask":      {"models"},
	"callback/layout":   {"callback/parse", "models"},
	"callback/parse":    {"models"},
	"callback/PROVIDER": {"callback/ask", "callback/layout", "callback/parse", "models"},
	"ledger":            {"models"},
	"ledger/forward":    {"ledger", "models"},
	"ledger/shop":       {"ledger", "models"},
	"models":            {},
	"reconcile":         {"ledger", "models", "reconcile/lang"},
	"reconcile/alert":   {"ledger", "models", "reconcile", "reconcile/lang"},
	"reconcile/source":  {"ledger", "models", "reconcile"},
	"reconcile/lang":    {"models"},
	"reconcile/html":    {"models", "reconcile", "reconcile/lang"},
	"reconcile/xlsx":    {"models", "reconcile", "reconcile/lang"},
	"reconcile/bank":    {"callback/parse", "ledger", "models", "reconcile"},
	"reconcile/console": {"ledger", "models", "reconcile"},
	"callback/queue":    {"callback", "ledger", "models"},
	"ledger/redisgate":  {"ledger", "models"},
	"docs/client":       {},
}

// forTests are packages that only tests, or people who measure, use.
var forTests = []string{"callback/providertest", "ledger/ledgertest", "testdata"}

type listed struct {
	ImportPath string
	Imports    []string
}

func TestArrows(t *testing.T) {
	for _, p := range goList(t) {
		from := kindOf(p.ImportPath)
		if isForTests(from) {
			continue
		}
		allowed, known := arrows[from]
		if !known {
			t.Errorf("%s: a package without arrows: add it to this test, with what it may import", from)
			continue
		}
		for _, imported := range p.Imports {
			ours := strings.HasPrefix(imported, "paybook/")
			if to := kindOf(imported); ours && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: not an arrow of this project (allowed: %s)", from, to, strings.Join(allowed, ", "))
			}
		}
	}
}

// A provider that is written but not in the list could never be configured.
func TestEveryProviderIsRegistered(t *testing.T) {
	folders, err := os.ReadDir("../callback")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && kindOf("paybook/callback/"+f.Name()) == "callback/PROVIDER" && providers[f.Name()] == nil {
			t.Errorf("callback/%s is not in providers", f.Name())
		}
	}
}

func goList(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < len(providers) {
		t.Fatalf("go list found %d packages only", len(all))
	}
	return all
}

// kindOf is a package's place in arrows.
func kindOf(importPath string) string {
	name := strings.TrimPrefix(importPath, "paybook/")
	switch {
	case importPath == "paybook":
		return "main"
	case arrows[name] != nil || isForTests(name):
		return name
	case path.Dir(name) == "callback":
		return "callback/PROVIDER"
	}
	return name
}

func isForTests(name string) bool {
	return slices.ContainsFunc(forTests, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") })
}
