package generic

import (
	"fmt"
	"io"
	"time"

	"paybook/callback/layout"
	"paybook/callback/parse"
	"paybook/models"
)

// statements is how the provider's statements are written, and what days they are of.
type statements struct {
	layout.Layout
	zone    *time.Location // of times without an offset, where the business day is of another zone; nil: the account's
	dayZone string         // of the business day; "": the provider's
	dayCut  time.Duration
	batch   bool // rows may lie outside the day
}

// ReadStatement reads a statement in the configured layout, row by row.
func (p *Provider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	l := &p.statements
	statement := models.Statement{Compared: true, Title: p.name + " statement", Batch: l.batch, Only: l.Only()}
	if l.zone != nil {
		zone = l.zone
	}
	var err error
	statement.Totals, err = l.Read(name, r, zone, each)
	return statement, err
}

func (p *Provider) readStatements(settings *parse.Section) {
	p.statements = statements{Layout: layout.Default()}
	s := settings.Object("statement")
	if s == nil {
		return
	}
	s.Ignore("timezone") // read before, by readZone
	p.statements.Layout = layout.New(s)
	p.statements.readDay(s, p.zone)
	s.Close()
}

// readDay reads when the business day begins, and where.
func (l *statements) readDay(s *parse.Section, zone string) {
	l.dayZone = s.Zone("day_zone", zone)
	if s.Has("day_zone") {
		l.zone, _ = time.LoadLocation(zone) // readZone has refused a bad one
	}
	if text := s.Text("day_cut", ""); text != "" {
		var err error
		if l.dayCut, err = parseCut(text); err != nil {
			s.Fail("day_cut", "%v", err)
		}
	}
	if batch := s.Flag("batch"); batch != nil {
		l.batch = *batch
	}
}

// parseCut reads when a day begins: from noon on it is the evening before.
func parseCut(text string) (time.Duration, error) {
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("%q: HH:MM expected, 00:00 to 11:59 in the morning, 12:00 to 23:59 the evening before", text)
	}
	cut := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	if cut >= 12*time.Hour {
		cut -= 24 * time.Hour
	}
	return cut, nil
}
