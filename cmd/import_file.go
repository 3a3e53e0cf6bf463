package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// columns are what a file to import may hold.
type columns struct {
	needed   []string
	optional []string
}

// ignoredColumns may stand in any file: remarks for people, and what follows from the other columns.
var ignoredColumns = []string{"note", "source", "business_date"}

var (
	orderColumns = columns{
		needed:   []string{"order_id", "amount", "currency"},
		optional: []string{"status", "expires_at"},
	}
	transactionColumns = columns{
		needed:   []string{"kind", "transaction_id", "amount", "currency", "status", "occurred_at"},
		optional: []string{"account", "parent_id", "refund_order_id", "order_id"},
	}
	stockColumns = columns{needed: []string{"sku", "quantity"}}
)

// unknown says what is wrong with a column's name; "" when nothing is.
func (c columns) unknown(name string) string {
	if slices.Contains(c.needed, name) || slices.Contains(c.optional, name) || slices.Contains(ignoredColumns, name) {
		return ""
	}
	return "unknown; the columns are " + strings.Join(slices.Concat(c.needed, c.optional), ", ")
}

// rowReader is a file's rows, one after the other, every value with its place. *parse.Table is one.
type rowReader interface {
	Next() (bool, error)
	Get(column string) string // of the current row; "" when it is not there
	Fail(column, format string, args ...any) error
	Line() int
}

// openRows opens a file to import and looks at what it is: a JSON array begins with a bracket, all else is CSV.
func (a *app) openRows(file string, c columns) (rowReader, func(), error) {
	r, closeFile, err := a.openFile(file)
	if err != nil {
		return nil, nil, err
	}
	rows, err := newRows(fileName(file), bufio.NewReaderSize(r, 64<<10), c)
	if err != nil {
		closeFile()
		return nil, nil, err
	}
	return rows, closeFile, nil
}

func newRows(name string, r *bufio.Reader, c columns) (rowReader, error) {
	head, err := r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, byteOrderMark))
	switch {
	case len(text) == 0:
		return nil, &models.FileError{File: name, What: "empty; a JSON array or a CSV with a header expected"}
	case text[0] == '[':
		return newJSONRows(name, r, c)
	case text[0] == '{', text[0] == '<':
		return nil, &models.FileError{File: name, What: fmt.Sprintf("begins with %q; a JSON array of objects or a CSV with a header expected", text[0])}
	}
	t, err := parse.NewTable(name, r, parse.TableOptions{})
	if err != nil {
		return nil, err
	}
	for _, column := range t.Header() {
		if why := c.unknown(column); why != "" {
			return nil, t.Fail(column, "%s", why)
		}
	}
	return t, t.Need(c.needed...)
}

var byteOrderMark = []byte("\ufeff")

// jsonRows is an array of objects. Line counts the objects, from 1.
type jsonRows struct {
	file    string
	columns columns
	items   []parse.Value
	n       int
	row     map[string]any
}

func newJSONRows(name string, r io.Reader, c columns) (*jsonRows, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	v, err := parse.JSON(bytes.TrimPrefix(raw, byteOrderMark))
	if err != nil {
		return nil, &models.FileError{File: name, What: err.Error()}
	}
	return &jsonRows{file: name, columns: c, items: v.List()}, nil
}

// Next moves to the next object and checks its keys.
func (j *jsonRows) Next() (bool, error) {
	if j.n == len(j.items) {
		return false, nil
	}
	row, ok := j.items[j.n].Any().(map[string]any)
	j.n, j.row = j.n+1, row
	if !ok {
		return true, j.Fail("", "an object expected")
	}
	for name, value := range row {
		if why := j.columns.unknown(name); why != "" {
			return true, j.Fail(name, "%s", why)
		}
		if v := parse.Of(value); v.Exists() && v.Text() == "" && value != "" && !slices.Contains(ignoredColumns, name) {
			return true, j.Fail(name, "text or a number expected")
		}
	}
	for _, name := range j.columns.needed {
		if _, ok := row[name]; !ok {
			return true, j.Fail(name, "missing")
		}
	}
	return true, nil
}

// Get is a string's content without outer spaces, or a number's digits as they are written.
func (j *jsonRows) Get(column string) string {
	return strings.TrimSpace(parse.Of(j.row[column]).Text())
}

// Fail is an error about one value of the current object.
func (j *jsonRows) Fail(column, format string, args ...any) error {
	return &models.FileError{File: j.file, Line: j.n, Column: column, What: fmt.Sprintf(format, args...)}
}

// Line is the current object's number, from 1.
func (j *jsonRows) Line() int { return j.n }
