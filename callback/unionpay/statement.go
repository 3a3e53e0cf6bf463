package unionpay

import (
	"bufio"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// ReadStatement reads the files of a settlement day: the transactions (ZM) and the corrections (ZME), which are compared, both told by
// their name (INNyymmdd00ZM_<merId>) or by the length of their records; the summaries beside them are known by name and not read.
func (p *Provider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if summary.MatchString(base) {
		return models.Statement{Title: "summary file"}, nil
	}
	promised := layoutOf(base)
	buf := bufio.NewReaderSize(r, 64<<10)
	if _, err := buf.Peek(1); promised == zme && errors.Is(err, io.EOF) {
		return zmeStatement, nil // a day without corrections has an empty file of them
	}
	if err := parse.Sniff(name, buf); err != nil {
		return models.Statement{}, err
	}
	rows := newRecords(name, buf, promised)
	years := years{zone: zone}
	years.settled, years.known = settlementDay(base, zone)
	for {
		more, err := rows.next()
		if err != nil {
			return models.Statement{}, err
		}
		if !more {
			return rows.statement()
		}
		entry, err := p.entry(rows, years)
		if err != nil {
			return models.Statement{}, err
		}
		if err := each(entry); err != nil {
			return models.Statement{}, err
		}
	}
}

// zmeStatement: what corrections take back has no other file, and nothing else is in this one.
var zmeStatement = models.Statement{Compared: true, Title: zme.title, Only: models.Chargeback}

// statement is what the file was, at its end. It has no totals and no last line, so a file cut behind a record looks whole.
func (r *records) statement() (models.Statement, error) {
	switch {
	case r.count == 0:
		return models.Statement{}, &models.FileError{File: r.file, What: "no records", Next: "download it again, or declare a day without one by --no-statement"}
	case r.layout == zme:
		return zmeStatement, nil
	}
	return models.Statement{Compared: true, Title: r.layout.title}, nil
}

var (
	summary = regexp.MustCompile(`(?i)^(RD\d|RN\d|PED_)`)
	ourFile = regexp.MustCompile(`(?i)^IN[A-Z](\d{6})\d\d(ZME?)_`)
	anyDate = regexp.MustCompile(`(?:^|\D)(20\d\d)-?(\d\d)-?(\d\d)(?:\D|$)`)
)

// layoutOf is what a file's name promises, nil for a name that is not UnionPay's.
func layoutOf(base string) *layout {
	found := ourFile.FindStringSubmatch(base)
	switch {
	case found == nil:
		return nil
	case strings.EqualFold(found[2], "ZME"):
		return zme
	}
	return zm
}

// settlementDay is the day a file's name tells.
func settlementDay(base string, zone *time.Location) (time.Time, bool) {
	text := ""
	if found := ourFile.FindStringSubmatch(base); found != nil {
		text = "20" + found[1]
	} else if found := anyDate.FindStringSubmatch(base); found != nil {
		text = found[1] + found[2] + found[3]
	}
	day, err := time.ParseInLocation("20060102", text, zone)
	return day, err == nil
}

// years gives the file's times the year that they lack.
type years struct {
	zone    *time.Location
	settled time.Time // the settlement day, where the file's name tells it
	known   bool
}

// of reads MMDDhhmmss. No payment lies after its settlement day, so a later date is of the year before; without a known day the
// date that UnionPay's queryId begins with decides, "" if there is none.
func (y years) of(text, queryID string) (time.Time, error) {
	if y.known {
		at, err := moment(y.settled.Format("2006")+text, y.zone)
		if len(text) >= len(dayLayout) && text[:len(dayLayout)] > y.settled.Format(dayLayout) {
			at, err = moment(y.settled.AddDate(-1, 0, 0).Format("2006")+text, y.zone)
		}
		return at, err
	}
	near, err := time.ParseInLocation("20060102", queryID[:min(len(queryID), len("20060102"))], y.zone)
	if err != nil {
		return time.Time{}, errors.New("nothing tells its year; keep the file's own name, INNyymmdd00ZM_… or one with the date YYYY-MM-DD")
	}
	at, ok := nearest(text, near, y.zone)
	if !ok {
		return time.Time{}, errors.New("no time, expected MMDDhhmmss")
	}
	return at, nil
}
