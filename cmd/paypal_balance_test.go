package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// balanceSetting is the page's example: what it makes up is how the report below is written.
func balanceSetting(t *testing.T) string {
	t.Helper()
	return readPage(t, "paypal.md").code(t, sectionStatement, "yaml")
}

// The kit's movements of the day, as a balance report tells them.
const (
	balanceTop = "\ufeff\"RH\",\"Report name\",\"Status\",\"Start\",\"End\",\"Generated\",\"Hierarchy\",\"Time zone\"\n" +
		"\"RH\",\"BALANCE_RECONCILIATION_REPORT\",\"Success\",\"2026/11/27 00:00:00 -0800\",\"2026/11/27 23:59:59 -0800\",\"2026/11/28 05:10:11 -0800\",\"TESTMERCHANT1\",\"America/Los_Angeles\"\n"
	balanceNames  = "RD,Transaction ID,Reference ID,Invoice,Record type,Record subtype,Completed,Gross amount,Fee amount,Net amount,Currency\n"
	balanceEarly  = balanceFirst + balanceSecond
	balanceFirst  = `RD,0TESTCAP2001X,5TESTORD2001X,ORD-2026-2001,Sale,,2026/11/27 10:15:00 -0800,49.99,-2.24,47.75,USD` + "\n"
	balanceSecond = `RD,0TESTCAP2002X,5TESTORD2002X,ORD-2026-2002,Sale,,2026/11/27 10:20:00 -0800,25.00,-1.22,23.78,EUR
RD,0TESTCAP2003X,5TESTORD2003X,ORD-2026-2003,Sale,Accelerated Checkout,2026/11/27 11:00:00 -0800,12800,-500,12300,JPY
RD,0TESTCNV0001X,0TESTCAP2003X,ORD-2026-2003,Currency conversion,,2026/11/27 11:00:00 -0800,-12300,,-12300,JPY
RD,0TESTCNV0002X,0TESTCAP2003X,ORD-2026-2003,Currency conversion,,2026/11/27 11:00:00 -0800,79.33,,79.33,USD
`
	balanceLate = `RD,0TESTCAP2005X,5TESTORD2005X,ORD-2026-2005,Sale,,2026/11/27 11:30:00 -0800,29.00,-1.50,27.50,USD
RD,0TESTCAP2004X,5TESTORD2004X,ORD-2026-2004,Sale,,2026/11/27 11:40:00 -0800,75.00,-3.11,71.89,USD
RD,0TESTREF2101X,0TESTCAP2001X,ORD-2026-2001,Refund,Referenced,2026/11/27 12:00:00 -0800,-10.00,,-10.00,USD
RD,0TESTREF2103X,0TESTCAP2003X,ORD-2026-2003,Refund,Referenced,2026/11/27 12:10:00 -0800,-12800,,-12800,JPY
RD,0TESTCBK3001X,0TESTCAP2004X,ORD-2026-2004,Dispute,Chargeback,2026/11/27 13:00:00 -0800,-75.00,,-75.00,USD
RD,0TESTCBF3001X,0TESTCBK3001X,,Fee,,2026/11/27 13:00:00 -0800,-20.00,,-20.00,USD
RD,0TESTCAP2099X,5TESTORD2099X,ORD-2026-2099,Sale,,2026/11/27 15:10:00 -0800,18.50,-1.14,17.36,USD
RD,0TESTWDR4001X,,,Withdraw money,,2026/11/27 23:30:00 -0800,-100.00,,-100.00,USD
RD,0TESTCAP2010X,5TESTORD2010X,ORD-2026-2010,Sale,,2026/11/27 23:59:28 -0800,20.00,-1.19,18.81,USD
`
)

func balanceEnd(file, rows, files int) string {
	return fmt.Sprintf("RF,File number,Total number of records,Total number of files\nRF,%d,%d,%d\n", file, rows, files)
}

// balanceFile is how PayPal names the file of a report.
func balanceFile(number, files int) string {
	return fmt.Sprintf("ADSF13S-TESTMERCHANT1-BRR-BALANCE_RECONCILIATION_REPORT-20261127-%d-%d-20261128051011.csv", number, files)
}

// paypalConfig is the kit's PayPal account with a folder of these statements; setting is added to its settings.
func paypalConfig(t *testing.T, setting string, files map[string]string) string {
	t.Helper()
	certs, err := filepath.Abs(kit + "paypal/certs")
	if err != nil {
		t.Fatal(err)
	}
	files["app.yaml"] = `accounts:
  - name: paypal
    provider: paypal
    livemode: false
    statements: ["day/*-{yyyymmdd}-*", "day/*-{yyyymmdd}.*"]
    settings:
      webhook_ids: ["3TX54321TESTHOOK0"]
      trusted_roots: ["` + certs + `/root.pem"]
      certificate_cache: "` + certs + `/certs.json"
` + strings.TrimPrefix(setting, "\n")
	return filepath.Join(writeFiles(t, files), "app.yaml")
}

// paypalShop is the account after the kit's callbacks.
func paypalShop(t *testing.T, setting string, files map[string]string) *shell {
	t.Helper()
	config := paypalConfig(t, setting, files)
	s := &shell{t: t, global: []string{"--config", config, "--database", "sqlite:" + filepath.Join(filepath.Dir(config), "app.db")}}
	s.shop("paypal")
	s.ok("replay", kit+"paypal/callbacks")
	return s
}

func settlementReport(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(kit + "paypal/statements/STL-20261127.01.009.CSV")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A balance report that the settings describe shows the very gaps of the settlement report: alone, in parts, and beside it, where nothing
// is counted twice.
func TestPayPalBalanceReport(t *testing.T) {
	const overlap = "the reports overlap: 10 rows that another report of the day has as well, read once; " +
		"the totals of what is not compared (conversion, fee, payout) are those of all reports together"
	whole := balanceTop + balanceNames + balanceEarly + balanceLate + balanceEnd(1, 14, 1)
	for name, files := range map[string]map[string]string{
		"alone":                        {"day/" + balanceFile(1, 1): whole},
		"of another name":              {"day/balance-20261127.csv": whole},
		"in two files":                 {"day/" + balanceFile(1, 2): balanceTop + balanceNames + balanceEarly, "day/" + balanceFile(2, 2): balanceNames + balanceLate + balanceEnd(2, 14, 2)},
		"beside the settlement report": {"day/" + balanceFile(1, 1): whole, "day/STL-20261127.01.009.CSV": settlementReport(t)},
		"settlement report alone":      {"day/STL-20261127.01.009.CSV": settlementReport(t)},
	} {
		t.Run(name, func(t *testing.T) {
			s := paypalShop(t, balanceSetting(t), files)
			checkKit(t, s, "paypal")
			got := s.runJSON(exitLook, "--date", "2026-11-27")[0]
			totals := fmt.Sprint(got["statement"].(map[string]any)["totals"])
			for _, want := range []string{"amount:192.49 count:5 currency:USD fee:9.18 kind:payment", "amount:12800 count:1 currency:JPY fee:0 kind:refund", "amount:75.00 count:1 currency:USD fee:0.00 kind:chargeback"} {
				if !strings.Contains(totals, want) {
					t.Errorf("no %q in %s", want, totals)
				}
			}
			if _, out, _ := s.run("reconcile", "--date", "2026-11-27"); strings.Contains(out, overlap) != (name == "beside the settlement report") {
				t.Errorf("said: %s", out)
			}
		})
	}
}

func TestPayPalBalanceReportRefused(t *testing.T) {
	whole := balanceTop + balanceNames + balanceEarly + balanceLate + balanceEnd(1, 14, 1)
	nextDay := strings.NewReplacer("2026/11/27", "2026/11/28").Replace(balanceTop) + balanceNames + balanceEnd(1, 0, 1)
	for _, c := range []struct {
		name, setting string
		files         map[string]string
		want          []string
	}{
		{"not described", "", map[string]string{"day/b-20261127.csv": whole},
			[]string{"b-20261127.csv is a balance reconciliation report (settings.balance_report names a balance report's columns and has it compared)"}},
		{"the second file missing", balanceSetting(t), map[string]string{"day/" + balanceFile(1, 2): balanceTop + balanceNames + balanceEarly},
			[]string{balanceFile(1, 2), "it is file 1 of its report and does not end it: file 2 is missing"}},
		{"the first file missing", balanceSetting(t), map[string]string{"day/" + balanceFile(2, 2): balanceNames + balanceLate + balanceEnd(2, 14, 2)},
			[]string{"it is file 2 of its report, file 1 is missing"}},
		{"a file twice", balanceSetting(t), map[string]string{"day/" + balanceFile(1, 1): whole, "day/x-" + balanceFile(1, 1): whole + "\n"}, nil},
		{"rows of two files", balanceSetting(t), map[string]string{"day/" + balanceFile(1, 2): balanceTop + balanceNames + balanceFirst, "day/" + balanceFile(2, 2): balanceNames + balanceLate + balanceEnd(2, 14, 2)},
			[]string{"its report has 14 rows in all files, those given have 10"}},
		{"a row lost", balanceSetting(t), map[string]string{"day/b-20261127.csv": strings.Replace(whole, balanceFirst, "", 1)}, []string{"b-20261127.csv: 13 rows, the footer says 14"}},
		{"a column missing", balanceSetting(t), map[string]string{"day/b-20261127.csv": strings.Replace(whole, "Gross amount", "Gross", 1)},
			[]string{"b-20261127.csv: row 3: column Gross amount: the header lacks columns that settings.balance_report names: Gross amount; it has RD, Transaction ID"}},
		{"too many decimals", balanceSetting(t), map[string]string{"day/b-20261127.csv": strings.Replace(whole, "49.99", "49.999", 1)}, []string{"b-20261127.csv: row 4: column Gross amount", "USD has 2 decimals"}},
		{"another day, empty", balanceSetting(t), map[string]string{"day/b-20261127.csv": nextDay}, []string{"b-20261127.csv: says it is of 2026-11-28, the run is for 2026-11-27"}},
		{"kinds of nobody", strings.NewReplacer(`"Sale": payment`, `"Verkauf": payment`, `"Refund": refund`, `"Erstattung": refund`, `"Dispute/`, `"Streit/`, `"Withdraw money"`, `"Auszahlung"`, `"Currency conversion"`, `"Umtausch"`, `"Fee": fee`, `"Entgelt": fee`).Replace(balanceSetting(t)),
			map[string]string{"day/b-20261127.csv": whole}, []string{`b-20261127.csv: row 4: "Sale" is no kind of row we know`, "kinds in its settings"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := paypalShop(t, c.setting, c.files)
			if c.want != nil {
				s.fails(c.want, "reconcile", "--date", "2026-11-27")
			} else if code, out, talk := s.run("reconcile", "--date", "2026-11-27", "--format", "json"); code == exitDone || !strings.Contains(out+talk, "duplicate_entry") && code != exitFailed {
				t.Errorf("exit %d, %s%s; a report given twice is not balanced", code, out, talk)
			}
		})
	}
}

// What the settings do not know is told, not guessed.
func TestPayPalBalanceReportTells(t *testing.T) {
	whole := balanceTop + balanceNames + balanceEarly + balanceLate + "RD,0TESTBON1X,,,Bonus,,2026/11/27 12:00:00 -0800,5.00,,5.00,USD\n" + balanceEnd(1, 15, 1)
	s := paypalShop(t, balanceSetting(t), map[string]string{"day/b-20261127.csv": whole})
	checkKit(t, s, "paypal")
	if _, out, _ := s.run("reconcile", "--date", "2026-11-27"); !strings.Contains(out, `kind "Bonus" is a word we do not know: 1 row, the first is row 18`) {
		t.Errorf("said: %s", out)
	}
	plain := paypalShop(t, "", map[string]string{"day/b-20261127.csv": whole, "day/STL-20261127.01.009.CSV": settlementReport(t)})
	checkKit(t, plain, "paypal")
	if _, out, _ := plain.run("reconcile", "--date", "2026-11-27"); !strings.Contains(out, "b-20261127.csv: recognised as a balance reconciliation report, not compared (settings.balance_report names") {
		t.Errorf("said: %s", out)
	}
}

func TestDoctorOnBalanceReport(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for setting, want := range map[string]string{
		balanceSetting(t): "ok account paypal",
		strings.Replace(balanceSetting(t), `footer: {column: "RD", equals: "RF", count: "Total number of records"}`, "", 1): "warning account paypal: settings.balance_report.footer is not set",
		strings.Replace(balanceSetting(t), "occurred_at", "occured_at", 1):                                                  "settings.balance_report.columns.",
	} {
		config := paypalConfig(t, setting, map[string]string{"day/b-20261127.csv": ""})
		_, out := findings(t, at, map[string]string{"APP_CONFIG": config, "DATABASE_URL": "sqlite:" + filepath.Join(t.TempDir(), "app.db")})
		if !strings.Contains(out, want) || (want == "ok account paypal") == strings.Contains(out, "balance_report") {
			t.Errorf("doctor says\n%s\nwant %s", out, want)
		}
	}
}

// The two pages have one example.
func TestBalanceExampleInBothLanguages(t *testing.T) {
	if zh := readPage(t, "paypal.zh-CN.md").code(t, sectionStatement, "yaml"); zh != balanceSetting(t) {
		t.Errorf("the Chinese page's example differs:\n%s", zh)
	}
}
