package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
	"paybook/models"
)

// grossRow is a payment in a statement, in minor units: what was paid, what the provider kept, and what it paid out.
type grossRow struct {
	id, order       string
	at              time.Time
	gross, fee, net int64
}

func inZone(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func major(minor int64) string { return models.Money{Minor: minor, Currency: "USD"}.Text() }

// fieldStatements write one provider's statement of a business day, and give its path.
var fieldStatements = map[string]func(f *field, day time.Time, r grossRow) string{
	"stripe": func(f *field, _ time.Time, r grossRow) string {
		return f.file("balance_change_from_activity_itemized.csv", "balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,payment_metadata[order_id]\n"+
			strings.Join([]string{"txn_" + r.id, r.at.UTC().Format(time.DateTime), "usd", major(r.gross), major(r.fee), major(r.net), "charge", r.id, r.order}, ",")+"\n")
	},
	"wechatpay": func(f *field, _ time.Time, r grossRow) string {
		return f.wechatBill(wechatRow{id: r.id, order: r.order, at: r.at.In(inZone(f.t, "Asia/Shanghai")).Format(time.DateTime), amount: major(r.gross)})
	},
	"alipay": func(f *field, day time.Time, r grossRow) string {
		at := r.at.In(inZone(f.t, "Asia/Shanghai")).Format(time.DateTime)
		text := alipayText(f.t, alipayRow{trade: r.id, order: r.order, at: at, amount: major(r.gross), received: major(r.net), fee: "-" + major(r.fee)})
		const layout = "2006年01月02日 15:04:05"
		period := "#起始日期：[" + day.Format(layout) + "]   终止日期：[" + day.AddDate(0, 0, 1).Format(layout) + "]"
		return f.file("bill.csv", gb18030(f.t, strings.Replace(text, alipayPeriod, period, 1)))
	},
	"unionpay": func(f *field, day time.Time, r grossRow) string {
		return f.file("INN"+day.Format("060102")+"00ZM_777000000000001", unionpayRecord(f.t, r)+"\r\n")
	},
	"paypal": func(f *field, day time.Time, r grossRow) string {
		const layout = "2006/01/02 15:04:05 -0700"
		zone := inZone(f.t, "America/Los_Angeles")
		from := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone)
		to, at := from.AddDate(0, 0, 1).Add(-time.Second).Format(layout), r.at.In(zone).Format(layout)
		sums := fmt.Sprintf(`"USD","%d","0","0","%d","CR","0"`, r.gross, r.fee)
		return f.file("STL-"+day.Format("20060102")+".01.009.CSV", strings.Join([]string{
			`"RH","` + to + `","A","FIELDMERCHANT","009"`, `"FH","01"`, `"SH","` + from.Format(layout) + `","` + to + `","FIELDMERCHANT",""`,
			`"CH","Transaction ID","Invoice ID","PayPal Reference ID","PayPal Reference ID Type","Transaction Event Code","Transaction Initiation Date","Transaction Completion Date",` +
				`"Transaction Debit or Credit","Gross Transaction Amount","Gross Transaction Currency","Fee Debit or Credit","Fee Amount","Fee Currency"`,
			fmt.Sprintf(`"SB","%s","%s","","","T0006","%s","%s","CR","%d","USD","DR","%d","USD"`, r.id, r.order, at, at, r.gross, r.fee),
			`"SF",` + sums, `"SC","1"`, `"RF",` + sums, `"RC","1"`, `"FF","1"`}, "\r\n")+"\r\n")
	},
	"adyen": func(f *field, _ time.Time, r grossRow) string {
		at := r.at.In(inZone(f.t, "Europe/Amsterdam"))
		letters, _ := at.Zone()
		row := func(cells ...string) string { return "FieldCompany,FieldShop," + strings.Join(cells, ",") + "\n" }
		return f.file("settlement_detail_report_batch_7.csv", "Company Account,Merchant Account,Psp Reference,Merchant Reference,Creation Date,TimeZone,Type,Modification Reference,"+
			"Gross Currency,Gross Debit (GC),Gross Credit (GC),Exchange Rate,Net Currency,Net Debit (NC),Net Credit (NC),Commission (NC),Batch Number\n"+
			row(r.id, r.order, at.Format(time.DateTime), letters, "Settled", "CAP"+r.id, "EUR", "", major(r.gross), "1", "EUR", "", major(r.net), major(r.fee), "7")+
			row("", "", at.Format(time.DateTime), letters, "MerchantPayout", "TX7", "", "", "", "", "EUR", major(r.net), "", "", "7"))
	},
}

// zmWidths are the columns of UnionPay's transaction record, in bytes, from the test kit; the names are those that hold something here.
var zmWidths = []struct {
	name  string
	width int
}{
	{"code", 3}, {"agent", 11}, {"sender", 11}, {"trace", 6}, {"at", 10}, {"card", 19}, {"gross", 12}, {"mcc", 4}, {"terminal", 2}, {"id", 21}, {"", 2}, {"order", 32}, {"", 2}, {"", 6},
	{"", 10}, {"fee", 13}, {"net", 13}, {"", 4}, {"", 15}, {"type", 2}, {"", 2}, {"", 6}, {"", 2}, {"", 4}, {"", 32}, {"", 1}, {"", 21}, {"merchant", 15}, {"", 1}, {"", 15}, {"", 32}, {"", 13},
	{"net", 13}, {"", 8}, {"", 32}, {"", 13}, {"", 13}, {"", 12}, {"", 2}, {"", 1}, {"", 32}, {"", 13}, {"", 2}, {"", 1}, {"", 12}, {"", 20}, {"", 45},
}

func unionpayRecord(t *testing.T, r grossRow) string {
	t.Helper()
	cells := map[string]string{
		"code": "S22", "agent": "00049992", "sender": "00049992", "trace": r.id[len(r.id)-6:], "at": r.at.In(inZone(t, "Asia/Shanghai")).Format("0102150405"), "card": "6216***********0018",
		"gross": fmt.Sprintf("%012d", r.gross), "mcc": "5311", "terminal": "07", "id": r.id, "order": r.order, "fee": fmt.Sprintf("D%012d", r.fee), "net": fmt.Sprintf("C%012d", r.net),
		"type": "01", "merchant": "777000000000001",
	}
	var parts []string
	for _, column := range zmWidths {
		parts = append(parts, fmt.Sprintf("%-*s", column.width, cells[column.name]))
	}
	return strings.Join(parts, " ")
}

// F38: what is compared is what was paid. What the provider kept and what it paid out decide nothing, and fees have a sum of their own.
func TestFieldGrossFeeNet(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		for _, k := range fieldKits {
			write, has := fieldStatements[k.account]
			if !has || k.account == "wechatpay" { // whose fee its own bill test has
				continue
			}
			date := map[string]string{"paypal": "2026-11-27"}[k.account] // noon in Shanghai is the evening before in Los Angeles
			date = or(date, "2026-11-28")
			day, err := time.Parse(time.DateOnly, date)
			if err != nil {
				t.Fatal(err)
			}
			order := "FCGROSS-" + k.account
			f.order(order, "20.00", k.currency)
			f.ack(f.deliver(k.pay(f, fieldPaid{id: k.id(1), order: order, minor: 2000})))
			for _, c := range []struct {
				gross, fee, net int64
				fits            bool
			}{
				{2000, 12, 1988, true}, {2000, 0, 2000, true}, {2000, 1999, 1, true},
				{1988, 12, 1976, false}, {2012, 12, 2000, false}, {1999, 0, 1999, false}, {2001, 1, 2000, false},
			} {
				r := grossRow{id: k.id(1), order: order, at: f.now, gross: c.gross, fee: c.fee, net: c.net}
				code, counts, gaps := exitDone, "1 1", []string(nil)
				if !c.fits {
					code, counts, gaps = exitLook, "1 0", []string{"amount_mismatch payment " + r.id}
				}
				file := write(f, day, r)
				f.wantRunOf(k.account, date, file, code, counts, gaps...)
				if c.fits && k.account != "adyen" { // whose payout stands in the same file
					f.wantTotal(k.account, date, file, code, fmt.Sprintf("payment %s 1 %s fee %s", k.currency, major(c.gross), major(c.fee)))
				}
			}
		}
	})
}

// zoneCase is a payment at the edge of a provider's business day.
type zoneCase struct {
	account, at, day string // at: RFC 3339
}

// zoneCases: UnionPay's day begins at 23:00 of the evening before, PayPal's and Adyen's at midnight of the report's zone, in summer as in
// winter, and on the days on which clocks change.
var zoneCases = []zoneCase{
	{"alipay", "2026-11-28T16:30:00Z", "2026-11-29"}, {"alipay", "2026-11-28T15:59:59Z", "2026-11-28"}, {"alipay", "2026-11-28T16:00:00Z", "2026-11-29"}, {"alipay", "2026-07-01T15:59:59Z", "2026-07-01"},
	{"wechatpay", "2026-11-28T16:30:00Z", "2026-11-29"}, {"wechatpay", "2026-11-28T15:59:59Z", "2026-11-28"},
	{"unionpay", "2026-11-28T14:59:59Z", "2026-11-28"}, {"unionpay", "2026-11-28T15:00:00Z", "2026-11-29"}, {"unionpay", "2026-11-28T15:59:59Z", "2026-11-29"}, {"unionpay", "2026-11-28T16:30:00Z", "2026-11-29"},
	{"unionpay", "2026-12-31T15:00:00Z", "2027-01-01"}, {"unionpay", "2026-11-29T15:00:00Z", "2026-11-30"},
	{"paypal", "2026-11-28T07:59:59Z", "2026-11-27"}, {"paypal", "2026-11-28T08:00:00Z", "2026-11-28"}, {"paypal", "2026-11-29T07:59:59Z", "2026-11-28"}, {"paypal", "2026-07-01T06:59:59Z", "2026-06-30"},
	{"paypal", "2026-07-01T07:00:00Z", "2026-07-01"}, {"paypal", "2026-11-01T07:00:00Z", "2026-11-01"}, {"paypal", "2026-11-02T07:59:59Z", "2026-11-01"}, {"paypal", "2026-11-01T09:30:00Z", "2026-11-01"},
	{"adyen", "2026-11-28T22:59:59Z", "2026-11-28"}, {"adyen", "2026-11-28T23:00:00Z", "2026-11-29"}, {"adyen", "2026-07-01T21:59:59Z", "2026-07-01"}, {"adyen", "2026-07-01T22:00:00Z", "2026-07-02"},
	{"adyen", "2026-10-25T22:59:59Z", "2026-10-25"}, {"adyen", "2026-10-25T01:30:00Z", "2026-10-25"}, {"adyen", "2026-10-24T22:00:00Z", "2026-10-25"},
}

func (c zoneCase) row(t *testing.T, n int) (grossRow, time.Time) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, c.at)
	if err != nil {
		t.Fatal(err)
	}
	day, err := time.Parse(time.DateOnly, c.day)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range fieldKits {
		if k.account == c.account {
			return grossRow{id: k.id(n), order: fmt.Sprint("FCEDGE", n), at: at, gross: 1999, fee: 12, net: 1987}, day
		}
	}
	t.Fatalf("no provider %s", c.account)
	return grossRow{}, day
}

// paidAt has a provider tell of a payment at its time, a moment later.
func (f *field) paidAt(c zoneCase, r grossRow) {
	f.t.Helper()
	f.now = r.at.Add(3 * time.Second)
	beijing := r.at.In(inZone(f.t, "Asia/Shanghai"))
	switch c.account {
	case "alipay":
		f.alipayAck(f.alipay(f.alipayPaid(r.id, r.order, "19.99", form{"gmt_payment": beijing.Format(time.DateTime), "notify_time": f.now.In(beijing.Location()).Format(time.DateTime)})))
	case "wechatpay":
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid(r.id, r.order, 1999, map[string]any{"success_time": beijing.Format(time.RFC3339)})))
	case "unionpay":
		f.ack(f.deliver(f.unionpaySigned(unionpayPaid(r.id, r.order, 1999, form{"txnTime": beijing.Format("20060102150405"), "traceTime": beijing.Format("0102150405"),
			"settleDate": beijing.Add(time.Hour).Format("0102")}))))
	case "paypal":
		f.ack(f.deliver(f.paypalSigned(strings.ReplaceAll(f.paypalEvent("PAYMENT.CAPTURE.COMPLETED", r.id, r.order, "19.99"), "2026-11-28T04:00:00Z", c.at))))
	case "adyen":
		at := r.at.In(inZone(f.t, "Europe/Amsterdam")).Format(time.RFC3339)
		f.ack(f.deliver(adyenBody(f.adyenItem("AUTHORISATION", r.id, r.order, 1999, map[string]any{"eventDate": at}), "")))
	}
}

// F40: each provider's day is its own, whatever zone the machine is in.
func TestFieldZonesOfTheProviders(t *testing.T) {
	if dsn := os.Getenv("PAYBOOK_FIELD_ZONES"); dsn != "" {
		f := openField(t, dsn)
		seen := map[string]bool{}
		for i, c := range zoneCases {
			f.wantDay(c, i, seen)
		}
		return
	}
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		f := openField(t, dsn)
		for i, c := range zoneCases {
			r, _ := c.row(t, i)
			f.order(r.order, "19.99", map[string]string{"paypal": "USD", "adyen": "EUR"}[c.account]+map[string]string{"alipay": "CNY", "wechatpay": "CNY", "unionpay": "CNY"}[c.account])
			f.paidAt(c, r)
			if got := f.stands(r.order); got != "paid" {
				t.Errorf("%+v: order is %s", c, got)
			}
		}
		zones := []string{"America/New_York", "Pacific/Kiritimati"}
		if strings.HasPrefix(dsn, "sqlite:") { // the other one takes its time
			zones = append(zones, "UTC", "Asia/Shanghai")
		}
		for _, zone := range zones {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestFieldZonesOfTheProviders$")
			cmd.Env = append(os.Environ(), "TZ="+zone, "PAYBOOK_FIELD_ZONES="+dsn)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("TZ=%s: %v\n%s", zone, err, out)
			}
		}
	})
}

// wantDay checks that a payment matches its row on its day, and that this day and those beside it have the payments that are theirs.
func (f *field) wantDay(c zoneCase, n int, seen map[string]bool) {
	f.t.Helper()
	r, day := c.row(f.t, n)
	for _, shift := range []int{-1, 0, 1} {
		date, want := day.AddDate(0, 0, shift).Format(time.DateOnly), 0
		if seen[c.account+date] {
			continue
		}
		seen[c.account+date] = true
		for _, other := range zoneCases {
			if other.account == c.account && other.day == date {
				want++
			}
		}
		run := f.dryRun("--account", c.account, "--date", date, "--no-statement")
		if local, _ := run["ledger"].(map[string]any); local["transactions"] != float64(want) {
			f.t.Errorf("%s has %v payments on %s, want %d", c.account, local["transactions"], date, want)
		}
	}
	run := f.dryRun("--account", c.account, "--date", c.day, "--statement", fieldStatements[c.account](f, day, r))
	if run["matched"] != 1.0 || strings.Contains(string(f.mustJSON(run["gaps"])), r.id) {
		f.t.Errorf("%+v: matched %v, gaps %v", c, run["matched"], run["gaps"])
	}
}

// dryRun is what a run would find, whatever that is.
func (f *field) dryRun(args ...string) map[string]any {
	f.t.Helper()
	code, out, talk := f.run(append([]string{"reconcile", "--format", "json", "--dry-run"}, args...)...)
	if code == exitFailed {
		f.t.Fatalf("app reconcile %s: %s", strings.Join(args, " "), talk)
	}
	var runs []map[string]any
	decode(f.t, out, &runs)
	return runs[0]
}
