package paypal

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// reportFile is an STL or TRR file while it is read. Its first column says what kind of record a row is: RH and FH head the
// report and the file; SH, CH, SB, SF, SC are a section's head, column names, movements, sums and count; RF, RC and FF end the report and the file.
type reportFile struct {
	*parse.Table
	p    *Provider
	zone *time.Location
	each func(models.Entry) error

	account string // that the report is of, by its head
	detail  bool   // TRR: rows have a status, also those that moved nothing
	seen    map[string]bool
	number  int64          // of this file among the report's, from 1
	section *tally         // nil: none is open
	columns map[string]int // of the section, by the name we know them by
	names   []string       // of the section, as written
	first   bool           // the open section is the file's first
	all     *tally
	total   int64     // rows of all the report's files, by its count (RC)
	from    time.Time // of the sections' periods, the earliest and the latest; zero: not told
	to      time.Time
}

// records are how each kind of record is read, and where it may stand: in a section, or outside.
var records = map[string]struct {
	read    func(*reportFile) error
	inside  bool
	outside bool
}{
	"RH": {(*reportFile).readReportHead, false, true},
	"FH": {(*reportFile).readFileHead, false, true},
	"SH": {(*reportFile).readSectionHead, false, true},
	"CH": {(*reportFile).readColumns, true, false},
	"SB": {(*reportFile).readMovement, true, false},
	"SF": {(*reportFile).readSectionSum, true, false},
	"SC": {(*reportFile).readSectionCount, true, false},
	"RF": {(*reportFile).readReportSum, false, true},
	"RC": {(*reportFile).readReportCount, false, true},
	"FF": {(*reportFile).readFileCount, true, true}, // a section may go on in the report's next file
}

func (f *reportFile) read() error {
	f.seen, f.all = map[string]bool{}, newTally()
	for {
		more, err := f.Next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := f.readRecord(); err != nil {
			return err
		}
	}
	if !f.seen["FF"] {
		return f.cut("the last record (FF) is missing after %d movements: the file was cut", f.all.rows)
	}
	return nil
}

func (f *reportFile) readRecord() error {
	kind := f.Cells()[0]
	record, known := records[kind]
	open := f.section != nil
	switch {
	case f.seen["FF"]:
		return f.Fail("", "something follows the last record (FF): %q", clip(kind))
	case !known:
		return f.Fail("1", "%q is no record type we know", clip(kind))
	case open && !record.inside:
		return f.Fail("1", "a %s within a section: its count (SC) is missing", kind)
	case !open && !record.outside:
		return f.Fail("1", "a %s outside of a section (SH)", kind)
	}
	f.seen[kind] = true
	return record.read(f)
}

// cell is a cell by its place, from 1 for the one behind the record type; "" where the row ends before.
func (f *reportFile) cell(i int) string {
	if cells := f.Cells(); i < len(cells) {
		return cells[i]
	}
	return ""
}

func (f *reportFile) readReportHead() error {
	if f.seen["FH"] {
		return f.Fail("1", "a second report in the file")
	}
	f.account = f.cell(3)
	return f.checkAccount(f.account)
}

func (f *reportFile) readFileHead() (err error) {
	if f.number != 0 {
		return f.Fail("1", "a second file number")
	}
	f.number, err = f.count(1)
	if err == nil && f.number == 0 {
		err = f.Fail("2", "file numbers begin at 1")
	}
	return err
}

func (f *reportFile) readSectionHead() error {
	if f.number == 0 {
		return f.Fail("1", "a section before the file number (FH)")
	}
	f.section, f.columns, f.first = newTally(), nil, !f.seen["SC"]
	if err := f.checkAccount(f.cell(3)); err != nil {
		return err
	}
	return f.readPeriod()
}

// readPeriod: a section says which day it is of, by its first and its last second, so that a day without movements can be told from
// another. It may leave both out.
func (f *reportFile) readPeriod() error {
	if f.cell(1) == "" && f.cell(2) == "" {
		return nil
	}
	var ends [2]time.Time
	for i := range ends {
		at, err := parse.LocalTime(f.cell(1+i), f.zone, reportTime)
		if err != nil {
			return f.Fail(strconv.Itoa(2+i), "the period: %v", err)
		}
		ends[i] = at
	}
	from, to := ends[0], ends[1]
	if to.Second() == 59 { // else the report is of another version, which names the end itself
		to = to.Add(time.Second)
	}
	if !from.Before(to) {
		return f.Fail("3", "the period ends at %s, before it begins", clip(f.cell(2)))
	}
	if f.from.IsZero() || from.Before(f.from) {
		f.from = from
	}
	if to.After(f.to) {
		f.to = to
	}
	return nil
}

// checkAccount: a report can be of several accounts, so its head may name one and its sections others.
func (f *reportFile) checkAccount(account string) error {
	if f.p.merchantIDs == nil || account == "" || slices.Contains(f.p.merchantIDs, account) {
		return nil
	}
	return f.Fail("4", "account %q is not in settings.merchant_ids: another account's report", clip(account))
}

// readColumns finds the columns we know by their squeezed names.
func (f *reportFile) readColumns() error {
	f.names = slices.Clone(f.Cells())
	places := map[string]int{}
	for i, name := range f.names {
		key := squeeze(name)
		if _, twice := places[key]; twice && key != "" {
			return f.Fail(name, "the header names this column twice")
		}
		places[key] = i
	}
	f.columns = map[string]int{}
	for _, name := range slices.Concat(needed, optional) {
		if i, ok := places[squeeze(name)]; ok {
			f.columns[name] = i
		}
	}
	for _, name := range needed {
		if _, ok := f.columns[name]; !ok {
			return f.Fail(name, "the header has no such column; it has %s", clip(strings.Join(f.names[1:], ", ")))
		}
	}
	_, f.detail = f.columns[columnStatus]
	return nil
}

func (f *reportFile) readMovement() error {
	switch got := len(f.Cells()); {
	case f.columns == nil:
		return f.Fail("1", "a movement before the column names (CH)")
	case got != len(f.names):
		return f.cut("%d cells, the header has %d: the row is cut or damaged", got, len(f.names))
	}
	e, err := f.entry()
	if err != nil {
		return err
	}
	return f.each(e)
}

// count reads a cell of a record that must be a whole number.
func (f *reportFile) count(i int) (int64, error) {
	n, err := strconv.ParseUint(f.cell(i), 10, 32)
	if err != nil {
		return 0, f.Fail(strconv.Itoa(i+1), "%q is no count", clip(f.cell(i)))
	}
	return int64(n), nil
}

// cut is Fail for what a broken download looks like.
func (f *reportFile) cut(format string, args ...any) error {
	err := f.Fail("", format, args...)
	if fe, ok := err.(*models.FileError); ok { //nolint:errorlint // Fail makes it
		fe.Next = "download it again"
	}
	return err
}
