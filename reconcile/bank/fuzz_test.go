package bank

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"paybook/models"
)

// kitFile is a statement of the test kit.
func kitFile(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/bank/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// readers are the formats with a bank of each.
func readers() map[string]Bank {
	table := euro()
	table.Format, table.Layout = CSV, Layout{Date: "Date", Amount: "Amount", Balance: "Balance", Texts: []string{"Text"}}
	swift := dollar()
	swift.Currency = "USD"
	return map[string]Bank{Camt053: euro(), MT940: swift, CSV: table}
}

// readsSoundly reads anything at all: what is refused is refused with a place, what is read adds up.
func readsSoundly(t *testing.T, b Bank, text string) error {
	t.Helper()
	of := map[string]func() ([]*Statement, error){
		Camt053: func() ([]*Statement, error) { return readCamt(&b, "f", "f", strings.NewReader(text)) },
		MT940:   func() ([]*Statement, error) { return readMT940(&b, "f", "f", strings.NewReader(text)) },
		CSV:     func() ([]*Statement, error) { return readCSV(&b, "f", "f", strings.NewReader(text)) },
	}
	list, err := of[b.Format]()
	if err != nil {
		if at := new(models.FileError); !errors.As(err, &at) {
			t.Errorf("%T: %v", err, err)
		}
		return err
	}
	in := &intake{bank: &b, day: parseDate("2026-11-30"), statements: list}
	for _, s := range list {
		for _, l := range s.Lines {
			if l.Booked.IsZero() || l.Line < 1 {
				t.Errorf("%+v", l)
			}
		}
	}
	return in.judge()
}

// A file that is cut anywhere is refused.
func TestCutFiles(t *testing.T) {
	for format, name := range map[string]string{Camt053: "camt053_2026-11-30.xml", MT940: "mt940_2026-11-30.sta"} {
		whole := strings.TrimRight(kitFile(t, name), "\r\n")
		b := readers()[format]
		if err := readsSoundly(t, b, whole); err != nil {
			t.Fatal(err)
		}
		for n := range len(whole) {
			if readsSoundly(t, b, whole[:n]) == nil {
				t.Fatalf("%s: cut after %d of %d bytes, and read", name, n, len(whole))
			}
		}
	}
}

// No digit of a sum can be changed without being noticed, nor a line doubled or left out.
func TestChangedSums(t *testing.T) {
	for format, c := range map[string][3]string{Camt053: {"camt053_2026-11-30.xml", "<Amt Ccy=\"EUR\">", "."}, MT940: {"mt940_2026-11-30.sta", ":61:2611301130", ","}} {
		whole, b := kitFile(t, c[0]), readers()[format]
		at := 0
		for {
			next := strings.Index(whole[at:], c[1])
			if next < 0 {
				break
			}
			at += next + len(c[1])
			for i := at; whole[i] != '<' && whole[i] != 'N' && i < at+8; i++ {
				if whole[i] < '0' || whole[i] > '9' {
					continue
				}
				changed := []byte(whole)
				changed[i] = '0' + (changed[i]-'0'+1)%10
				detail := strings.Contains(whole[max(0, at-130):at], "<TxDtls>") // the entry's own sum stands above it
				if err := readsSoundly(t, b, string(changed)); err == nil && !detail {
					t.Errorf("%s: byte %d changed, and read: %s", c[0], i, changed[max(0, i-20):i+10])
				}
			}
		}
	}
}

func FuzzStatement(f *testing.F) {
	for name, format := range map[string]string{"camt053_2026-11-30.xml": Camt053, "mt940_2026-11-30.sta": MT940} {
		f.Add(format, []byte(kitFile(f, name)))
	}
	f.Add(CSV, []byte("Date,Amount,Balance,Text\n2026-11-30,1.00,1.00,a\n2026-11-30,-1.00,0.00,b\n"))
	f.Fuzz(func(t *testing.T, format string, text []byte) {
		b, known := readers()[format]
		if !known || bytes.Count(text, []byte("<")) > 10_000 {
			return
		}
		_ = readsSoundly(t, b, string(text))
	})
}
