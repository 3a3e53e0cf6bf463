package layout

import (
	"fmt"
	"strconv"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// footer is the line that ends the rows: its column holds a fixed text. The cell of the count column, by default the one behind
// the marker if a whole number stands there, is the number of rows before it.
type footer struct{ column, equals, count string }

func readFooter(s *parse.Section) *footer {
	o := s.Object("footer")
	if o == nil {
		return nil
	}
	f := &footer{column: columnName(o, "column"), equals: o.Need("equals"), count: columnName(o, "count")}
	if f.column == "" {
		o.Fail("column", "missing")
	}
	o.Close()
	return f
}

func (r *rowReader) isFooter() bool {
	return r.footer != nil && r.Get(r.footer.column) == r.footer.equals
}

// checkFooter compares the footer's number of rows with ours, and makes sure that nothing follows.
func (r *rowReader) checkFooter(count int) (counted bool, err error) {
	text, column := r.footerCount()
	said, err := strconv.Atoi(text)
	counted = err == nil
	switch {
	case !counted && r.footer.count != "":
		return false, r.Fail(column, "%q: the footer's number of rows expected", text)
	case !counted && r.Cut():
		return false, &models.FileError{File: r.File, Line: r.Line(), What: "the file ends within its footer: it is cut", Next: "download it again"}
	case counted && said != count:
		return false, r.Fail(column, "%d rows, footer says %d: the file is cut or was edited", count, said)
	}
	ok, err := r.Next()
	if ok {
		return false, &models.FileError{File: r.File, Line: r.Line(), What: "a row follows the footer", Next: "are two files in one?"}
	}
	return counted, err
}

func (r *rowReader) footerCount() (text, column string) {
	if column = r.footer.count; column != "" {
		return r.Get(column), column
	}
	for i, name := range r.Header() {
		if name == r.footer.column && i+1 < len(r.Cells()) && digitsOnly(r.Cells()[i+1]) {
			return r.Cells()[i+1], fmt.Sprint(i + 2)
		}
	}
	return "", r.footer.column
}

func digitsOnly(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func (r *rowReader) checkEnd() error {
	if r.footer == nil {
		return nil
	}
	return &models.FileError{File: r.File, What: "footer missing: the file is cut", Next: "download it again"}
}
