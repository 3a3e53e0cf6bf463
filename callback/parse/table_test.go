package parse_test

import (
	"encoding/csv"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// readAll reads a whole table; every reader it is given in reads the same.
func readAll(t *testing.T, text string, o parse.TableOptions) (header []string, rows [][]string, lines []int, err error) {
	t.Helper()
	read := func(r io.Reader) ([]string, [][]string, []int, error) {
		table, err := parse.NewTable("day.csv", r, o)
		if err != nil {
			return nil, nil, nil, err
		}
		var rows [][]string
		var lines []int
		for {
			ok, err := table.Next()
			if !ok || err != nil {
				return table.Header(), rows, lines, err
			}
			rows = append(rows, append([]string{}, table.Cells()...))
			lines = append(lines, table.Line())
		}
	}
	header, rows, lines, err = read(strings.NewReader(text))
	_, again, _, err2 := read(iotest.OneByteReader(strings.NewReader(text)))
	if !reflect.DeepEqual(rows, again) || (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
		t.Errorf("read byte by byte it differs: %v, %v and %v, %v", rows, err, again, err2)
	}
	return header, rows, lines, err
}

func checkFileError(t *testing.T, err error, line int, what string) {
	t.Helper()
	var fileError *models.FileError
	if !errors.As(err, &fileError) || fileError.Line != line || fileError.File != "day.csv" || !strings.Contains(err.Error(), what) {
		t.Errorf("error = %v, want day.csv, row %d, %q", err, line, what)
	}
}

// F46, F47, F48 and the rest of what spreadsheets and editors do to a file.
func TestTable(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          parse.TableOptions
		want       [][]string
		lines      []int
	}{
		{"BOM before the header and a row", "\ufeffa,b\n1,2\n\ufeff3,4\n", parse.TableOptions{}, [][]string{{"1", "2"}, {"3", "4"}}, []int{2, 3}},
		{"BOM before a quote", "\ufeff\"a\",\"b\"\n\ufeff\"1\",\ufeff\"2,3\"\n", parse.TableOptions{}, [][]string{{"1", "2,3"}}, []int{2}},
		{"mixed line ends, blank lines, no last one", "a,b\r\n1,2\n3,4\r\n\r\n  \n5,6", parse.TableOptions{}, [][]string{{"1", "2"}, {"3", "4"}, {"5", "6"}}, []int{2, 3, 6}},
		{"comma, quotes and line breaks in a cell", "a,b\n\"x,\"\"y\"\"\r\nz\",2\n3,\"\"\n", parse.TableOptions{}, [][]string{{"x,\"y\"\nz", "2"}, {"3", ""}}, []int{2, 4}},
		{"blanks and tabs around a cell", "a, b \n 1\t,\t2 \n", parse.TableOptions{}, [][]string{{"1", "2"}}, []int{2}},
		{"title lines", "title \"x\n\na,b\n1,2\n", parse.TableOptions{SkipLines: 2}, [][]string{{"1", "2"}}, []int{4}},
		{"semicolon", "a;b\n1,5;2\n", parse.TableOptions{Delimiter: ';'}, [][]string{{"1,5", "2"}}, []int{2}},
		{"tab", "a\tb\n1\t2\n", parse.TableOptions{Delimiter: '\t'}, [][]string{{"1", "2"}}, []int{2}},
		{"wide delimiter", "a，b\n1，\"2，3\"\n", parse.TableOptions{Delimiter: '，'}, [][]string{{"1", "2，3"}}, []int{2}},
		{"lazy quotes", "a,b\n`5\" tube,\"say \"hi\" now\"\n", parse.TableOptions{LazyQuote: true}, [][]string{{"`5\" tube", `say "hi" now`}}, []int{2}},
		{"no header", "1,2\n3,4\n", parse.TableOptions{NoHeader: true}, [][]string{{"1", "2"}, {"3", "4"}}, []int{1, 2}},
		{"header only", "a,b\n", parse.TableOptions{}, nil, nil},
		{"long row", "a,b\n1," + strings.Repeat("x", 200_000) + "\n", parse.TableOptions{}, [][]string{{"1", strings.Repeat("x", 200_000)}}, []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			header, rows, lines, err := readAll(t, c.text, c.o)
			if err != nil || len(header) != 2 || !reflect.DeepEqual(rows, c.want) || !reflect.DeepEqual(lines, c.lines) {
				t.Errorf("header %v, rows %.200q at %v, %v; want %.200q at %v", header, rows, lines, err, c.want, c.lines)
			}
		})
	}
}

// F44, F51, F52 and damaged files: refused with what was found, and where.
func TestTableIsRefused(t *testing.T) {
	far := "a,b\n" + strings.Repeat("1,2\n", 20_000) // beyond the first read
	for _, c := range []struct {
		name, text string
		o          parse.TableOptions
		line       int
		what       string
	}{
		{"empty", "", parse.TableOptions{}, 0, "the file is empty"},
		{"only a BOM", "\ufeff\n", parse.TableOptions{}, 0, "the file is empty"},
		{"HTML", "\n<!DOCTYPE html><html>", parse.TableOptions{}, 0, "an HTML page"},
		{"XML", "<xml><return_msg>No Bill Exist</return_msg></xml>", parse.TableOptions{}, 0, "No Bill Exist"},
		{"JSON", `{"code":"NO_STATEMENT_EXIST"}`, parse.TableOptions{}, 0, "NO_STATEMENT_EXIST"},
		{"title only", "title", parse.TableOptions{SkipLines: 2}, 2, "the file ends before its header"},
		{"no header", "title\n", parse.TableOptions{SkipLines: 1}, 0, "no header line"},
		{"column twice", "a,b,a\n", parse.TableOptions{}, 1, "column a: the header names this column twice"},
		{"a cell less", "a,b,c\n1,2,3\n1,2\n", parse.TableOptions{}, 3, "2 cells, the header has 3"},
		{"a cell more", "a,b,c\n\n1,2,3,\n", parse.TableOptions{}, 3, "4 cells, the header has 3"},
		{"quote never closed", "a,b\n1,2\n\"3,4\n5,6\n", parse.TableOptions{}, 3, "its quote is never closed"},
		{"quote in a cell", "a,b\n1\",2\n", parse.TableOptions{}, 2, "cell 1: a quote within a cell"},
		{"text after a quote", "a,b\n1,\"2\"x\n", parse.TableOptions{}, 2, "cell 2: something follows its closing quote"},
		{"not UTF-8", "a,b\n1,caf\xe9\n", parse.TableOptions{}, 2, "byte 9 of the file (0xe9) is not UTF-8"},
		{"not UTF-8 in a title", "caf\xe9\na,b\n", parse.TableOptions{SkipLines: 1}, 1, "byte 3 of the file (0xe9)"},
		{"not UTF-8 far down", far + "1,\xe4\xbd\n", parse.TableOptions{}, 20_002, "byte 80006 of the file (0xe4)"},
		{"a rune cut by the end", far + "1,\xe4\xbd", parse.TableOptions{}, 20_002, "byte 80006 of the file (0xe4)"},
		{"not UTF-8 after a title and a long line", "t\na,b\n" + strings.Repeat("x", 100_000) + ",\xff", parse.TableOptions{SkipLines: 1}, 3, "byte 100007 of the file (0xff)"},
		{"NUL", "a,b\n1,\x002\n", parse.TableOptions{}, 2, "byte 6 of the file (0x00)"},
		{"endless row", "a,b\n" + strings.Repeat("x", 2<<20), parse.TableOptions{}, 2, "longer than 1048576 bytes"},
		{"endless quote", "a,b\n\"" + strings.Repeat("x\n", 1<<20), parse.TableOptions{}, 2, "a quote is not closed"},
		{"converted with loss", "a,b\n1,\ufffd\n", parse.TableOptions{Converted: true}, 2, "no character of the configured encoding"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, _, err := readAll(t, c.text, c.o)
			checkFileError(t, err, c.line, c.what)
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("the error is %d bytes long", len(err.Error()))
			}
		})
	}
	broken := io.MultiReader(strings.NewReader("a,b\n1,2\n3"), iotest.ErrReader(io.ErrUnexpectedEOF))
	table, err := parse.NewTable("day.csv", broken, parse.TableOptions{})
	for ok := true; ok && err == nil; {
		ok, err = table.Next()
	}
	checkFileError(t, err, 3, "unexpected EOF; download it again")
}

func TestCellsByName(t *testing.T) {
	table := mustTable(t, "id,Order  No,amount,at\nT1,O1,\"1,234.56\",2026-11-29 10:00:00\n4.20000E+27,O2,(5.00),8/11/26 11:59\n")
	if !table.Has("Order No") || table.Has("none") || table.Get("none") != "" || table.Get("Order No") != "O1" {
		t.Errorf("header = %q, order %q", table.Header(), table.Get("Order No"))
	}
	if err := table.Need("id", "at"); err != nil {
		t.Errorf("Need = %v, want all there", err)
	}
	if m, err := table.Money("amount", "CNY"); err != nil || m.Minor != 123456 {
		t.Errorf("Money = %v, %v", m, err)
	}
	zone := time.FixedZone("CST", 8*3600)
	if at, err := table.Time("at", zone); err != nil || !at.Equal(time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC)) || at.Location() != time.UTC {
		t.Errorf("Time = %v, %v", at, err)
	}
	if _, err := table.Next(); err != nil {
		t.Fatal(err)
	}
	_, err := table.ID("id")
	checkFileError(t, err, 3, `column id: "4.20000E+27" looks like a rounded number, the file was edited`)
	_, err = table.Money("amount", "CNY")
	checkFileError(t, err, 3, `column amount: amount not understood: "(5.00)"`)
	_, err = table.Time("at", zone)
	checkFileError(t, err, 3, `column at: "8/11/26 11:59" is no time, expected YYYY-MM-DD HH:MM:SS`)
	checkFileError(t, table.Need("refund"), 3, "column refund: the header has no such column; it has id, Order No, amount, at")
}

// mustTable opens a table on its first row.
func mustTable(t *testing.T, text string) *parse.Table {
	t.Helper()
	table, err := parse.NewTable("day.csv", strings.NewReader(text), parse.TableOptions{})
	if err == nil {
		_, err = table.Next()
	}
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// F50: every spelling that could mean two sums is refused.
func TestStatementAmount(t *testing.T) {
	for _, c := range []struct {
		text, currency string
		want           int64
	}{
		{"1,234.56", "CNY", 123456}, {"1,234,567.8", "CNY", 123456780}, {"-1,234.56", "CNY", -123456}, {"19.9", "CNY", 1990},
		{"19.990", "CNY", 1999}, {"12800", "JPY", 12800}, {"5.120", "KWD", 5120}, {"0", "CNY", 0}, {"-0.00", "CNY", 0}, {"0019.90", "CNY", 1990},
		{"¥19.99", "CNY", 1999}, {"￥1,234.56", "cny", 123456}, {"-¥5.00", "CNY", -500}, {"¥500", "JPY", 500}, {"$19.99", "USD", 1999}, {"€19.99", "EUR", 1999},
	} {
		if got, err := parse.StatementAmount(c.text, c.currency); err != nil || got.Minor != c.want {
			t.Errorf("StatementAmount(%s, %s) = %v, %v; want %d", c.text, c.currency, got, err, c.want)
		}
	}
	for _, c := range [][2]string{
		{"¥19.99", "USD"}, {"$19.99", "CAD"}, {"¥-5.00", "CNY"}, {"¥", "CNY"}, {"¥¥1.00", "CNY"}, {"19.99¥", "CNY"}, {"CNY 19.99", "CNY"},
		{"(5.00)", "CNY"}, {"\u22125.00", "CNY"}, {"\u20135.00", "CNY"}, {"--5.00", "CNY"}, {"5.00-", "CNY"}, {"+5.00", "CNY"}, {"-", "CNY"}, {"", "CNY"},
		{"1,234", "CNY"}, {"1,23.45", "CNY"}, {"12,34,567.00", "CNY"}, {"1234,567.00", "CNY"}, {",123.00", "CNY"}, {"1.234,56", "CNY"}, {"19,99", "CNY"},
		{"1 234.56", "CNY"}, {"1'234.56", "CNY"}, {"19.", "CNY"}, {".99", "CNY"}, {"1e3", "CNY"}, {"1E+400", "CNY"}, {"0x10", "CNY"}, {"NaN", "CNY"},
		{"１９.９９", "CNY"}, {"19.999", "CNY"}, {"0.5", "JPY"}, {"19.99", ""}, {"19.99", "XQQ"}, {"99999999999999999999.00", "CNY"}, {strings.Repeat("9", 10_000), "CNY"},
	} {
		got, err := parse.StatementAmount(c[0], c[1])
		if !errors.Is(err, models.ErrAmount) {
			t.Errorf("StatementAmount(%.40q, %s) = %v, %v; want it refused", c[0], c[1], got, err)
		}
	}
}

func TestLooksRounded(t *testing.T) {
	for id, want := range map[string]bool{
		"4.20000E+27": true, "4,2E+27": true, "4.2e27": true, "4E+27": true, "-4.2E-5": true,
		"4200000000202610000000000000": false, "12345E678": false, "123e4567": false, "E+27": false, "": false, "T4.2E+27": false, "4.2E+27X": false,
	} {
		if got := parse.LooksRounded(id); got != want {
			t.Errorf("LooksRounded(%q) = %v, want %v", id, got, want)
		}
	}
}

// F42: no guessing of dates.
func TestLocalTime(t *testing.T) {
	zone := time.FixedZone("CST", 8*3600)
	want := time.Date(2026, 11, 28, 3, 59, 0, 0, time.UTC)
	for text, layout := range map[string][]string{
		"2026-11-28 11:59:00": nil, "2026-11-28 11:59": nil, "2026-11-28T03:59:00Z": {time.RFC3339}, "20261128115900": {"2006", "20060102150405"},
	} {
		if got, err := parse.LocalTime(text, zone, layout...); err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("LocalTime(%s) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"8/11/26 11:59", "13/11/26 9:05", "28/11/2026 11:59", "2026-11-28", "2026/11/28 11:59:00", "2026-02-30 11:59:00", "", "46354.5", "2026-11-28 11:59:00 PM"} {
		if got, err := parse.LocalTime(text, zone); err == nil || !strings.Contains(err.Error(), "expected YYYY-MM-DD HH:MM:SS") {
			t.Errorf("LocalTime(%q) = %v, %v; want it refused", text, got, err)
		}
	}
}

// FuzzTable: nothing makes it panic, and what encoding/csv takes as well it cuts the same way.
func FuzzTable(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "a,b\n\"1\n,\"\"\",2\n", "\ufeffa\n\ufeff\"x\"", "a,b\n1", "a\n\"", "a,\"b\"x\n", "\xff", "a\r\n\r\nb\r"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		header, rows, _, err := readAll(t, text, parse.TableOptions{})
		if err != nil {
			if fileError := (*models.FileError)(nil); !errors.As(err, &fileError) {
				t.Fatalf("error = %v, want a *models.FileError", err)
			}
			return
		}
		if strings.ContainsAny(text, " \t\v\f\u0085\u00a0\ufeff") || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
			return // trimmed here, kept there
		}
		want, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(want) != 1+len(rows) || len(want[0]) != len(header) {
			t.Fatalf("%d rows under %q; encoding/csv has %q, %v", len(rows), header, want, err)
		}
		for i, row := range rows {
			for j, cell := range row {
				if want := strings.TrimSpace(want[1+i][j]); cell != want {
					t.Errorf("row %d cell %d = %q, encoding/csv has %q", i, j, cell, want)
				}
			}
		}
	})
}
