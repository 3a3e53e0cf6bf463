package paypal

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"paybook/callback/layout"
	"paybook/callback/parse"
	"paybook/models"
)

const balanceSetting = "settings.balance_report"

// balance is how the account's balance report is written.
type balance struct {
	layout.Layout
	zone *time.Location // of times without an offset; nil: the account's
}

// balanceTimes are how PayPal's reports write times, and what their columns may hold else.
var balanceTimes = []string{reportTime, time.RFC3339, "2006/01/02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// readBalance reads the setting; nil when there is none.
func readBalance(raw json.RawMessage) (*balance, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	v, err := parse.StrictJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", balanceSetting, err)
	}
	keys, ok := v.Any().(map[string]any)
	if !ok {
		return nil, errors.New(balanceSetting + ": an object with keys expected")
	}
	s := parse.NewSection(balanceSetting, keys)
	b := &balance{Layout: layout.NewFramed(s, balanceTimes...)}
	if s.Has("timezone") {
		b.zone, _ = time.LoadLocation(s.Zone("timezone", ""))
	}
	s.Close()
	return b, s.Broken()
}

// readBalanceReport reads a balance report: CSV in UTF-8, amounts in major units, a minus for what left us. Records RH stand above the
// header and RF behind the rows, each with a line of names; of a report in several files only the first has the one and only the last
// the other.
//
// Format: developer.paypal.com/reports/balance.
func (p *Provider) readBalanceReport(t *parse.Table, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	s := models.Statement{Compared: true, Title: "balance report", Only: p.balance.Only(), Part: partOf(t.File)}
	if p.balance.zone != nil {
		zone = p.balance.zone
	}
	period := func(cells []string) {
		if from, to, ok := periodOf(cells); ok {
			s.From, s.To = from, to
		}
	}
	frame, err := p.balance.ReadFramed(t, zone, period, func(e models.Entry) error { return each(named(e)) })
	if err == nil {
		err = p.checkEnd(t.File, s.Part, frame)
	}
	s.Part.Rows, s.Part.Total = frame.Rows, frame.Total
	s.Part.Last = s.Part.Last || frame.Ended
	s.Totals = frame.Total >= 0 && s.Part.Number <= 1
	if s.Part.Number == 0 { // by its name no part of anything
		s.Part = models.Part{}
	}
	return s, err
}

// checkEnd holds the footer against the rows, where this file is all of the report or its end.
func (p *Provider) checkEnd(file string, part models.Part, frame layout.Frame) error {
	whole := part.Number == 0 || part.Number == 1 && part.Last
	switch {
	case p.balance.HasFooter() && !frame.Ended && (whole || part.Last):
		return &models.FileError{File: file, What: fmt.Sprintf("the footer (%s.footer) is missing after %d rows: the file is cut", balanceSetting, frame.Rows),
			Next: "download it again; of a report in several files keep the names that PayPal gave them"}
	case whole && frame.Total >= 0 && frame.Total != frame.Rows:
		return &models.FileError{File: file, What: fmt.Sprintf("%d rows, the footer says %d: the file is cut or was edited", frame.Rows, frame.Total),
			Next: "download it again; of a report in several files keep the names that PayPal gave them"}
	}
	return nil
}

// named gives a movement the names that the settlement report would give it: what a payment refers to is an order or an authorisation,
// no row of the book, and a chargeback is known by the capture.
func named(e models.Entry) models.Entry {
	switch e.Kind {
	case models.Payment:
		e.ParentID = ""
	case models.Chargeback, models.ChargebackReversal:
		if e.ParentID != "" {
			e.Aliases = []string{e.ParentID}
		}
	}
	return e
}

// periodOf reads when a report's days begin and end from the values of its head: RH, report, status, from, to, …
func periodOf(cells []string) (from, to time.Time, ok bool) {
	if len(cells) < 5 || cells[0] != "RH" {
		return from, to, false
	}
	from, err := parse.LocalTime(cells[3], time.UTC, reportTime)
	if err != nil {
		return from, to, false
	}
	to, err = parse.LocalTime(cells[4], time.UTC, reportTime)
	if to.Second() == 59 { // the last second, as in the settlement report
		to = to.Add(time.Second)
	}
	return from, to, err == nil && from.Before(to)
}
