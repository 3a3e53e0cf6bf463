package layout

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Frame is what has stood around the rows of a framed file.
type Frame struct {
	Rows  int64 // in this file
	Ended bool  // the footer was there
	Total int64 // rows of all files of the report, as the footer counts them; -1: nobody has counted
}

// HasFooter is true for a layout that says how a report ends.
func (l *Layout) HasFooter() bool { return l.footer != nil }

// Heads is true for cells that are a header with all the columns that are named.
func (l *Layout) Heads(cells []string) bool {
	return slices.Contains(cells, l.needed[0]) && len(l.lacks(cells)) == 0
}

// lacks are the columns that cells do not name.
func (l *Layout) lacks(cells []string) (missing []string) {
	for _, name := range l.named() {
		if !slices.ContainsFunc(cells, func(cell string) bool { return squeezed(cell) == name }) {
			missing = append(missing, name)
		}
	}
	return missing
}

// named are all columns that the settings name of the header.
func (l *Layout) named() []string {
	names := slices.Clone(l.needed)
	if l.records != nil {
		names = append(names, l.records.column)
	}
	if l.footer != nil {
		names = append(names, l.footer.column)
	}
	return names
}

// Shares is true for cells that name more than half of the columns: such a row is meant to be the header.
func (l *Layout) Shares(cells []string) bool { return 2*len(l.lacks(cells)) < len(l.named()) }

// framed reads one file.
type framed struct {
	rowReader
	frame Frame
	count int // index of the footer's cell that counts; -1: not found yet
}

// ReadFramed reads a file in which records of other kinds stand before, between and behind the rows, and hands over its entries: the
// header is the first row that has all the columns, and may come again. above is told the cells of each row above it. t is opened with
// NoHeader and Ragged; times without an offset are of zone. A missing footer is told, not refused: who knows the parts of a report
// knows which of them must have it.
func (l *Layout) ReadFramed(t *parse.Table, zone *time.Location, above func(cells []string), each func(models.Entry) error) (Frame, error) {
	f := &framed{rowReader: rowReader{Table: t, Layout: l, zone: zone}, frame: Frame{Total: -1}, count: -1}
	if err := f.findHeader(above); err != nil {
		return f.frame, err
	}
	for {
		ok, err := f.Next()
		switch {
		case !ok && err != nil:
			return f.frame, err
		case !ok:
			return f.frame, f.checkCounted()
		}
		if err := f.row(err, each); err != nil {
			return f.frame, err
		}
	}
}

// findHeader reads up to the header. In its absence the error is about the first row that is meant to be it.
func (f *framed) findHeader(above func(cells []string)) error {
	var near error
	for {
		ok, err := f.Next()
		switch {
		case err != nil:
			return err
		case !ok && near != nil:
			return near
		case !ok:
			return &models.FileError{File: f.File, What: "no row has the columns that " + f.path + " names: " + strings.Join(f.named(), ", "), Next: compare}
		}
		missing := f.lacks(f.Cells())
		if len(missing) == 0 {
			return f.head()
		}
		if near == nil && f.Shares(f.Cells()) {
			near = &models.FileError{File: f.File, Line: f.Line(), Column: missing[0], Next: compare, What: "the header lacks columns that " + f.path +
				" names: " + strings.Join(missing, ", ") + "; it has " + strings.Join(f.Cells(), ", ")}
		}
		above(f.Cells())
	}
}

// head makes the current row the header.
func (f *framed) head() error {
	err := f.Head()
	f.findPlaces()
	return err
}

const compare = "compare the settings with the file: its columns are named in the language of the account"

// row reads the row that has just been reached; wrong is what is wrong with its number of cells.
func (f *framed) row(wrong error, each func(models.Entry) error) error {
	if f.isFooter() {
		return f.readFooter()
	}
	if f.Heads(f.Cells()) {
		return f.head()
	}
	if f.records != nil {
		if other, err := f.otherRecord(wrong); other || err != nil {
			return err
		}
	}
	switch {
	case f.frame.Ended:
		return &models.FileError{File: f.File, Line: f.Line(), What: "a row follows the footer", Next: "are two files in one?"}
	case wrong != nil:
		return f.noRow(wrong)
	}
	f.number++
	f.frame.Rows++
	e, err := f.entry()
	if err != nil {
		return err
	}
	return each(e)
}

// noRow adds to what is wrong with a row's cells that the line may be none.
func (f *framed) noRow(wrong error) error {
	var at *models.FileError
	if errors.As(wrong, &at) && f.records == nil && !f.Cut() {
		at.Next = "if the line is no movement, say by " + f.path + ".records or footer which ones are none"
	}
	return wrong
}

// readFooter reads a line of the footer: the names of its own columns, or what stands in them.
func (f *framed) readFooter() error {
	f.frame.Ended = true
	name := f.footer.count
	if name == "" {
		return nil
	}
	if i := slices.IndexFunc(f.Cells(), func(cell string) bool { return squeezed(cell) == name }); i >= 0 && !digitsOnly(name) {
		f.count = i
		return nil
	}
	said := f.counted()
	if !digitsOnly(said) { // names, too, or another line of the footer
		return nil
	}
	n, err := strconv.ParseInt(said, 10, 32)
	switch {
	case err != nil:
		return f.Fail(name, "%q: the footer's number of rows expected", clip(said))
	case f.frame.Total >= 0 && f.frame.Total != n:
		return f.Fail(name, "%d rows, a line before says %d", n, f.frame.Total)
	}
	f.frame.Total = n
	return nil
}

// counted is the cell in which the count would stand: under its name in the footer, or in the header, or by its place from 1.
func (f *framed) counted() string {
	i := f.count
	if i < 0 {
		if i = slices.Index(f.Header(), f.footer.count); i < 0 {
			place, err := strconv.Atoi(f.footer.count)
			if err != nil {
				return ""
			}
			i = place - 1
		}
	}
	if i < 0 || i >= len(f.Cells()) {
		return ""
	}
	return f.Cells()[i]
}

// checkCounted refuses a footer that was to count the rows and does not, once all of it is read.
func (f *framed) checkCounted() error {
	if !f.frame.Ended || f.footer.count == "" || f.frame.Total >= 0 {
		return nil
	}
	return &models.FileError{File: f.File, Line: f.Line(), Column: f.footer.count, What: "the footer does not say how many rows there are",
		Next: "is the file cut, or does " + f.path + ".footer.count name another column?"}
}
