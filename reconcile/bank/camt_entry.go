package bank

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strings"

	"paybook/models"
)

// entry reads one booking: one line, or one for each transaction of a batch, where these are told with their sums.
func (c *camt) entry(s *Statement, n *node, count *sheet) error {
	if s.Currency == "" {
		return c.fail(n.line, "Ntry", "an entry stands before the account (Acct)")
	}
	minor, err := c.amount(s, n.at("Amt"), "Ntry/Amt")
	if err != nil {
		return err
	}
	l := Line{Line: n.line}
	if l.Minor, err = c.signed(n, minor, n.get("CdtDbtInd")); err != nil {
		return err
	}
	count.all.add(l.Minor)
	if booked, err := c.booked(n); err != nil || !booked {
		s.Pending++
		return err
	}
	count.booked.add(l.Minor)
	if l.Reversal, err = c.flag(n, "RvslInd"); err != nil {
		return err
	}
	if l.Booked, err = c.date(n.at("BookgDt")); err != nil {
		return err
	}
	if l.Value, err = c.date(n.at("ValDt")); err != nil {
		return err
	}
	if l.Booked.IsZero() {
		l.Booked = l.Value
	}
	if l.Booked.IsZero() {
		return c.fail(n.line, "Ntry/BookgDt", "missing, and so is ValDt: an entry without a date")
	}
	if l.Charge, err = c.charges(s, n.all("Chrgs")); err != nil {
		return err
	}
	l.Reference = n.get("AcctSvcrRef")
	l.Texts = namesIn(n, func(child *node) bool { return child.name == "TxDtls" })
	return c.details(s, l, n)
}

// booked says whether an entry has moved the balance. The status is a word in old versions, an element in newer ones.
func (c *camt) booked(n *node) (bool, error) {
	status := n.at("Sts")
	switch word := cmp.Or(status.get("Cd"), status.get("Prtry"), n.get("Sts")); word {
	case "BOOK":
		return true, nil
	case "PDNG", "INFO", "FUTR":
		return false, nil
	default:
		return false, c.fail(or(status, n).line, "Ntry/Sts", "%q: BOOK, PDNG, INFO or FUTR expected", clip(word))
	}
}

// details makes lines of the transactions of a batch when all have sums in the account's currency that come to the entry's. Otherwise
// the entry is one line, which any name in it may explain.
func (c *camt) details(s *Statement, entry Line, n *node) error {
	var details []*node
	for _, d := range n.all("NtryDtls") {
		details = append(details, d.all("TxDtls")...)
	}
	whole := entry
	lines := make([]Line, 0, len(details))
	told, sum := true, int64(0)
	for _, d := range details {
		l := entry
		texts := namesIn(d, nil)
		l.Texts, whole.Texts = unique(slices.Concat(texts, entry.Texts)), append(slices.Clip(whole.Texts), texts...)
		l.Reference = cmp.Or(d.get("Refs", "AcctSvcrRef"), entry.Reference)
		var err error
		if l.Charge, err = c.charges(s, d.all("Chrgs")); err != nil {
			return err
		}
		var known bool
		l.Minor, known = detailAmount(s, d, entry.Minor < 0)
		told, sum = told && known, sum+l.Minor
		lines = append(lines, l)
	}
	if len(lines) < 2 || !told || sum != entry.Minor {
		if len(lines) == 1 {
			whole.Reference = cmp.Or(whole.Reference, lines[0].Reference)
			whole.Charge = cmp.Or(whole.Charge, lines[0].Charge)
		}
		whole.Texts = unique(whole.Texts)
		lines = []Line{whole}
	}
	s.Lines = append(s.Lines, lines...)
	return nil
}

// detailAmount is what one transaction of a batch moved; known is false when it does not tell so in the account's currency.
func detailAmount(s *Statement, d *node, debit bool) (minor int64, known bool) {
	n := or(d.at("Amt"), d.at("AmtDtls", "TxAmt", "Amt"))
	if n == nil {
		return 0, false
	}
	for _, a := range n.attrs {
		if a.Name.Local == "Ccy" && a.Value != s.Currency {
			return 0, false
		}
	}
	m, err := models.ParseMajor(n.text, s.Currency)
	if err != nil || m.Minor < 0 {
		return 0, false
	}
	switch d.get("CdtDbtInd") {
	case "DBIT":
		debit = true
	case "CRDT":
		debit = false
	}
	if debit {
		return -m.Minor, true
	}
	return m.Minor, true
}

// charges are what the bank says that it has taken, in the account's currency; others are not ours to add up.
func (c *camt) charges(s *Statement, list []*node) (int64, error) {
	var sum int64
	for _, n := range list {
		records := n.all("Rcrd")
		if total := n.at("TtlChrgsAndTaxAmt"); total != nil {
			records = []*node{{children: []*node{{name: "Amt", attrs: total.attrs, text: total.text, line: total.line}}}}
		} else if n.at("Amt") != nil {
			records = []*node{n}
		}
		for _, r := range records {
			amount := r.at("Amt")
			if amount == nil || r.get("CdtDbtInd") == "CRDT" || slices.ContainsFunc(amount.attrs, func(a xml.Attr) bool {
				return a.Name.Local == "Ccy" && a.Value != s.Currency
			}) {
				continue
			}
			minor, err := c.amount(s, amount, "Chrgs/Amt")
			if err != nil {
				return 0, err
			}
			sum += minor
		}
	}
	return sum, nil
}

// naming are the elements whose text may name what a line is.
var naming = []string{
	"NtryRef", "AcctSvcrRef", "MsgId", "PmtInfId", "InstrId", "EndToEndId", "TxId", "UETR", "ClrSysRef", "MndtId", "ChqNb", "Ref", "Nb",
	"AddtlRmtInf", "AddtlTxInf", "AddtlNtryInf", "Nm",
}

// namesIn are the texts below an element that may name what a line is. The remittance text is one, in however many pieces it comes.
func namesIn(n *node, skip func(*node) bool) (texts []string) {
	var ustrd []string
	var walk func(*node)
	walk = func(n *node) {
		switch {
		case n.text == "" || n.text == "NOTPROVIDED":
		case n.name == "Ustrd":
			ustrd = append(ustrd, n.text)
		case slices.Contains(naming, n.name):
			texts = append(texts, n.text)
		}
		for _, child := range n.children {
			if skip == nil || !skip(child) {
				walk(child)
			}
		}
	}
	walk(n)
	if len(ustrd) > 0 {
		texts = append(texts, strings.Join(ustrd, "\n"))
	}
	return unique(texts)
}

// unique drops what is said twice.
func unique(texts []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
		if seen[text] {
			return true
		}
		seen[text] = true
		return false
	})
}
