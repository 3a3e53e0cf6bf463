package paypal

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"

	"paybook/callback/parse"
	"paybook/models"
)

// ReadStatement reads a settlement report (STL: what moved the balance), a transaction detail report (TRR: every transaction, with its
// status) or, where the settings name its columns, a balance report; give one of them for a day. They are UTF-8, old ones UTF-16. Other
// reports of PayPal, which write major units, are recognised and not compared. Times of STL and TRR carry their offset, so zone is not
// needed for them. A report of more than a million rows comes in several files, which are told to be complete by the last one's count.
//
// Format: Settlement Report Specification 9.0.4, developer.paypal.com/reports/settlement.
func (p *Provider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	src, decoded := decode(bufio.NewReaderSize(r, 64<<10))
	o := parse.TableOptions{Delimiter: delimiter(src), NoHeader: true, Ragged: true, Converted: decoded}
	sort := p.sortOf(name, src, o.Delimiter)
	t, err := parse.NewTable(name, src, o)
	switch {
	case err != nil:
		return models.Statement{}, err
	case sort.is == sortBalance && p.balance != nil:
		return p.readBalanceReport(t, zone, each)
	case sort.is == sortBalance:
		return readUncompared(t, models.Statement{Title: sort.title(), Next: nextBalance})
	case sort.is == sortOther:
		return readUncompared(t, models.Statement{Title: sort.title()})
	case t.Cells()[0] != "RH":
		return p.readOther(t)
	}
	f := &reportFile{Table: t, p: p, zone: zone, each: each}
	if err := f.read(); err != nil {
		return models.Statement{}, err
	}
	return f.statement(), nil
}

// statement is what the file was. Sums stand at the end of a report, over all its files: they are proven by a file that is all of it.
func (f *reportFile) statement() models.Statement {
	s := models.Statement{Compared: true, Title: "settlement report", From: f.from, To: f.to}
	if f.detail {
		s.Title = "transaction detail report"
	}
	s.Part = models.Part{Of: strings.TrimSpace(s.Title + " " + f.account), Number: f.number, Last: f.seen["RC"], Rows: f.all.rows, Total: f.total}
	s.Totals = f.number == 1 && s.Part.Last
	return s
}

// decode turns UTF-16, told by its byte-order mark, into UTF-8.
func decode(src *bufio.Reader) (out *bufio.Reader, decoded bool) {
	mark, _ := src.Peek(2) // what can't be read here can't be read later, and is told then
	if s := string(mark); s != "\xff\xfe" && s != "\xfe\xff" {
		return src, false
	}
	return bufio.NewReaderSize(unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(src), 64<<10), true
}

// delimiter is what stands behind the record type of the first line: reports can be ordered with other ones than the comma.
func delimiter(src *bufio.Reader) rune {
	const longest = len("\ufeff\"RH\"\t")
	head, _ := src.Peek(longest)
	rest := strings.TrimPrefix(string(head), "\ufeff")
	rest, quoted := strings.CutPrefix(rest, `"`)
	rest, isReport := strings.CutPrefix(rest, "RH")
	if quoted {
		rest = strings.TrimPrefix(rest, `"`)
	}
	if isReport && rest != "" && strings.ContainsRune("\t;|", rune(rest[0])) {
		return rune(rest[0])
	}
	return ','
}

// nextBalance is what an account lacks that is given a balance report.
const nextBalance = balanceSetting + " names a balance report's columns and has it compared"

// readOther reads a file that is no STL or TRR, and no balance report that the settings describe. A balance report and an activity
// download are told by their columns; those are the downloader's choice, so nothing is taken from them unasked.
func (p *Provider) readOther(t *parse.Table) (models.Statement, error) {
	var columns []string
	for _, cell := range t.Cells() {
		columns = append(columns, squeeze(cell))
	}
	gross := slices.ContainsFunc(columns, func(c string) bool { return strings.HasPrefix(c, "gross") })
	if !gross || !slices.Contains(columns, "transactionid") {
		return models.Statement{}, &models.FileError{File: t.File, Line: t.Line(), What: "neither a settlement nor a transaction detail report of PayPal " +
			"(its first cell would be RH), nor a report with the columns Transaction ID and Gross; it begins with " + clip(strings.Join(t.Cells(), ", ")),
			Next: "fetch the STL report of the day"}
	}
	s := models.Statement{Title: "balance report or activity download", Next: nextBalance}
	if p.balance != nil {
		s = models.Statement{Title: "activity download, or a balance report of other columns than " + balanceSetting + " names"}
	}
	return readUncompared(t, s)
}

// readUncompared reads a file to its end, which shows whether it is text at all.
func readUncompared(t *parse.Table, s models.Statement) (models.Statement, error) {
	for {
		if more, err := t.Next(); err != nil || !more {
			return s, err
		}
	}
}

// squeeze makes column names comparable: one known header has two blanks in a name, an older format none.
func squeeze(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(name), ""))
}
