package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"paybook/reconcile"
)

// demopayDay are the flags of a run that finds gaps.
var demopayDay = []string{"reconcile", "--date", "2026-11-27", "--account", "demopay", "--format", "json"}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

// A report that has nowhere to go must not cost a saved run: nothing is written, and nothing is lying about.
func TestOutputIsCheckedBeforeTheRun(t *testing.T) {
	s := replayedShop(t, "demopay")
	dir := t.TempDir()
	statement := filepath.Join(dir, "day.csv")
	raw, err := os.ReadFile(kit + "demopay/statements/demopay_settlement_20261127.csv")
	if err != nil {
		t.Fatal(err)
	}
	write(t, statement, string(raw), 0o600)
	for link, to := range map[string]string{"link.csv": "day.csv", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(statement, filepath.Join(dir, "hard.csv")); err != nil {
		t.Fatal(err)
	}
	for path, words := range map[string]string{
		filepath.Join(dir, "no", "where"):            "no such file",
		filepath.Join(statement, "x"):                "not a directory",
		dir:                                          "a folder",
		statement:                                    "is the statement",
		filepath.Join(dir, "link.csv"):               "is the statement",
		filepath.Join(dir, "hard.csv"):               "is the statement",
		dir + "/./day.csv":                           "is the statement",
		filepath.Join(dir, "loop"):                   "symbolic links",
		filepath.Join(dir, strings.Repeat("x", 300)): "too long",
	} {
		s.fails([]string{"--output " + path, words}, append(demopayDay, "--statement", statement, "--output", path)...)
	}
	if list := s.ok("gaps", "list"); list != "no gaps\n" {
		t.Errorf("a run was saved: %s", list)
	}
	if now, err := os.ReadFile(statement); err != nil || string(now) != string(raw) {
		t.Errorf("the statement was written over: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 4 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// A statement that the account's own pattern finds is a statement as well.
func TestOutputIsNoStatementOfTheAccount(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s-2026-11-27.csv")
	write(t, path, "x\n", 0o600)
	source := reconcile.Folder([]string{filepath.Join(dir, "s-{date}.csv")})
	a := &app{}
	output := func(date string) (*destination, error) {
		day, err := reconcile.ParseDay(date)
		if err != nil {
			t.Fatal(err)
		}
		return a.reportOutput(t.Context(), reconcileOptions{output: path}, []dayRun{{source: source, day: day}})
	}
	if _, err := output("2026-11-27"); err == nil {
		t.Error("it was taken")
	}
	d, err := output("2026-11-26")
	if err != nil {
		t.Fatal(err)
	}
	d.discard()
}

func TestOutputKeepsWhatIsThere(t *testing.T) {
	s := replayedShop(t, "demopay")
	dir := t.TempDir()
	file, link, dangling := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json"), filepath.Join(dir, "dangling.json")
	write(t, file, "old", 0o640)
	for link, to := range map[string]string{link: "real.json", dangling: filepath.Join(dir, "fresh.json")} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for path, real := range map[string]string{link: file, dangling: filepath.Join(dir, "fresh.json")} {
		if code, out, talk := s.run(append(demopayDay, "--output", path)...); code != exitLook || out != "" {
			t.Fatalf("exit %d, %q, %q", code, out, talk)
		}
		text, err := os.ReadFile(real)
		if info, lerr := os.Lstat(path); err != nil || lerr != nil || info.Mode()&os.ModeSymlink == 0 || !strings.HasPrefix(string(text), "[") {
			t.Errorf("%s: %v, %v, %v, %.20s; want it still a link, and the report behind it", path, info, err, lerr, text)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v, %v; want it kept", info.Mode(), err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 4 {
		t.Errorf("left beside it: %v, %v", files, err)
	}
}

func TestOutputDashIsStandardOutput(t *testing.T) {
	s := replayedShop(t, "demopay")
	code, out, talk := s.run(append(demopayDay, "--output", "-")...)
	if code != exitLook || !strings.HasPrefix(out, "[") || exists("-") {
		t.Errorf("exit %d, %.30q, %q", code, out, talk)
	}
}

// A named pipe stays one, and its reader gets the report; without a reader a signal ends the waiting.
func TestOutputToANamedPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		if runtime.GOOS == "linux" {
			t.Fatal(err)
		}
		t.Skip("no named pipes here")
	}
	got := make(chan string, 1)
	go func() {
		text, _ := os.ReadFile(pipe)
		got <- string(text)
	}()
	d, err := openDestination(t.Context(), pipe, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.write(func(w io.Writer) error { return reconcile.WriteJSON(w, nil) }); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "[]\n" {
		t.Errorf("the reader got %q", text)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("%v, %v: it is no pipe any more", info, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := openDestination(ctx, pipe, nil); err == nil {
		t.Error("opened without a reader")
	}
	if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil { // lets the one that waits go
		defer f.Close()
	}
}

// An open pipe under its own name, as /dev/stdout is one: the link behind it leads to no path.
func TestOutputToAnOpenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if !exists(path) {
		if runtime.GOOS == "linux" {
			t.Fatal("no /dev/fd on Linux")
		}
		t.Skip("no /dev/fd here")
	}
	d, err := openDestination(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.write(func(w io.Writer) error { return reconcile.WriteJSON(w, nil) }), w.Close()); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); err != nil || string(text) != "[]\n" {
		t.Errorf("the reader got %q, %v", text, err)
	}
}

// What a reader does not know is said on standard error when the report is for a machine.
func TestNotesAreSaid(t *testing.T) {
	s := replayedShop(t, "demopay")
	raw, err := os.ReadFile(kit + "demopay/statements/demopay_settlement_20261127.csv")
	if err != nil {
		t.Fatal(err)
	}
	file := s.file("odd.csv", strings.Replace(string(raw), ",FEE,", ",LEVY,", 1))
	for _, format := range []string{"json", "csv"} {
		_, _, talk := s.run("reconcile", "--date", "2026-11-27", "--account", "demopay", "--format", format, "--statement", file)
		if !strings.Contains(talk, `demopay: odd.csv: kind "LEVY"`) {
			t.Errorf("%s: standard error is %q", format, talk)
		}
	}
	if _, out, _ := s.run("reconcile", "--date", "2026-11-27", "--account", "demopay", "--statement", file); !strings.Contains(out, `kind "LEVY"`) {
		t.Errorf("table:\n%s", out)
	}
}
