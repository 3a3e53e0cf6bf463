package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kit is the test kit, as seen from this package.
const kit = "../testdata/"

// shell is a person at a terminal, with a database of her own and the kit's configuration.
type shell struct {
	t      *testing.T
	global []string
	stdin  string
}

func newShell(t *testing.T) *shell { t.Helper(); return newShellWith(t, "app.yaml") }

func newShellWith(t *testing.T, config string) *shell {
	t.Helper()
	return &shell{t: t, global: []string{"--config", kit + config, "--database", "sqlite:" + filepath.Join(t.TempDir(), "app.db")}}
}

// run types a command line and returns what is on the screen.
func (s *shell) run(args ...string) (code int, out, talk string) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	code = Main(s.t.Context(), append(append([]string{}, args...), s.global...), strings.NewReader(s.stdin), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// ok runs a command that must do its work, and returns its result.
func (s *shell) ok(args ...string) string {
	s.t.Helper()
	code, out, talk := s.run(args...)
	if code != exitDone {
		s.t.Fatalf("app %s: exit %d\n%s%s", strings.Join(args, " "), code, out, talk)
	}
	return out
}

// fails runs a command that cannot be done: exit 2, no result, one line that says all of want.
func (s *shell) fails(want []string, args ...string) {
	s.t.Helper()
	code, out, talk := s.run(args...)
	line := strings.TrimSuffix(talk, "\n")
	if code != exitFailed || out != "" || strings.Contains(line, "\n") {
		s.t.Errorf("app %s: exit %d, result %q, talk %q; want exit 2 and one line", strings.Join(args, " "), code, out, talk)
	}
	for _, w := range want {
		if !strings.Contains(line, w) {
			s.t.Errorf("app %s: %q does not say %q", strings.Join(args, " "), line, w)
		}
	}
}

// json runs a command with --format json and decodes the result.
func (s *shell) json(into any, args ...string) {
	s.t.Helper()
	decode(s.t, s.ok(append(args, "--format", "json")...), into)
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// file writes a file to import.
func (s *shell) file(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// shop brings a kit's orders and history into the book.
func (s *shell) shop(provider string) {
	s.t.Helper()
	s.ok("import", "orders", kit+provider+"/orders.json")
	if seed := kit + provider + "/seed_transactions.json"; exists(seed) {
		s.ok("import", "transactions", "--account", provider, seed)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
