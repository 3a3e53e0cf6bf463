package paypal

import (
	"bufio"
	"bytes"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// sort is which of PayPal's reports a file is.
type sort struct {
	report string // PayPal's word for it: BALANCE_TRANSACTIONAL_REPORT; "": not told
	is     sortKind
}

// title is the report's name for people.
func (s sort) title() string { return strings.ToLower(strings.ReplaceAll(s.report, "_", " ")) }

type sortKind int

const (
	sortUnknown    sortKind = iota
	sortSettlement          // STL or TRR
	sortBalance
	sortOther // a report of the newer kind that lists no day's movements
)

// fileName is how PayPal names the files of its newer reports: subscription, account, sort, template, day or days, number of the file,
// number of files, time of making (developer.paypal.com/reports/reference/terminology).
var fileName = regexp.MustCompile(`^(.+-(BTR|BRR|DTR|DRR|FTR)-.+-\d{4,14}(?:-\d{14})?)-(\d{1,3})-(\d{1,3})-.+`)

// sortNames are the sorts in a file's name.
var sortNames = map[string]sort{
	"BTR": {"BALANCE_TRANSACTIONAL_REPORT", sortBalance}, "BRR": {"BALANCE_RECONCILIATION_REPORT", sortBalance},
	"DTR": {"DISBURSEMENTS_REPORT", sortOther}, "DRR": {"DISBURSEMENT_RECONCILIATION_REPORT", sortOther},
	"FTR": {"FEE_TRANSACTIONAL_REPORT", sortOther},
}

// partOf is which part of its report a file is, by its name; number 0 when that has been changed.
func partOf(file string) models.Part {
	m := fileName.FindStringSubmatch(baseName(file))
	if m == nil {
		return models.Part{}
	}
	number, _ := strconv.ParseInt(m[3], 10, 64)
	files, _ := strconv.ParseInt(m[4], 10, 64)
	return models.Part{Of: "balance report " + m[1], Number: number, Last: number == files}
}

func baseName(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }

// headRows is how many rows are looked at to tell a file, and headSize how many bytes they may have.
const (
	headRows = 20
	headSize = 64 << 10
)

// sortOf tells a file by its first rows, which stay unread, else by its name. The columns of the settlement report go first: whoever
// names those for his balance report still has his settlement reports read in hundredths.
func (p *Provider) sortOf(name string, src *bufio.Reader, delimiter rune) sort {
	head, _ := src.Peek(headSize) // what can't be read here can't be read later, and is told then
	t, err := parse.NewTable(name, bytes.NewReader(head), parse.TableOptions{Delimiter: delimiter, NoHeader: true, Ragged: true})
	if err != nil {
		return sort{}
	}
	named := sort{}
	if m := fileName.FindStringSubmatch(baseName(name)); m != nil {
		named = sortNames[m[2]]
	}
	near := false
	for range headRows {
		if more, err := t.Next(); err != nil || !more {
			break
		}
		switch s := p.sortByRow(t.Cells()); {
		case s.is == sortBalance && named.is == sortOther:
			return named
		case s.is != sortUnknown:
			return s
		}
		near = near || p.balance != nil && p.balance.Shares(t.Cells()) && !isActivity(t.Cells())
	}
	if near && named.is == sortUnknown {
		return sort{is: sortBalance} // that lacks a column
	}
	return named
}

var reportName = regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*_REPORT$`)

// sortByRow tells a file by one of its first rows.
func (p *Provider) sortByRow(cells []string) sort {
	if isSettlementHeader(cells) {
		return sort{is: sortSettlement}
	}
	if i := slices.IndexFunc(cells, reportName.MatchString); i > 0 && cells[0] == "RH" {
		if strings.Contains(cells[i], "BALANCE_") {
			return sort{cells[i], sortBalance}
		}
		return sort{cells[i], sortOther}
	}
	if p.balance != nil && p.balance.Heads(cells) {
		return sort{is: sortBalance}
	}
	return sort{}
}

func isSettlementHeader(cells []string) bool { return hasColumns(cells, needed...) }

// isActivity is true for the header of the website's activity download, whose dates and times have a column each.
func isActivity(cells []string) bool { return hasColumns(cells, "Date", "Time", "TimeZone", "Gross") }

func hasColumns(cells []string, names ...string) bool {
	for _, name := range names {
		if !slices.ContainsFunc(cells, func(cell string) bool { return squeeze(cell) == squeeze(name) }) {
			return false
		}
	}
	return true
}
