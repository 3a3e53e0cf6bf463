package bank

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

func TestMain(m *testing.M) { os.Exit(ledgertest.Main(m)) }

// euro is the account of most of these tests; the clock's zone is one that is not UTC.
func euro() Bank {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return Bank{Name: "euro", Format: Camt053, Account: []string{"DE89 3704 0044 0532 0130 00"}, Currency: "EUR", Zone: zone,
		Accounts: []string{"adyen", "stripe"}, Window: 5}
}

// entry is a booking in short: "day amount[ key=value]…", with a minus for a debit. Keys: ref (end-to-end id), text, bank, sts, rvsl,
// chrg.
type entry string

// fields are what an entry says.
func (e entry) fields() (day, amount string, keys map[string]string) {
	keys = map[string]string{}
	words := strings.Split(string(e), " ")
	last := ""
	for _, w := range words[2:] {
		if k, v, ok := strings.Cut(w, "="); ok {
			last = k
			keys[k] = v
		} else {
			keys[last] += " " + w
		}
	}
	return words[0], words[1], keys
}

func (e entry) camt() string {
	day, amount, keys := e.fields()
	sign := "CRDT"
	if rest, debit := strings.CutPrefix(amount, "-"); debit {
		amount, sign = rest, "DBIT"
	}
	status := keys["sts"]
	if status == "" {
		status = "BOOK"
	}
	text := fmt.Sprintf(`<Ntry><Amt Ccy="EUR">%s</Amt><CdtDbtInd>%s</CdtDbtInd>`, amount, sign)
	if keys["rvsl"] != "" {
		text += "<RvslInd>" + keys["rvsl"] + "</RvslInd>"
	}
	text += fmt.Sprintf("<Sts><Cd>%s</Cd></Sts><BookgDt><Dt>%s</Dt></BookgDt><AcctSvcrRef>%s</AcctSvcrRef>", status, day, keys["bank"])
	if keys["chrg"] != "" {
		text += `<Chrgs><Rcrd><Amt Ccy="EUR">` + keys["chrg"] + `</Amt><CdtDbtInd>DBIT</CdtDbtInd></Rcrd></Chrgs>`
	}
	return text + fmt.Sprintf("<NtryDtls><TxDtls><Refs><EndToEndId>%s</EndToEndId></Refs><RmtInf><Ustrd>%s</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>\n",
		keys["ref"], keys["text"])
}

// statementText is a camt.053 of one day with these entries, whose balances agree. before is the opening balance.
func statementText(day, before string, entries ...entry) string {
	sum := mustMinor(before)
	var body strings.Builder
	for _, e := range entries {
		_, amount, keys := e.fields()
		if keys["sts"] == "" {
			sum += mustMinor(amount)
		}
		body.WriteString(e.camt())
	}
	return camtText(balanceText053("OPBD", before, day) + balanceText053("CLBD", models.Money{Minor: sum, Currency: "EUR"}.Text(), day) + body.String())
}

func mustMinor(text string) int64 {
	m, err := models.ParseMajor(text, "EUR")
	if err != nil {
		panic(err)
	}
	return m.Minor
}

func balanceText053(code, amount, day string) string {
	sign := "CRDT"
	if rest, debit := strings.CutPrefix(amount, "-"); debit {
		amount, sign = rest, "DBIT"
	}
	return fmt.Sprintf("<Bal><Tp><CdOrPrtry><Cd>%s</Cd></CdOrPrtry></Tp><Amt Ccy=\"EUR\">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Dt><Dt>%s</Dt></Dt></Bal>\n", code, amount, sign, day)
}

// camtText wraps what is in a statement.
func camtText(inner string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr>
<Stmt><Id>S</Id><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>EUR</Ccy></Acct>
` + inner + `</Stmt></BkToCstmrStmt></Document>`
}

func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func day(t testing.TB, text string) reconcile.Day {
	t.Helper()
	d, err := reconcile.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// readFile reads one file for a day.
func readFile(t testing.TB, b Bank, date, content string) (*intake, error) {
	t.Helper()
	return read(t.Context(), &b, reconcile.Files(file(t, "statement", content)), day(t, date))
}

// reads expects a file to be read.
func reads(t testing.TB, b Bank, date, content string) []Line {
	t.Helper()
	in, err := readFile(t, b, date, content)
	if err != nil {
		t.Fatal(err)
	}
	var lines []Line
	for _, s := range in.statements {
		lines = append(lines, s.Lines...)
	}
	return lines
}

// refused expects an error that says all of this.
func refused(t testing.TB, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("not refused; want %q", want)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v\nlacks %q", err, w)
		}
	}
}

func sums(lines []Line) string {
	var parts []string
	for _, l := range lines {
		parts = append(parts, models.Money{Minor: l.Minor, Currency: "EUR"}.Text())
	}
	return strings.Join(parts, " ")
}

// pays keeps payouts as a run of their account would: "account id day amount[ status[ currency]]".
func pays(t testing.TB, book *ledger.Ledger, payouts ...string) {
	t.Helper()
	for _, text := range payouts {
		f := append(strings.Fields(text), "succeeded", "EUR")
		currency := f[5]
		if len(strings.Fields(text)) < 6 {
			currency = "EUR"
		}
		m, err := models.ParseMajor(f[3], currency)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.DateOnly, f[2])
		if err != nil {
			t.Fatal(err)
		}
		turn, err := book.Turn(t.Context(), f[0])
		if err != nil {
			t.Fatal(err)
		}
		found := ledger.Findings{Turn: turn, Payouts: []ledger.Payout{{PayoutID: strings.ReplaceAll(f[1], "~", " "), Money: m, Status: models.TransactionStatus(f[4]), OccurredAt: at.Add(11 * time.Hour)}}}
		run := models.Run{Account: f[0], Date: f[1], CreatedAt: clock()} // a statement of its own each: one of a date replaces the one before
		if _, err := book.SaveRun(t.Context(), &run, found, func(run *models.Run, _ ledger.Saved) error {
			run.Fingerprint = text
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func clock() time.Time { return time.Date(2026, 12, 20, 9, 0, 0, 0, time.UTC) }

// runs runs one day with a camt.053 text; "" declares that there is none.
func runs(t testing.TB, book *ledger.Ledger, b Bank, date, content string) *reconcile.Report {
	t.Helper()
	src := reconcile.NoStatement()
	if content != "" {
		src = reconcile.Files(file(t, "statement.xml", content))
	}
	r, err := Run(t.Context(), book, b, src, day(t, date), reconcile.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// story is what a report says, in short: "kind id" of each open gap, "~id" of each carried, "+id" of each healed, "how:ids" of each match.
func story(r *reconcile.Report) string {
	var parts []string
	for _, m := range r.Bank.Matched {
		ids := m.How + ":"
		for i, p := range m.Payouts {
			if i > 0 {
				ids += "&"
			}
			ids += p.PayoutID
		}
		parts = append(parts, fmt.Sprintf("%s×%d", ids, len(m.Lines)))
	}
	for _, g := range r.Gaps {
		parts = append(parts, string(g.Kind)+" "+g.TransactionID)
	}
	for _, g := range r.Carried {
		parts = append(parts, "~"+g.TransactionID)
	}
	for _, g := range r.Healed {
		parts = append(parts, "+"+g.TransactionID)
	}
	return strings.Join(parts, ", ")
}

// tells fails when a report says something else.
func tells(t testing.TB, r *reconcile.Report, want string) {
	t.Helper()
	if got := story(r); got != want {
		t.Errorf("%s of %s: %q, want %q", r.Account, r.Date, got, want)
		for _, g := range append(r.Gaps, r.Carried...) {
			t.Log(g.Kind, g.Reason)
		}
	}
	if balanced := len(r.Gaps) == 0; balanced != (r.Result == models.Balanced) {
		t.Errorf("result %s with %d gaps", r.Result, len(r.Gaps))
	}
}

// each runs f on both databases.
func each(t *testing.T, f func(t *testing.T, book *ledger.Ledger)) {
	t.Helper()
	ledgertest.Each(t, f, ledger.Options{Now: clock})
}

func readPaths(t testing.TB, b Bank, date string, paths ...string) (*intake, error) {
	t.Helper()
	return read(t.Context(), &b, reconcile.Files(paths...), day(t, date))
}
