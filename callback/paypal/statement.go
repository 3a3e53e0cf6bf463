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

// ReadStatement reads a settlement report (STL: what moved the balance) or a transaction detail report (TRR: every transaction,
// with its status); give one of the two for a day, not both. They are UTF-8, old ones UTF-16. Other reports of PayPal, which
// write major units, are recognised and not compared. Times carry their offset, so zone is not needed. A
// report of more than a million rows comes in several files, which are told to be complete by the last one's count.
//
// Format: Settlement Report Specification 9.0.4, developer.paypal.com/reports/settlement.
func (p *Provider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	src, decoded := decode(bufio.NewReaderSize(r, 64<<10))
	o := parse.TableOptions{Delimiter: delimiter(src), NoHeader: true, Ragged: true, Converted: decoded}
	t, err := parse.NewTable(name, src, o)
	if err != nil {
		return models.Statement{}, err
	}
	if t.Cells()[0] != "RH" {
		return readOther(t)
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

// readOther reads a file that is no STL or TRR to its end. The balance report and the activity download are told by their
// columns; their layout is the downloader's choice, and their units are others, so nothing is taken from them.
func readOther(t *parse.Table) (models.Statement, error) {
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
	for {
		if more, err := t.Next(); err != nil || !more {
			return models.Statement{Title: "balance report or activity download"}, err
		}
	}
}

// squeeze makes column names comparable: one known header has two blanks in a name, an older format none.
func squeeze(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(name), ""))
}
