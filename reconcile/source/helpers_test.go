package source_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/source"
)

// clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(text string) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

func at(text string) *clock { c := &clock{}; c.set(text); return c }

// shelf is a place whose files a test puts there; err is what it says instead.
type shelf struct {
	name  string
	files map[string]string // "DATE NAME" → content
	marks bool
	err   error
	cut   bool // the connection, after the first byte of every file
	opens int
	looks int
}

func (s *shelf) String() string { return s.name }

func (s *shelf) Check(context.Context) error { return s.err }

func (s *shelf) Fetch(_ context.Context, day reconcile.Day, _ time.Time, save source.Save) error {
	s.looks++
	if s.err != nil {
		return s.err
	}
	var keys []string
	for key := range s.files {
		if strings.HasPrefix(key, day.String()+" ") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		f := source.File{Name: strings.TrimPrefix(key, day.String()+" "), Open: func() (io.ReadCloser, error) {
			s.opens++
			text := s.files[key]
			if s.cut {
				return io.NopCloser(io.MultiReader(strings.NewReader(text[:1]), broken{})), nil
			}
			return io.NopCloser(strings.NewReader(text)), nil
		}}
		if s.marks {
			f.Mark = fmt.Sprint(len(s.files[key]))
		}
		if err := save(f); err != nil {
			return err
		}
	}
	return nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// plain is a provider whose statements are lines of a transaction's id and its amount in CNY.
type plain struct{}

func (plain) Name() string                      { return "plain" }
func (plain) Calendar() (string, time.Duration) { return "Asia/Shanghai", 0 }
func (plain) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	lines := bufio.NewScanner(r)
	n := 0
	for lines.Scan() {
		n++
		date, rest, ok := strings.Cut(lines.Text(), ",")
		id, amount, ok2 := strings.Cut(rest, ",")
		when, err := time.ParseInLocation(time.DateOnly, date, zone)
		money, err2 := models.ParseMajor(amount, "CNY")
		if !ok || !ok2 || err != nil || err2 != nil {
			return models.Statement{}, &models.FileError{File: name, Line: n, What: "is no row"}
		}
		e := models.Entry{Kind: models.Payment, TransactionID: id, Money: money, Status: models.StatusSucceeded, OccurredAt: when.Add(12 * time.Hour), Line: n}
		if err := each(e); err != nil {
			return models.Statement{}, err
		}
	}
	if n == 0 {
		return models.Statement{}, &models.FileError{File: name, What: "the file is empty"}
	}
	return models.Statement{Compared: true, Title: "statement"}, nil
}

func day(t *testing.T, text string) reconcile.Day {
	t.Helper()
	d, err := reconcile.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func shanghai(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// tree lists the files below a folder, with their modes.
func tree(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		name, _ := filepath.Rel(dir, path)
		list = append(list, fmt.Sprintf("%s %o", name, info.Mode().Perm()))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return list
}

// contents are what a run would read.
func contents(t *testing.T, files []reconcile.File) (list []string) {
	t.Helper()
	for _, f := range files {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(r)
		if err != nil || r.Close() != nil {
			t.Fatal(err)
		}
		list = append(list, f.Name+" "+string(raw))
	}
	return list
}

func stages(t *testing.T, dir string) (n int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			n++
		}
	}
	return n
}

func archiveOf(t *testing.T, book *ledger.Ledger) *source.Archive {
	t.Helper()
	return &source.Archive{Dir: filepath.Join(t.TempDir(), "archive"), Book: book}
}
