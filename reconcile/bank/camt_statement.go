package bank

import (
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"
	"time"

	"paybook/models"
)

// statement reads one Stmt. Its entries are read one by one; what stands before and between them is small.
func (c *camt) statement(line int) error {
	s := &Statement{File: c.file, Label: c.label, Line: line, Page: c.page, Last: c.last}
	var balances []*node
	var summary *node
	count := sheet{}
	for {
		t, at, err := c.token()
		if err != nil {
			return c.cut(at, err)
		}
		start, isStart := t.(xml.StartElement)
		if _, isEnd := t.(xml.EndElement); isEnd {
			break
		}
		if !isStart {
			continue
		}
		nodes := 0
		n, err := c.tree(start, at, 0, &nodes)
		if err != nil {
			return err
		}
		switch n.name {
		case "Bal":
			balances = append(balances, n)
		case "TxsSummry":
			summary = n
		case "Ntry":
			err = c.entry(s, n, &count)
		default:
			err = c.heading(s, n)
		}
		if err != nil {
			return err
		}
	}
	if s.Account == "" {
		return c.fail(line, "Acct/Id", "missing: the statement does not say of which account it is")
	}
	if err := c.balances(s, balances); err != nil {
		return err
	}
	if s.Page == 0 {
		if err := c.summary(s, summary, &count); err != nil {
			return err
		}
	}
	c.statements = append(c.statements, s)
	return nil
}

// heading reads what the statement says of itself.
func (c *camt) heading(s *Statement, n *node) (err error) {
	switch n.name {
	case "Id":
		s.Number = cmp.Or(s.Number, n.text)
	case "ElctrncSeqNb", "LglSeqNb":
		s.Number = n.text
	case "StmtPgntn":
		s.Page, s.Last, err = c.pages(n)
	case "FrToDt":
		err = c.fromTo(s, n)
	case "Acct":
		s.Account = cmp.Or(n.get("Id", "IBAN"), n.get("Id", "Othr", "Id"))
		s.Currency = cmp.Or(n.get("Ccy"), c.bank.Currency)
	}
	return err
}

// pages are the number of a page and whether it is the last; without them there is one.
func (c *camt) pages(n *node) (page int, last bool, err error) {
	if n == nil {
		return 0, true, nil
	}
	if page, err = strconv.Atoi(n.get("PgNb")); err != nil || page < 1 {
		return 0, false, c.fail(n.line, n.name+"/PgNb", "%q: a number expected", clip(n.get("PgNb")))
	}
	last, err = c.flag(n, "LastPgInd")
	return page, last, err
}

func (c *camt) flag(n *node, name string) (bool, error) {
	switch text := n.get(name); text {
	case "true", "1":
		return true, nil
	case "false", "0", "":
		return false, nil
	default:
		return false, c.fail(n.at(name).line, n.name+"/"+name, "%q: true or false expected", clip(text))
	}
}

// fromTo reads the period. Midnight at its end is the end of the day before.
func (c *camt) fromTo(s *Statement, n *node) error {
	from, to := or(n.at("FrDtTm"), n.at("FrDt")), or(n.at("ToDtTm"), n.at("ToDt"))
	if from == nil || to == nil {
		return nil
	}
	var err error
	if s.From, err = c.day(from); err != nil {
		return err
	}
	if s.To, err = c.day(to); err != nil {
		return err
	}
	if s.To.Before(s.From) {
		return c.fail(n.line, "FrToDt", "it ends, %s, before it begins, %s", dateText(s.To), dateText(s.From))
	}
	if _, clock, ok := strings.Cut(to.text, "T"); ok && strings.HasPrefix(clock, "00:00:00") && s.To.After(s.From) {
		s.To = s.To.AddDate(0, 0, -1)
	}
	return nil
}

// day is a date, or the day of a time by the bank's clock.
func (c *camt) day(n *node) (time.Time, error) {
	text := n.text
	if strings.Contains(text, "T") {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return civil(at.In(c.bank.Zone)), nil
		}
	}
	if len(text) > len(time.DateOnly) { // a time without an offset, or a date with one: the day is what is written
		text = text[:len(time.DateOnly)]
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil || at.Year() < 1990 {
		return time.Time{}, c.fail(n.line, n.name, "%q: a date YYYY-MM-DD expected", clip(n.text))
	}
	return at, nil
}

// date is what a choice of Dt and DtTm holds; zero when there is none.
func (c *camt) date(n *node) (time.Time, error) {
	chosen := or(n.at("Dt"), n.at("DtTm"))
	if chosen == nil {
		return time.Time{}, nil
	}
	return c.day(chosen)
}

// amount reads a sum without a sign, in the account's currency.
func (c *camt) amount(s *Statement, n *node, where string) (int64, error) {
	if n == nil {
		return 0, c.fail(s.Line, where, "missing")
	}
	currency := s.Currency
	for _, a := range n.attrs {
		if a.Name.Local == "Ccy" {
			currency = a.Value
		}
	}
	if currency != s.Currency {
		return 0, c.fail(n.line, where, "%s %s: the account's currency is %s", clip(n.text), clip(currency), s.Currency)
	}
	m, err := models.ParseMajor(n.text, currency)
	if err == nil && m.Minor < 0 {
		return 0, c.fail(n.line, where, "%s has a sign; CdtDbtInd says which way it went", m.Text())
	}
	if err != nil {
		return 0, c.fail(n.line, where, "%v", err)
	}
	return m.Minor, nil
}

// signed gives a sum the sign that CdtDbtInd says.
func (c *camt) signed(n *node, minor int64, indicator string) (int64, error) {
	switch indicator {
	case "CRDT":
		return minor, nil
	case "DBIT":
		return -minor, nil
	}
	return 0, c.fail(n.line, n.name+"/CdtDbtInd", "%q: CRDT or DBIT expected", clip(indicator))
}

// balances finds the one that the statement opens with, and the one that it closes with.
func (c *camt) balances(s *Statement, list []*node) error {
	of := map[string]*Balance{}
	var interim []*Balance
	for _, n := range list {
		minor, err := c.amount(s, n.at("Amt"), "Bal/Amt")
		if err != nil {
			return err
		}
		b := &Balance{}
		if b.Minor, err = c.signed(n, minor, n.get("CdtDbtInd")); err != nil {
			return err
		}
		if b.Date, err = c.date(n.at("Dt")); err != nil {
			return err
		}
		code := n.get("Tp", "CdOrPrtry", "Cd")
		if before := of[code]; before != nil && (code == "OPBD" || code == "CLBD") && *before != *b {
			return c.fail(n.line, "Bal", "the statement has two balances %s", code)
		}
		of[code] = b
		if code == "ITBD" {
			interim = append(interim, b)
		}
	}
	if s.Opening = of["OPBD"]; s.Opening == nil {
		s.Opening = of["PRCD"]
	}
	s.Closing = of["CLBD"]
	if s.Opening != nil && s.Closing != nil && s.check() == nil { // a page of the message, perhaps, and a whole statement
		s.Page, s.Last = 0, true
		return nil
	}
	if len(interim) > 0 && s.Opening == nil && s.Page > 1 {
		s.Opening = interim[0]
	}
	if len(interim) > 0 && s.Closing == nil && !s.Last {
		s.Closing = interim[len(interim)-1]
	}
	return nil
}

// sheet counts a statement's entries: those that are booked, and with them those that are not.
type sheet struct {
	booked, all tally
}

type tally struct{ credits, debits, creditSum, debitSum int64 }

func (t *tally) add(minor int64) {
	if minor < 0 {
		t.debits++
		t.debitSum -= minor
		return
	}
	t.credits++
	t.creditSum += minor
}

// summary holds what the statement says that it has against what it has. Some banks count what is only announced, too.
func (c *camt) summary(s *Statement, n *node, have *sheet) error {
	for _, part := range []struct {
		name       string
		count, sum func(t *tally) int64
	}{
		{"TtlNtries", func(t *tally) int64 { return t.credits + t.debits }, func(t *tally) int64 { return t.creditSum + t.debitSum }},
		{"TtlCdtNtries", func(t *tally) int64 { return t.credits }, func(t *tally) int64 { return t.creditSum }},
		{"TtlDbtNtries", func(t *tally) int64 { return t.debits }, func(t *tally) int64 { return t.debitSum }},
	} {
		total := n.at(part.name)
		if text := total.get("NbOfNtries"); text != "" {
			said, err := strconv.ParseInt(text, 10, 64)
			if err != nil || said != part.count(&have.booked) && said != part.count(&have.all) {
				return &models.FileError{File: c.file, Line: total.line, Column: part.name + "/NbOfNtries", Next: "download it again",
					What: s.name() + "it says " + clip(text) + " entries, there are " + strconv.FormatInt(part.count(&have.booked), 10)}
			}
		}
		if text := total.get("Sum"); text != "" {
			m, err := models.ParseMajor(text, s.Currency)
			if err != nil || m.Minor != part.sum(&have.booked) && m.Minor != part.sum(&have.all) {
				return &models.FileError{File: c.file, Line: total.line, Column: part.name + "/Sum", Next: "download it again",
					What: s.name() + "it says " + clip(text) + ", the entries add up to " + models.Money{Minor: part.sum(&have.booked), Currency: s.Currency}.Text()}
			}
		}
	}
	return nil
}
