package layout

import (
	"io"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"paybook/callback/parse"
	"paybook/models"
)

// Read reads a file in the layout, row by row, and hands over its entries. Times without an offset are of zone. Rows of a kind nobody
// mapped are adjustments of an UnknownKind, and an error in the default layout, whose words are fixed; statuses nobody mapped are
// StatusUnknown. With a footer configured, a file without it is cut; counted is true when the footer has counted the rows.
func (l *Layout) Read(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (counted bool, err error) {
	t, err := parse.NewTable(name, decoded(r, l.encoding), l.options)
	if err != nil {
		return false, err
	}
	rows := rowReader{Table: t, Layout: l, zone: zone}
	if err := rows.needColumns(); err != nil {
		return false, err
	}
	return rows.each(each)
}

// each hands over the entries of the rows, up to the footer. counted is true when the footer has counted them.
func (r *rowReader) each(each func(models.Entry) error) (counted bool, err error) {
	for {
		ok, err := r.Next()
		if ok && r.isFooter() {
			return r.checkFooter(r.number)
		}
		if ok && r.records != nil {
			var other bool
			if other, err = r.otherRecord(err); other {
				continue
			}
		}
		if err != nil {
			return false, err
		}
		if !ok {
			return false, r.checkEnd()
		}
		r.number++
		e, err := r.entry()
		if err != nil {
			return false, err
		}
		if err := each(e); err != nil {
			return false, err
		}
	}
}

func decoded(r io.Reader, name string) io.Reader {
	var from encoding.Encoding
	switch name {
	case "gbk":
		from = simplifiedchinese.GBK
	case "gb18030":
		from = simplifiedchinese.GB18030
	case "utf-16":
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	default:
		return r
	}
	return from.NewDecoder().Reader(r)
}

// rowReader reads the rows of one file.
type rowReader struct {
	*parse.Table
	*Layout
	zone    *time.Location
	number  int // of the row, from 1; what is no record is not counted
	zonesAt map[string]*time.Location

	at         places
	lastKind   memo[models.TransactionKind]
	lastStatus memo[models.TransactionStatus]
}

func (r *rowReader) needColumns() error {
	if f := r.footer; f != nil {
		if err := r.Need(f.column); err != nil {
			return err
		}
		if f.count != "" && !r.Has(f.count) {
			return r.Need(f.count)
		}
	}
	if r.records != nil {
		if err := r.Need(r.records.column); err != nil {
			return err
		}
	}
	r.findPlaces()
	return r.Need(r.needed...)
}
