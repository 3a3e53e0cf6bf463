package reconcile_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"paybook/models"
	"paybook/reconcile"
)

// TestSpellings: files that were saved, cut or edited by other programs. Good ones come out clean, bad ones stop the run and leave
// nothing behind.
func TestSpellings(t *testing.T) {
	const head = "transaction_id,order_id,type,amount,currency,status,occurred_at"
	const row = "p1,O-p1,payment,20.00,CNY,SUCCESS,2026-11-28 10:00:00"
	for _, c := range []struct {
		name, content string
		words         []string // of the error; nil: clean
	}{
		{"plain", head + "\n" + row + "\n", nil},
		{"byte-order marks", "\ufeff" + head + "\n\ufeff" + row + "\n", nil}, // F46
		{"mixed line ends", head + "\r\n\n" + row, nil},                      // F47
		{"another order and a further column", "note,occurred_at,status,currency,amount,type,order_id,transaction_id\n\"a, \"\"b\"\"\nc\",2026-11-28 10:00:00,SUCCESS,CNY,20.00,payment,O-p1,p1\n", nil}, // F44, F48
		{"no seconds", head + "\np1,O-p1,payment,20.00,CNY,SUCCESS,2026-11-28 10:00\n", nil},
		{"other decimals", head + "\np1,O-p1,payment,20.0,CNY,SUCCESS,2026-11-28 10:00:00\n", nil},
		{"a spreadsheet's date", head + "\np1,O-p1,payment,20.00,CNY,SUCCESS,28/11/26 11:59\n", []string{"row 2", "occurred_at", "YYYY-MM-DD"}}, // F42
		{"a spreadsheet's number", head + "\n4.20000E+27,O-p1,payment,20.00,CNY,SUCCESS,2026-11-28 10:00:00\n", []string{"row 2", "rounded"}},   // F49
		{"brackets", head + "\np1,O-p1,payment,(20.00),CNY,SUCCESS,2026-11-28 10:00:00\n", []string{"row 2", "amount", "(20.00)"}},              // F50
		{"no id column", "order_id,type,amount,currency,status,occurred_at\nO-p1,payment,20.00,CNY,SUCCESS,2026-11-28 10:00:00\n", []string{"transaction_id"}},
		{"a cell too few", head + "\np1,O-p1,payment,20.00,CNY,SUCCESS\n", []string{"row 2"}},
		{"empty", "", []string{"empty"}}, // F52
		{"an error saved as the file", `{"code":"NO_STATEMENT_EXIST","message":"none"}`, []string{"statement.csv"}},
		{"a login page", "<!DOCTYPE html><html></html>", []string{"statement.csv"}},
		{"another day's", head + "\np1,O-p1,payment,20.00,CNY,SUCCESS,2026-11-27 10:00:00\n", []string{"rows are from 2026-11-27, the run is for 2026-11-28"}}, // F53
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sqlite(t)
			paid(t, b, "p1 2026-11-28 10:00:00")
			r, err := tryRun(t.Context(), b, plainAccount(t), day(t, "2026-11-28"), file(t, "statement.csv", []byte(c.content)))
			if c.words == nil {
				if err != nil {
					t.Fatal(err)
				}
				wantRun(t, r, "1 1")
				return
			}
			wantFileError(t, err, c.words...)
			wantNothingWritten(t, b)
		})
	}
}

// TestWeChatBills: the trade bill's own ways, through its reader.
func TestWeChatBills(t *testing.T) {
	dir := filepath.Join(testdata, "wechatpay", "statements")
	whole, err := os.ReadFile(filepath.Join(dir, "tradebill_ALL_2026-11-29.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	rows := len(lines) - 3 // summary header, summary, nothing
	answer := func(content string) string {
		return fmt.Sprintf(`{"hash_type":"SHA1","hash_value":"%x","download_url":"https://api.mch.weixin.qq.com/v3/billdownload/file?token=x"}`, sha1.Sum([]byte(content)))
	}
	b := sqlite(t)
	p := openKit(t, "wechatpay")
	playKit(t, b, p, "wechatpay")
	a := reconcile.Account{Name: "wechatpay", Provider: p}
	for _, c := range []struct {
		name  string
		files []string
		words []string
	}{
		{"cut in a row", []string{string(whole[:1500])}, []string{"row"}}, // F51
		{"cut after a row", []string{strings.Join(lines[:3], "")}, []string{"summary is missing"}},
		{"rows left out", []string{strings.Join(append(lines[:3:3], lines[rows:]...), "")}, []string{"12"}},
		{"another digest", []string{string(whole), answer("another file")}, []string{"digest differs", "0.csv"}},
		{"only the answer", []string{answer(string(whole))}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var files []string
			for i, content := range c.files {
				files = append(files, file(t, fmt.Sprintf("%d.csv", i), []byte(content)))
			}
			_, err := tryRun(t.Context(), b, a, day(t, "2026-11-29"), files...)
			if c.words == nil {
				if err == nil || !strings.Contains(err.Error(), "no statement to compare") {
					t.Errorf("error is %v, want: no statement to compare", err)
				}
			} else {
				wantFileError(t, err, c.words...)
			}
			wantNothingWritten(t, b)
		})
	}
	t.Run("the right digest", func(t *testing.T) {
		r := run(t, b, a, "2026-11-29", file(t, "a.json", []byte(answer(string(whole)))), file(t, "b.csv", whole))
		checkKit(t, r, "wechatpay")
		if r.Statement.ControlTotals != "agree" {
			t.Errorf("control totals: %s", r.Statement.ControlTotals)
		}
	})
}

func packed(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPacked(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p1 2026-11-28 10:00:00")
	plain, err := os.ReadFile(statement(t, "p1 2026-11-28 10:00:00"))
	if err != nil {
		t.Fatal(err)
	}
	z := packed(t, plain)
	r := run(t, b, plainAccount(t), "2026-11-28", file(t, "a.csv.gz", z), file(t, "b.csv", plain))
	wantRun(t, r, "1 1")
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "b.csv: the same statement as a.csv.gz") {
		t.Errorf("notes are %q", r.Notes)
	}
	if f := r.Statement.Files; len(f) != 2 || f[0].SHA256 == f[1].SHA256 {
		t.Errorf("files are %+v: the hash is of the file as it lies", f)
	}
	for name, content := range map[string][]byte{
		"cut":      z[:len(z)-9],
		"damaged":  append(append([]byte{}, z[:12]...), append([]byte{0xff, 0xff}, z[14:]...)...),
		"trailing": append(append([]byte{}, z...), "more"...),
		"bomb":     packed(t, make([]byte, 300<<20)),
	} {
		_, err := tryRun(t.Context(), b, plainAccount(t), day(t, "2026-11-28"), file(t, name+".gz", content))
		wantFileError(t, err, name+".gz")
	}
}

func TestNoSuchFile(t *testing.T) {
	b := sqlite(t)
	a := plainAccount(t)
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	bad := map[string]string{filepath.Join(dir, "none.csv"): "no such file", dir: "a folder"}
	if err := exec.Command("mkfifo", pipe).Run(); err == nil { // where there are named pipes
		bad[pipe] = "not a regular file"
	}
	for path, words := range bad {
		_, err := tryRun(t.Context(), b, a, day(t, "2026-11-28"), path)
		wantFileError(t, err, path, words)
	}
	src := reconcile.Folder([]string{filepath.Join(dir, "*{date}*"), filepath.Join(dir, "{yyyymmdd}-{yymmdd}.csv")})
	_, err := reconcile.Run(t.Context(), b, a, src, day(t, "2026-11-28"), reconcile.Options{})
	if err == nil || !strings.Contains(err.Error(), "no statement for shop on 2026-11-28: looked for "+dir+"/*2026-11-28*, "+dir+"/20261128-261128.csv") {
		t.Errorf("error is %v", err)
	}
	if _, err := reconcile.Run(t.Context(), b, a, reconcile.Files(), day(t, "2026-11-28"), reconcile.Options{}); err == nil {
		t.Error("no file at all was taken for a day without a statement")
	}
	wantNothingWritten(t, b)
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b-2026-11-28.csv", "a-2026-11-28.csv", "a-2026-11-27.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(header), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "c-2026-11-28"), 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := reconcile.Folder([]string{filepath.Join(dir, "*{date}*"), filepath.Join(dir, "a*{date}*")})(t.Context(), day(t, "2026-11-28"))
	if err != nil || len(files) != 2 || filepath.Base(files[0].Name) != "a-2026-11-28.csv" || filepath.Base(files[1].Name) != "b-2026-11-28.csv" {
		t.Errorf("found %v, %v; want a and b of the day, each once", files, err)
	}
	_, err = reconcile.Folder([]string{filepath.Join(dir, "[")})(t.Context(), day(t, "2026-11-28"))
	if err == nil || errors.As(err, new(*reconcile.NoFileError)) {
		t.Errorf("a broken pattern: %v", err)
	}
}

// TestStrayRow is F53's second half.
func TestStrayRow(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00", "p3 2026-11-28 23:59:59", "p4 2026-11-27 23:59:58")
	r := run(t, b, plainAccount(t), "2026-11-28", statement(t, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00", "p3 2026-11-29 00:00:01",
		"p4 2026-11-27 23:59:58", "p5 2026-11-27 23:59:59"))
	wantRun(t, r, "5 4", "wrong_day payment p5") // p3 and p4 are known by their key, so they are compared
	if g := only(t, r, models.GapWrongDay); g.Next != "app reconcile --date 2026-11-27 --account shop" {
		t.Errorf("next is %q", g.Next)
	}
}
