package cmd

import (
	"os"
	"strings"
	"testing"

	"paybook/models"
	"paybook/reconcile"
)

// newBanks is a shell whose book knows the payouts of Adyen and Stripe.
func newBanks(t *testing.T) *shell {
	t.Helper()
	s := newShell(t)
	s.run("reconcile", "--account", "adyen", "--date", "2026-11-28")
	statements := kit + "stripe/statements/"
	s.run("reconcile", "--account", "stripe", "--date", "2026-11-27", "--statement", statements+"balance_change_from_activity_itemized_2026-11-27.csv",
		"--statement", statements+"payouts_itemized_2026-11-29.csv")
	return s
}

// The kit's banks have the kit's payouts: one in a camt.053, one in an MT940.
func TestReconcileBank(t *testing.T) {
	s := newBanks(t)
	var reports []reconcile.Report
	s.json(&reports, "reconcile", "bank", "--date", "2026-11-30")
	if len(reports) != 2 {
		t.Fatalf("%d reports", len(reports))
	}
	for i, want := range []struct{ account, payout, amount, opening, closing, reference string }{
		{"bank/euro", "TXTEST4200XT batch 42, ExampleShopECOM", "175.98", "1000.00", "1125.98", "2026113000017"},
		{"bank/dollar", "po_TEST4001", "127.45", "2000.00", "2114.95", "B6K30PS01"},
	} {
		r := reports[i]
		if r.Account != want.account || r.Result != models.Balanced || r.Statement.ControlTotals != "agree" || r.Statement.Entries != 2 || r.Matched != 1 || len(r.Bank.Matched) != 1 {
			t.Fatalf("%+v", r)
		}
		m, st := r.Bank.Matched[0], r.Bank.Statements[0]
		if m.How != "reference" || m.Payouts[0].PayoutID != want.payout || m.Payouts[0].Amount != want.amount || m.Lines[0].Amount != want.amount ||
			m.Lines[0].Reference != want.reference || st.Opening != want.opening || st.Closing != want.closing || st.From != "2026-11-28" {
			t.Errorf("%+v of %+v", m, st)
		}
	}
	table := s.ok("reconcile", "bank", "--date", "2026-11-30", "--bank", "dollar")
	for _, want := range []string{"bank/dollar", "balanced", "po_TEST4001", "127.45 USD", "statement 00231", "reference"} {
		if !strings.Contains(table, want) {
			t.Errorf("table lacks %q:\n%s", want, table)
		}
	}
	if csv := s.ok("reconcile", "bank", "--date", "2026-11-30", "--format", "csv"); strings.Count(csv, "\n") != 1 {
		t.Errorf("gaps in %s", csv)
	}
}

// A gap of a bank is listed, shown and resolved like any other, and a run of the payout's account leaves it alone.
func TestGapsOfABank(t *testing.T) {
	s := newBanks(t)
	raw, err := os.ReadFile(kit + "bank/camt053_2026-11-30.xml")
	if err != nil {
		t.Fatal(err)
	}
	less := s.file("less.xml", strings.NewReplacer(">175.98<", ">170.98<", ">1125.98<", ">1120.98<", ">225.98<", ">220.98<").Replace(string(raw)))
	code, out, talk := s.run("reconcile", "bank", "--date", "2026-11-30", "--bank", "euro", "--statement", less)
	if code != exitLook || !strings.Contains(out, "payout_mismatch") || !strings.Contains(out, "5.00 EUR less") {
		t.Fatalf("exit %d\n%s%s", code, out, talk)
	}
	var gaps []reconcile.GapReport
	s.json(&gaps, "gaps", "list", "--account", "bank/euro", "--state", "open", "--kind", "payout_mismatch")
	if len(gaps) != 1 || gaps[0].Account != "bank/euro" || gaps[0].Date != "2026-11-28" || gaps[0].Statement.Amount != "170.98" || gaps[0].Ledger.Amount != "175.98" {
		t.Fatalf("%+v", gaps)
	}
	if shown := s.ok("gaps", "show", gaps[0].ID); !strings.Contains(shown, "less.xml, row 35") || !strings.Contains(shown, "TXTEST4200XT batch 42") {
		t.Error(shown)
	}
	s.run("reconcile", "--account", "adyen", "--date", "2026-11-28")
	s.json(&gaps, "gaps", "list", "--account", "bank/euro")
	if len(gaps) != 1 || gaps[0].State != models.GapOpen {
		t.Errorf("a run of the account has touched it: %+v", gaps)
	}
	s.ok("gaps", "resolve", gaps[0].ID, "--reason", "the bank keeps five")
	if out := s.ok("reconcile", "bank", "--date", "2026-11-30", "--bank", "euro", "--statement", less); !strings.Contains(out, "accepted") {
		t.Error(out)
	}
	s.ok("reconcile", "bank", "--date", "2026-11-30", "--bank", "euro") // the right statement
	s.fails([]string{"bank/none", "no account"}, "gaps", "list", "--account", "bank/none")
}

func TestReconcileBankRefuses(t *testing.T) {
	s := newBanks(t)
	camt := kit + "bank/camt053_2026-11-30.xml"
	for _, c := range []struct {
		want []string
		args []string
	}{
		{[]string{"bank/euro", "camt053_2026-11-29.xml", "--no-statement"}, []string{"--date", "2026-11-29", "--bank", "euro"}},
		{[]string{"2026-11-28 to 2026-11-30", "2026-12-01"}, []string{"--date", "2026-12-01", "--bank", "euro", "--statement", camt}},
		{[]string{"not an MT940"}, []string{"--date", "2026-11-30", "--bank", "dollar", "--statement", camt}},
		{[]string{"no bank", "euro, dollar"}, []string{"--bank", "nosuch"}},
		{[]string{"exactly one --bank"}, []string{"--statement", camt}},
		{[]string{"exclude each other"}, []string{"--bank", "euro", "--statement", camt, "--no-statement"}},
		{[]string{"--date"}, []string{"--date", "30.11.2026"}},
		{[]string{"--format"}, []string{"--format", "yaml"}},
		{[]string{"no such file"}, []string{"--bank", "euro", "--date", "2026-11-30", "--statement", "nosuch.xml"}},
	} {
		s.fails(c.want, append([]string{"reconcile", "bank"}, c.args...)...)
	}
	if out := s.ok("gaps", "list", "--account", "bank/euro"); out != "no gaps\n" {
		t.Error(out)
	}
	s.ok("reconcile", "bank", "--bank", "euro", "--date", "2026-12-25", "--no-statement")
	s.ok("reconcile", "bank", "--bank", "euro", "--date", "2026-11-30", "--dry-run")
}

// What a bank's run finds is told at once, as an account's is.
func TestReconcileBankTells(t *testing.T) {
	dir := writeFiles(t, map[string]string{"app.yaml": okBanks + "  credits: all\nalerts: [{kind: log}]\n"})
	s := &shell{t: t, global: []string{"--config", dir + "/app.yaml", "--database", "sqlite:" + dir + "/app.db"}}
	code, out, talk := s.run("reconcile", "bank", "--date", "2026-11-30", "--statement", kit+"bank/camt053_2026-11-30.xml")
	if code != exitLook || !strings.Contains(out, "bank_unexpected") || !strings.Contains(talk, "level=WARN") || !strings.Contains(talk, "bank/main") {
		t.Errorf("exit %d\n%s%s", code, out, talk)
	}
}

const okBanks = `accounts:
- name: shop
  provider: stripe
  settings: {signing_secrets: [whsec_x]}
banks:
- name: main
  account: DE89370400440532013000
  currency: EUR
  accounts: [shop]
`

func TestConfigBanksRefused(t *testing.T) {
	for name, c := range map[string][2]string{
		"format":              {"  format: camt052\n", `app.yaml:10|format: "camt052"|camt053 or mt940 or csv`},
		"unknown key":         {"  iban: x\n", "app.yaml:10|banks[0].iban: unknown key"},
		"window":              {"  window: 5\n", `window: "5"|5d`},
		"window of hours":     {"  window: 48h\n", "window"},
		"window zero":         {"  window: 0d\n", "window|1d"},
		"tolerance":           {"  tolerance: 0.001\n", "tolerance|sum in EUR"},
		"fee":                 {"  fee: some\n", "fee|sum in EUR"},
		"negative fee":        {"  fee: '-1.00'\n", "fee|sum in EUR"},
		"credits":             {"  credits: '['\n", "credits|regular expressions"},
		"references":          {"  references: {other: {last: 9}}\n", "references.other: unknown key|shop"},
		"reference pattern":   {"  references: {shop: {pattern: 'batch'}}\n", "pattern|group"},
		"reference last":      {"  references: {shop: {last: 3}}\n", "last|too few"},
		"reference payout":    {"  references: {shop: {payout: '(x)'}}\n", "payout|without pattern"},
		"reference both":      {"  references: {shop: {pattern: '(x)', last: 9}}\n", "last|beside pattern"},
		"zone":                {"  time_zone: Local\n", "time_zone|Europe/Berlin"},
		"statements":          {"  statements: bank/*.xml\n", "statements|names no day"},
		"statements {day}":    {"  statements: 'bank/{day}.xml'\n", "statements|unknown placeholder"},
		"encoding of camt":    {"  encoding: gbk\n", "encoding|means nothing for camt053"},
		"columns of camt":     {"  columns: {date: D}\n", "columns|is for csv"},
		"csv without columns": {"  format: csv\n", "columns.date: missing"},
		"csv without amount":  {"  format: csv\n  columns: {date: D, texts: [T]}\n", "columns.amount: missing"},
		"csv without texts":   {"  format: csv\n  columns: {date: D, amount: A}\n", "columns.texts: missing"},
		"csv with both":       {"  format: csv\n  columns: {date: D, amount: A, debit: B, credit: C, texts: T}\n", "either debit and credit, or amount"},
		"csv with one":        {"  format: csv\n  columns: {date: D, debit: B, texts: T}\n", "go together"},
		"csv sign":            {"  format: csv\n  sign: debit\n  columns: {date: D, debit: B, credit: C, texts: T}\n", "sign|say already"},
		"csv directions":      {"  format: csv\n  directions: {credit: [C], debit: [D]}\n  columns: {date: D, amount: A, texts: T}\n", "directions|columns.direction"},
		"csv statuses":        {"  format: csv\n  statuses: {booked: [B], pending: [P]}\n  columns: {date: D, amount: A, texts: T}\n", "statuses|columns.status"},
		"csv statuses, half":  {"  format: csv\n  statuses: {booked: [B]}\n  columns: {date: D, amount: A, texts: T, status: S}\n", "booked and pending are both needed"},
		"csv date_layout":     {"  format: csv\n  date_layout: DD.MM.YYYY\n  columns: {date: D, amount: A, texts: T}\n", `date_layout|"DD.MM.YYYY"|02.01.2006`},
		"csv date_layouts":    {"  format: csv\n  date_layout: [02.01.2006, 01.2006]\n  columns: {date: D, amount: A, texts: T}\n", "date_layout[1]|02.01.2006"},
		"csv delimiter":       {"  format: csv\n  delimiter: xx\n  columns: {date: D, amount: A, texts: T}\n", "delimiter"},
	} {
		t.Run(name, func(t *testing.T) { wrongConfig(t, okBanks+c[0], c[1]) })
	}
	for name, c := range map[string][3]string{
		"no account":   {"account: DE89370400440532013000", "account: ''", "account: missing"},
		"no currency":  {"currency: EUR", "currency: EURO", "currency"},
		"no payers":    {"accounts: [shop]", "accounts: []", "accounts: missing"},
		"other payer":  {"accounts: [shop]", "accounts: [shop, other]", `accounts[1]|no account "other"`},
		"payer twice":  {"accounts: [shop]", "accounts: [shop, shop]", "twice"},
		"name":         {"name: main", "name: Main Bank", "small letters"},
		"no list":      {"banks:\n- name: main\n  account", "banks:\n  name: main\n  account", "a list expected"},
		"name again":   {"banks:\n", "banks:\n- {name: main, account: '1', currency: EUR, accounts: [shop]}\n", "another bank"},
		"missing name": {"name: main\n  account", "account", "name"},
	} {
		t.Run(name, func(t *testing.T) { wrongConfig(t, strings.Replace(okBanks, c[0], c[1], 1), c[2]) })
	}
}

func wrongConfig(t *testing.T, yaml, want string) {
	t.Helper()
	dir := writeFiles(t, map[string]string{"app.yaml": yaml})
	_, err := loadConfig(dir+"/app.yaml", lookup(nil))
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range strings.Split(want, "|") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v lacks %q", err, w)
		}
	}
}

func TestConfigBanks(t *testing.T) {
	dir := writeFiles(t, map[string]string{"app.yaml": okBanks + `  window: 3d
  tolerance: 0.05
  fee: 15.00
  references: {shop: {last: 0}}
- name: second
  format: csv
  account: ['1', '2']
  currency: USD
  accounts: [shop]
  encoding: gbk
  delimiter: tab
  decimal: comma
  date_layout: [02.01.2006]
  credits: all
  statements: "bank/{yyyymmdd}.csv"
  columns: {date: 交易日期, debit: 借方, credit: 贷方, texts: 摘要}
`})
	c, err := loadConfig(dir+"/app.yaml", lookup(nil))
	if err != nil {
		t.Fatal(err)
	}
	a, b := c.Banks[0], c.Banks[1]
	if a.Window != 3 || a.Tolerance != 5 || a.Fee.Max != 1500 || !a.Fee.Told || a.References["shop"].Last != -1 || a.Ours.Credits || len(a.Ours.Patterns) != 1 ||
		!a.Ours.Patterns[0].MatchString("STRIPE PAYMENTS") || a.Elsewhere["shop"][0] != "USD" {
		t.Errorf("%+v", a)
	}
	if b.Window != 5 || !b.Ours.Credits || b.Layout.Delimiter != '\t' || !b.Layout.Comma || b.Layout.Debit != "借方" || b.Layout.Texts[0] != "摘要" ||
		b.Statements[0] != dir+"/bank/{yyyymmdd}.csv" || b.Encoding != "gbk" || b.Elsewhere["shop"][0] != "EUR" {
		t.Errorf("%+v", b)
	}
}
