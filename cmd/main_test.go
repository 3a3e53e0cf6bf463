package cmd

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
)

func TestMain(m *testing.M) {
	if length := os.Getenv(asApp); length != "" {
		os.Exit(runAsApp(length))
	}
	os.Exit(ledgertest.Main(m))
}

// asApp makes this test binary the program, with leases of this length.
const asApp = "TEST_AS_APP"

func runAsApp(length string) int {
	lease, err := time.ParseDuration(length)
	if err != nil {
		panic(err)
	}
	results := &checkedWriter{w: os.Stdout}
	a := &app{in: os.Stdin, out: results, err: os.Stderr, now: time.Now, env: os.LookupEnv, lease: lease}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return a.run(ctx, os.Args[1:], results)
}

// result is what a command line leaves behind.
type result struct {
	code     int
	out, err string
}

// runApp runs one command line with an environment of its own.
func runApp(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	return runAppContext(t.Context(), env, args...)
}

func runAppContext(ctx context.Context, env map[string]string, args ...string) result {
	var out, errw buffer
	results := &checkedWriter{w: &out}
	a := &app{in: strings.NewReader(""), out: results, err: &errw, now: time.Now, env: lookup(env), environ: environ(env)}
	code := a.run(ctx, args, results)
	return result{code, out.String(), errw.String()}
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}
}

func environ(env map[string]string) func() []string {
	return func() (list []string) {
		for name, value := range env {
			list = append(list, name+"="+value)
		}
		return list
	}
}

// buffer is a bytes.Buffer that a server may write while a test reads.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// writeFiles puts files into a fresh folder and returns its path.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
