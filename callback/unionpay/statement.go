package unionpay

import (
	"bufio"
	"errors"
	"fmt"
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
	base := baseOf(name)
	if summary.MatchString(base) {
		return models.Statement{Title: "summary file"}, nil
	}
	promised := layoutOf(base)
	buf := bufio.NewReaderSize(r, 64<<10)
	if _, err := buf.Peek(1); promised == zme && errors.Is(err, io.EOF) {
		return statementOf(zme, base, zone), nil // a day without corrections has an empty file of them
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
		if !more && rows.count == 0 {
			return models.Statement{}, &models.FileError{File: name, What: "no records", Next: "download it again, or declare a day without one by --no-statement"}
		}
		if !more {
			return statementOf(rows.layout, base, zone), nil
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

// statementOf is what a file is. It has no totals and no last line, so one that is cut behind a record looks whole. What corrections
// take back has no other file, and nothing else is in theirs; its rows belong to the settlement day in its name, whenever they happened.
func statementOf(l *layout, base string, zone *time.Location) models.Statement {
	s := models.Statement{Compared: true, Title: l.title}
	day, named := dayOfName(base, zone)
	if named {
		s.From, s.To = day.Add(dayCut).UTC(), day.AddDate(0, 0, 1).Add(dayCut).UTC()
	}
	if l == zme {
		s.Only, s.Batch = models.Chargeback, named
	}
	return s
}

// baseOf is a name without its folders, of either spelling, and without what it was packed in.
func baseOf(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

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

// dayOfName is the settlement day that UnionPay's own name of a file tells: its beginning at midnight, not at the cut.
func dayOfName(base string, zone *time.Location) (time.Time, bool) {
	found := ourFile.FindStringSubmatch(base)
	if found == nil {
		return time.Time{}, false
	}
	day, err := time.ParseInLocation("20060102", "20"+found[1], zone)
	return day, err == nil
}

// settlementDay is the day a file's name tells, be it UnionPay's own name or somebody's that has a date.
func settlementDay(base string, zone *time.Location) (time.Time, bool) {
	if day, ok := dayOfName(base, zone); ok {
		return day, true
	}
	found := anyDate.FindStringSubmatch(base)
	if found == nil {
		return time.Time{}, false
	}
	day, err := time.ParseInLocation("20060102", found[1]+found[2]+found[3], zone)
	return day, err == nil
}

// years gives the file's times the year that they lack.
type years struct {
	zone    *time.Location
	settled time.Time // the settlement day, where the file's name tells it
	known   bool
}

// near reads MMDDhhmmss, when a row happened: at most days from its settlement day, so the year is the nearest. A file of another day
// than its name says keeps its rows' day that way, and is refused for it. Without a known day the date that UnionPay's queryId begins
// with decides, "" if there is none.
func (y years) near(text, queryID string) (time.Time, error) {
	day, err := y.day(queryID)
	if err != nil {
		return time.Time{}, err
	}
	at, ok := nearest(text, day.Add(noon), y.zone)
	if !ok || at.Sub(day).Abs() > halfYear { // 29 February is not in each year
		return time.Time{}, fmt.Errorf("%q is no time of %d, expected MMDDhhmmss", clip(text), day.Year())
	}
	return at, nil
}

// before reads MMDDhhmmss, when the payment happened that a row is about. That may be long ago, but not after the row's day.
func (y years) before(text, queryID string) (time.Time, error) {
	day, err := y.day(queryID)
	if err != nil {
		return time.Time{}, err
	}
	if len(text) >= len(dayLayout) && text[:len(dayLayout)] > day.Format(dayLayout) {
		day = day.AddDate(-1, 0, 0)
	}
	return moment(day.Format("2006")+text, y.zone)
}

const (
	noon     = 12 * time.Hour
	halfYear = 184 * 24 * time.Hour
)

func (y years) day(queryID string) (time.Time, error) {
	if y.known {
		return y.settled, nil
	}
	day, err := time.ParseInLocation("20060102", queryID[:min(len(queryID), len("20060102"))], y.zone)
	if err != nil {
		return day, errors.New("nothing tells its year; keep the file's own name, INNyymmdd00ZM_… or one with the date YYYY-MM-DD")
	}
	return day, nil
}
