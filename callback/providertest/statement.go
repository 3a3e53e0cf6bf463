package providertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

// cuts is at how many places a statement is cut: enough to hit every part of a row, few enough for every test run.
const cuts = 200

type reading struct {
	statement models.Statement
	entries   []models.Entry
}

func testStatements(t *testing.T, p reconcile.Provider, dir string) {
	want, ok := expectedRows(t, dir)
	if !ok {
		t.Skip("no expected_reconciliation.json")
	}
	r := reader{t: t, p: p}
	rows := 0
	for _, path := range statementFiles(t, dir, want.Files) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.read(filepath.Base(path), bytes.NewReader(raw))
		if err != nil {
			if want.Files != nil {
				t.Errorf("%s: %v", path, err)
			}
			continue // lies beside the statements, is none
		}
		rows += countCompared(got)
		t.Run(filepath.Base(path), func(t *testing.T) {
			r := reader{t: t, p: p}
			r.checkReading(filepath.Base(path), raw, got)
			r.checkCuts(filepath.Base(path), raw, got)
		})
	}
	if rows != want.Rows() {
		t.Errorf("%d compared entries, want %d", rows, want.Rows())
	}
	r.checkNoStatements()
}

type expected struct {
	Files         []string `json:"files"`
	MoneyRows     int      `json:"money_rows"`
	StatementRows int      `json:"statement_rows"`
}

func (e expected) Rows() int { return max(e.MoneyRows, e.StatementRows) }

func expectedRows(t *testing.T, dir string) (expected, bool) {
	t.Helper()
	var out expected
	raw, err := os.ReadFile(filepath.Join(dir, "expected_reconciliation.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return out, false
	}
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil || out.Rows() == 0 {
		t.Fatalf("expected_reconciliation.json: %v, %d rows", err, out.Rows())
	}
	return out, true
}

// statementFiles is the named files, else every unpacked file there is: packed copies of them are left out.
func statementFiles(t *testing.T, dir string, names []string) []string {
	t.Helper()
	var out []string
	for _, name := range names {
		out = append(out, filepath.Join(dir, "statements", name))
	}
	if names != nil {
		return out
	}
	err := filepath.WalkDir(filepath.Join(dir, "statements"), func(path string, e fs.DirEntry, err error) error {
		if packed := strings.ToLower(filepath.Ext(path)); err == nil && !e.IsDir() && packed != ".gz" && packed != ".zip" {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func countCompared(r reading) int {
	n := 0
	for _, e := range r.entries {
		if r.statement.Compared && e.Kind.Compared() && !e.Adjusts {
			n++
		}
	}
	return n
}

type reader struct {
	t *testing.T
	p reconcile.Provider
}

func (r reader) read(name string, src io.Reader) (reading, error) {
	r.t.Helper()
	zoneName, _ := r.p.Calendar()
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		r.t.Fatalf("Calendar: %v", err)
	}
	var out reading
	out.statement, err = r.p.ReadStatement(name, src, zone, func(e models.Entry) error {
		out.entries = append(out.entries, e)
		return nil
	})
	return out, err
}

// checkReading: the same bytes in any portions read the same, and the caller's own error stops the reading.
func (r reader) checkReading(name string, raw []byte, want reading) {
	got, err := r.read(name, iotest.OneByteReader(bytes.NewReader(raw)))
	if err != nil || !reflect.DeepEqual(got, want) {
		r.t.Errorf("read byte by byte it is another statement (%v)", err)
	}
	if _, err := r.read(name, io.MultiReader(bytes.NewReader(raw[:len(raw)/2]), iotest.ErrReader(io.ErrUnexpectedEOF))); err == nil {
		r.t.Error("a reader that breaks off half-way was taken for the whole file")
	}
	if len(want.entries) == 0 {
		return
	}
	stop := errors.New("stop")
	_, err = r.p.ReadStatement(name, bytes.NewReader(raw), time.UTC, func(models.Entry) error { return stop })
	if !errors.Is(err, stop) {
		r.t.Errorf("ReadStatement = %v, want the error of the function it was given", err)
	}
	for _, e := range want.entries {
		r.checkEntry(e)
	}
}

func (r reader) checkEntry(e models.Entry) {
	switch {
	case e.Line <= 0:
		r.t.Errorf("entry %+v has no line", e)
	case e.Kind.Compared() && e.TransactionID == "" && e.RefundOrderID == "":
		r.t.Errorf("row %d has no identity", e.Line)
	case !e.Adjusts && e.Kind.Compared() && e.Money.Minor < 0:
		r.t.Errorf("row %d: amount %s has a sign", e.Line, e.Money)
	case e.OccurredAt.Location() != time.UTC:
		r.t.Errorf("row %d: time is in zone %s, want UTC", e.Line, e.OccurredAt.Location())
	}
}

// checkCuts: a file that ends early is refused. One without control totals can look whole; then it must hold only rows of the
// whole file, in their order.
func (r reader) checkCuts(name string, raw []byte, whole reading) {
	for i := range cuts {
		at := i * len(raw) / cuts
		got, err := r.read(name, bytes.NewReader(raw[:at]))
		if err != nil {
			if fileError := (*models.FileError)(nil); !errors.As(err, &fileError) {
				r.t.Errorf("cut at byte %d: %v: want a *models.FileError", at, err)
			}
			continue
		}
		if whole.statement.Totals && len(got.entries) != len(whole.entries) {
			r.t.Errorf("cut at byte %d of %d: accepted with %d of %d entries in spite of its control totals", at, len(raw), len(got.entries), len(whole.entries))
		}
		if n := len(got.entries); n > len(whole.entries) || !slices.EqualFunc(got.entries, whole.entries[:n], equalEntry) {
			r.t.Errorf("cut at byte %d of %d: accepted with entries that the whole file has not", at, len(raw))
		}
	}
}

func equalEntry(a, b models.Entry) bool { return reflect.DeepEqual(a, b) }

// checkNoStatements: what is often saved under a statement's name.
func (r reader) checkNoStatements() {
	for what, text := range map[string]string{
		"empty": "", "bom": "\ufeff", "html": "<!DOCTYPE html><html><body>Login</body></html>", "newlines": "\r\n\n",
		"error": `{"code":"NO_STATEMENT_EXIST","message":"no statement"}`, "xml": "<xml><return_msg>No Bill Exist</return_msg></xml>",
		"binary": "PK\x03\x04\xff\xfe\x00", "other": "a,b,c\n1,2,3\n",
	} {
		_, err := r.read("bill.csv", strings.NewReader(text))
		if fileError := (*models.FileError)(nil); !errors.As(err, &fileError) {
			r.t.Errorf("%s file: ReadStatement = %v, want a *models.FileError", what, err)
		}
	}
}
