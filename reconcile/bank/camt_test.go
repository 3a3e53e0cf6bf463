package bank

import (
	"cmp"
	"slices"
	"strings"
	"testing"
)

func TestCamtIsRead(t *testing.T) {
	text := statementText("2026-11-30", "-10.00", "2026-11-30 175.98 bank=B1 ref=E2E-1 text=batch 42", "2026-11-30 -50.00 bank=B2",
		"2026-11-30 20.00 sts=PDNG", "2026-11-30 -7.5 rvsl=true bank=B3")
	in, err := readFile(t, euro(), "2026-11-30", text)
	if err != nil {
		t.Fatal(err)
	}
	s := in.statements[0]
	if got := sums(s.Lines); got != "175.98 -50.00 -7.50" || s.Pending != 1 || s.Opening.Minor != -1000 || s.Closing.Minor != 10848 {
		t.Errorf("%s, %d pending, %+v to %+v", got, s.Pending, s.Opening, s.Closing)
	}
	first := s.Lines[0]
	if first.Reference != "B1" || first.Line != 6 || strings.Join(first.Texts, "|") != "B1|E2E-1|batch 42" || dateText(first.Booked) != "2026-11-30" {
		t.Errorf("%+v", first)
	}
	if !s.Lines[2].Reversal || s.Lines[0].Reversal {
		t.Errorf("reversals: %+v", s.Lines)
	}
}

// A file is read in whatever encoding its declaration, or its byte-order mark, names.
func TestCamtEncodings(t *testing.T) {
	for label, name := range map[string]string{"ISO-8859-1": "latin1", "iso-8859-2": "", "ISO-8859-15": "", "windows-1250": "", "Windows-1252": "", "cp852": "", "GB18030": "", "GBK": "", "UTF-16": "utf-16"} {
		text := strings.Replace(statementText("2026-11-30", "0.00", "2026-11-30 1.00 text=München 1"), "UTF-8", label, 1)
		encoded, err := encodings[cmp.Or(name, strings.ToLower(label))].NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		if lines := reads(t, euro(), "2026-11-30", encoded); !slices.Contains(lines[0].Texts, "München 1") {
			t.Errorf("%s: %q", label, lines[0].Texts)
		}
	}
	_, err := readFile(t, euro(), "2026-11-30", strings.Replace(statementText("2026-11-30", "0.00"), "UTF-8", "EBCDIC-1", 1))
	refused(t, err, "row 1", `encoding "EBCDIC-1" is not read here`)
}

// The elements are the same from version to version, but for where the status and the charges stand.
func TestCamtOfAllVersions(t *testing.T) {
	text := statementText("2026-11-30", "0.00", "2026-11-30 100.00 ref=A chrg=1.50")
	for _, version := range []string{"02", "03", "04", "06", "08", "10", "13"} {
		own := strings.Replace(text, "camt.053.001.08", "camt.053.001."+version, 1)
		if version == "02" || version == "03" {
			own = strings.Replace(own, "<Sts><Cd>BOOK</Cd></Sts>", "<Sts>BOOK</Sts>", 1)
			own = strings.Replace(own, `<Rcrd><Amt Ccy="EUR">1.50</Amt><CdtDbtInd>DBIT</CdtDbtInd></Rcrd>`, `<Amt Ccy="EUR">1.50</Amt>`, 1)
		}
		if lines := reads(t, euro(), "2026-11-30", own); sums(lines) != "100.00" || lines[0].Charge != 150 {
			t.Errorf("version %s: %+v", version, lines)
		}
	}
	for name, own := range map[string]string{
		"prefix":    strings.NewReplacer("<Document xmlns=", "<n:Document xmlns:n=", "</Document", "</n:Document").Replace(text),
		"none":      strings.Replace(text, ` xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"`, "", 1),
		"wrapped":   strings.NewReplacer("<Document", "<Envelope><Header>x</Header><Document", "</Document>", "</Document></Envelope>").Replace(text),
		"BOM":       "\ufeff" + text,
		"latin1":    strings.NewReplacer("UTF-8", "ISO-8859-1", "Ustrd></Ustrd", "Ustrd>M\xfcnchen</Ustrd").Replace(text),
		"CRLF":      strings.ReplaceAll(text, "\n", "\r\n"),
		"timed":     strings.Replace(text, "<BookgDt><Dt>2026-11-30</Dt>", "<BookgDt><DtTm>2026-11-29T23:30:00Z</DtTm>", 1),
		"with zone": strings.Replace(text, "<BookgDt><Dt>2026-11-30</Dt>", "<BookgDt><Dt>2026-11-30+01:00</Dt>", 1),
	} {
		if lines := reads(t, euro(), "2026-11-30", own); sums(lines) != "100.00" || dateText(lines[0].Booked) != "2026-11-30" {
			t.Errorf("%s: %+v", name, lines)
		}
	}
}

// A batch is one line for each transaction when these are told with sums that come to the booking's, else one line that has all names.
func TestCamtBatches(t *testing.T) {
	batch := func(details string) string {
		e := strings.Replace(entry("2026-11-30 100.00 bank=B").camt(), "<NtryDtls>", "<NtryDtls><Btch><MsgId>M1</MsgId><PmtInfId>P1</PmtInfId><NbOfTxs>2</NbOfTxs></Btch>"+details+"</NtryDtls><NtryDtls>", 1)
		e = e[:strings.LastIndex(e, "<NtryDtls>")] + "</Ntry>"
		return camtText(balanceText053("PRCD", "0.00", "2026-11-27") + balanceText053("CLBD", "100.00", "2026-11-30") + e)
	}
	detail := func(amount, ref string) string {
		return "<TxDtls><Refs><EndToEndId>" + ref + "</EndToEndId></Refs>" + amount + "<RmtInf><Ustrd>half an id</Ustrd><Ustrd>entifier</Ustrd></RmtInf></TxDtls>"
	}
	const newer, older = `<Amt Ccy="EUR">%</Amt>`, `<AmtDtls><TxAmt><Amt Ccy="EUR">%</Amt></TxAmt></AmtDtls>`
	of := func(form, amount string) string { return strings.Replace(form, "%", amount, 1) }
	batchNamed(t, "no details", reads(t, euro(), "2026-11-30", batch("")))
	batchNamed(t, "details", reads(t, euro(), "2026-11-30", batch(detail(of(newer, "60.00"), "A")+detail(of(newer, "40.00"), "B"))))
	for _, form := range []string{newer, older} {
		if got := sums(reads(t, euro(), "2026-11-30", batch(detail(of(form, "60.00"), "A")+detail(of(form, "40.00"), "B")))); got != "60.00 40.00" {
			t.Errorf("batch: %s", got)
		}
		if got := sums(reads(t, euro(), "2026-11-30", batch(detail(of(form, "110.00"), "A")+detail(of(form, "10.00")+"<CdtDbtInd>DBIT</CdtDbtInd>", "B")))); got != "110.00 -10.00" {
			t.Errorf("batch with a debit: %s", got)
		}
	}
	for name, details := range map[string]string{
		"no sums":             detail("", "A1") + detail("", "B1"),
		"one sum":             detail(of(newer, "60.00"), "A1") + detail("", "B1"),
		"sums that are less":  detail(of(newer, "60.00"), "A1") + detail(of(newer, "30.00"), "B1"),
		"in another currency": detail(`<Amt Ccy="USD">60.00</Amt>`, "A1") + detail(of(newer, "40.00"), "B1"),
	} {
		lines := reads(t, euro(), "2026-11-30", batch(details))
		batchNamed(t, name, lines)
		if texts := strings.Join(lines[0].Texts, "|"); len(lines) != 1 || lines[0].Minor != 10000 || !strings.Contains(texts, "A1") || !strings.Contains(texts, "B1") {
			t.Errorf("%s: %+v", name, lines)
		}
	}
}

// batchNamed expects the names of the whole batch on each of its lines.
func batchNamed(t *testing.T, name string, lines []Line) {
	t.Helper()
	for _, l := range lines {
		if !slices.Contains(l.Texts, "M1") || !slices.Contains(l.Texts, "P1") {
			t.Errorf("%s: the batch's own names are not among %q", name, l.Texts)
		}
	}
}

func TestCamtIsRefused(t *testing.T) {
	good := statementText("2026-11-30", "5.00", "2026-11-30 100.00 ref=A", "2026-11-30 -20.00 ref=B")
	swap := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not there", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"camt.052":          {swap("camt.053.001.08", "camt.052.001.08"), []string{"camt.052", "not camt.053"}},
		"camt.052, element": {strings.ReplaceAll(swap(":camt.053.001.08", ""), "BkToCstmrStmt", "BkToCstmrAcctRpt"), []string{"camt.052", "not camt.053"}},
		"camt.054":          {strings.ReplaceAll(swap("camt.053.001.08", "camt.053.001.02"), "BkToCstmrStmt", "BkToCstmrDbtCdtNtfctn"), []string{"camt.054"}},
		"something else":    {"<Other/>", []string{"no end-of-day statement"}},
		"no XML":            {":20:X\n", []string{"no end-of-day statement"}},
		"HTML":              {"<html><body>log in</body></html>", []string{"HTML"}},
		"empty":             {"", []string{"empty"}},
		"document type":     {"<!DOCTYPE x [<!ENTITY e \"boom\">]>" + good, []string{"document type"}},
		"cut":               {good[:len(good)/2], []string{"cut"}},
		"cut at the end":    {strings.TrimSuffix(good, "</Document>"), []string{"cut"}},
		"opening":           {swap(">5.00<", ">6.00<"), []string{"opening balance 6.00 EUR", "closing balance is 85.00 EUR"}},
		"entry gone":        {swap(entry("2026-11-30 -20.00 ref=B").camt(), ""), []string{"closing balance"}},
		"entry doubled":     {swap("<Ntry>", entry("2026-11-30 100.00 ref=A").camt()+"<Ntry>"), []string{"closing balance"}},
		"amount":            {swap(">100.00<", ">1e2<"), []string{"row 6", "Ntry/Amt", "1e2"}},
		"negative":          {swap(">100.00<", ">-100.00<"), []string{"row 6", "has a sign"}},
		"decimals":          {swap(">100.00<", ">100.001<"), []string{"row 6", "decimals"}},
		"indicator":         {swap("CdtDbtInd>CRDT</CdtDbtInd><Sts", "CdtDbtInd>KREDIT</CdtDbtInd><Sts"), []string{"KREDIT", "CRDT or DBIT"}},
		"status":            {swap("<Cd>BOOK</Cd>", "<Cd>DONE</Cd>"), []string{"DONE", "BOOK"}},
		"date":              {swap("<BookgDt><Dt>2026-11-30", "<BookgDt><Dt>30.11.2026"), []string{"30.11.2026", "YYYY-MM-DD"}},
		"no date":           {swap("<BookgDt><Dt>2026-11-30</Dt></BookgDt>", ""), []string{"BookgDt"}},
		"entry's currency":  {swap(`<Ntry><Amt Ccy="EUR">`, `<Ntry><Amt Ccy="USD">`), []string{"USD", "currency is EUR"}},
		"currency":          {strings.ReplaceAll(good, "EUR", "USD"), []string{"in USD", "in EUR"}},
		"account":           {swap("DE89370400440532013000", "DE02120300000000202051"), []string{"account DE02…2051", "ours is DE89…3000"}},
		"no account":        {swap("<IBAN>DE89370400440532013000</IBAN>", ""), []string{"Acct/Id"}},
		"other day":         {statementText("2026-11-27", "0.00", "2026-11-27 1.00"), []string{"of 2026-11-27", "run is for 2026-11-30"}},
		"other month":       {statementText("2026-11-30", "0.00", "2026-10-30 1.00"), []string{"booked on 2026-10-30", "of 2026-11-30"}},
		"summary":           {swap("<Ntry>", "<TxsSummry><TtlNtries><NbOfNtries>3</NbOfNtries></TtlNtries></TxsSummry><Ntry>"), []string{"3 entries", "there are 2"}},
		"summary's sum":     {swap("<Ntry>", "<TxsSummry><TtlCdtNtries><Sum>99.00</Sum></TtlCdtNtries></TxsSummry><Ntry>"), []string{"99.00", "100.00"}},
		"encoding":          {swap("UTF-8", "EBCDIC"), []string{"EBCDIC"}},
		"two closing":       {swap("<Ntry>", balanceText053("CLBD", "1.00", "2026-11-30")+"<Ntry>"), []string{"two balances CLBD"}},
		"deep":              {camtText(strings.Repeat("<X>", 100) + strings.Repeat("</X>", 100)), []string{"without end"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readFile(t, euro(), "2026-11-30", c.text)
			refused(t, err, c.want...)
		})
	}
}

// Pages are one statement, in whatever files and order they come.
func TestCamtPages(t *testing.T) {
	page := func(n, last, inner string) string {
		return camtText("<StmtPgntn><PgNb>" + n + "</PgNb><LastPgInd>" + last + "</LastPgInd></StmtPgntn>" + inner)
	}
	const d = "2026-11-30"
	one := page("1", "false", balanceText053("OPBD", "0.00", d)+balanceText053("ITBD", "10.00", d)+entry(d+" 10.00 ref=A").camt())
	two := page("2", "false", balanceText053("ITBD", "10.00", d)+balanceText053("ITBD", "30.00", d)+entry(d+" 20.00 ref=B").camt())
	three := page("3", "true", balanceText053("ITBD", "30.00", d)+balanceText053("CLBD", "60.00", d)+entry(d+" 30.00 ref=C").camt())
	together := func(pages ...string) error {
		var paths []string
		for _, p := range pages {
			paths = append(paths, file(t, "page.xml", p))
		}
		b := euro()
		in, err := readPaths(t, b, d, paths...)
		if err == nil && (len(in.statements) != 1 || sums(in.statements[0].Lines) != "10.00 20.00 30.00") {
			t.Errorf("%d statements, %s", len(in.statements), sums(in.statements[0].Lines))
		}
		return err
	}
	for _, order := range [][]string{{one, two, three}, {three, one, two}, {one, two, two, three}} {
		if err := together(order...); err != nil {
			t.Error(err)
		}
	}
	refused(t, together(one, three), "page 2 is missing")
	refused(t, together(one, two), "last is not there")
	refused(t, together(two, three), "page 1 is missing")
	changed := strings.Replace(two, ">20.00<", ">21.00<", 1)
	refused(t, together(one, changed, three), "closing balance is 60.00")
}
