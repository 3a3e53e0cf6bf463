package reconcile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// bridgeLines are bridges in short: "po_1 USD: payments 2 30.00, fees 0 -0.90; expected 29.10, paid 29.10, remainder 0.00 none".
func bridgeLines(list []reconcile.Bridge) []string {
	lines := []string{}
	for _, b := range list {
		var steps []string
		for _, s := range b.Steps {
			steps = append(steps, fmt.Sprint(s.Step, " ", s.Count, " ", s.Amount))
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s; expected %s, paid %s, remainder %s %s", b.PayoutID, b.Currency, strings.Join(steps, ", "), b.Expected,
			b.Paid, b.Remainder, b.RemainderIs))
	}
	return lines
}

func wantBridges(t *testing.T, got []reconcile.Bridge, want ...string) {
	t.Helper()
	if lines := bridgeLines(got); !slices.Equal(lines, want) {
		t.Errorf("bridges\n got %q\nwant %q", lines, want)
	}
}

// TestBridgesOfTheKits: every kit's statement adds up to what was paid, to the cent, in one run and in the next.
func TestBridgesOfTheKits(t *testing.T) {
	for _, kit := range []struct {
		name, date string
		files      []string
		paid, rest []string
	}{
		{"stripe", "2026-11-27", []string{"balance_change_from_activity_itemized_2026-11-27.csv", "payouts_itemized_2026-11-29.csv"},
			[]string{"po_TEST4001 USD: payments 9 322.73, refunds 2 -92.10, chargebacks 1 -75.00, fees 1 -28.18; expected 127.45, paid 127.45, remainder 0.00 none"},
			[]string{" USD: payments 1 20.00, fees 0 -0.88; expected 19.12, paid , remainder -19.12 stays in the balance, or is not paid out yet"}},
		{"stripe", "2026-11-27", []string{"balance_change_from_activity_itemized_2026-11-27.csv"}, // told by its callback
			[]string{"po_TEST4001 USD: payments 9 322.73, refunds 2 -92.10, chargebacks 1 -75.00, fees 1 -28.18; expected 127.45, paid 127.45, remainder 0.00 none"},
			[]string{" USD: payments 1 20.00, fees 0 -0.88; expected 19.12, paid , remainder -19.12 stays in the balance, or is not paid out yet"}},
		{"adyen", "2026-11-27", []string{"settlement_detail_report_batch_42.csv"},
			[]string{"42 EUR: payments 11 351.32, refunds 2 -88.08, chargebacks 1 -75.00, fees 1 -12.26; expected 175.98, paid 175.98, remainder 0.00 none"}, nil},
		{"paypal", "2026-11-27", []string{"STL-20261127.01.009.CSV"},
			[]string{"0TESTWDR4001X USD: payments 5 192.49, refunds 1 -10.00, chargebacks 1 -75.00, fees 1 -29.18, conversions 1 79.33; expected 157.64, " +
				"paid 100.00, remainder -57.64 stays in the balance, or is not paid out yet"}, // the report's balance: 500.00 before, 557.64 after
			[]string{" EUR: payments 1 25.00, fees 0 -1.22; expected 23.78, paid , remainder -23.78 stays in the balance, or is not paid out yet",
				" JPY: payments 1 12800, refunds 1 -12800, fees 0 -500, conversions 1 -12300; expected -12800, paid , remainder 12800 stays in the balance, or is not paid out yet"}},
		{"demopay", "2026-11-27", []string{"demopay_settlement_20261127.csv"},
			[]string{"B20261127 EUR: payments 1 25.00, fees 0 -0.75; expected 24.25, paid , remainder -24.25 no payout is told in this currency",
				"B20261127 JPY: payments 1 12800, refunds 1 -12800, fees 0 -384; expected -384, paid , remainder 384 no payout is told in this currency",
				"B20261127 KWD: payments 1 5.120, fees 0 -0.154; expected 4.966, paid , remainder -4.966 no payout is told in this currency",
				"B20261127 USD: payments 6 202.48, refunds 1 -10.00, chargebacks 1 -75.00, fees 1 -22.28; expected 95.20, paid 95.20, remainder 0.00 none"}, nil},
		{"wechatpay", "2026-11-29", []string{"tradebill_ALL_2026-11-29.csv"}, nil, nil},
	} {
		t.Run(kit.name+"/"+fmt.Sprint(len(kit.files)), func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
				p := openKit(t, kit.name)
				playKit(t, b, p, kit.name)
				var files []string
				for _, f := range kit.files {
					files = append(files, filepath.Join(testdata, kit.name, "statements", f))
				}
				a := reconcile.Account{Name: kit.name, Provider: p}
				r := run(t, b, a, kit.date, files...)
				wantBridges(t, r.Bridges, kit.paid...)
				wantBridges(t, r.NotPaidOut, kit.rest...)
				checkKit(t, r, kit.name)
				if len(r.Carried) != 0 {
					t.Errorf("carried %q", gapLines(r.Carried))
				}
				if again := run(t, b, a, kit.date, files...); neutral(t, again) != neutral(t, r) || again.RunID != r.RunID {
					t.Errorf("the second run differs:\n%s\nfrom the first:\n%s", neutral(t, again), neutral(t, r))
				}
			})
		})
	}
}

// payoutRow is a row of feeFile that tells a payout.
func payoutRow(id, amount, at string) string {
	return id + ",,payout,-" + amount + ",0,CNY,success," + at
}

// ofPayout is a payment's row that is part of a payout; its order and its book entry are made by paid.
func ofPayout(id, at, payout string) string {
	return fmt.Sprintf("%s,O-%s,payment,20.00,0.12,CNY,success,%s,,%s", id, id, at, payout)
}

// A payout whose rows come in the statements of three days, and which is told by the last.
func TestPayoutOverSeveralDays(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := feeAccount(t)
		paid(t, b, "p1 2026-11-26 10:00:00", "p2 2026-11-27 10:00:00", "p3 2026-11-28 10:00:00", "p4 2026-11-28 11:00:00")
		first := feeFile(t, ofPayout("p1", "2026-11-26 10:00:00", "po_1"))
		second := feeFile(t, ofPayout("p2", "2026-11-27 10:00:00", "po_1"), "f1,,fee,-0.50,0,CNY,success,2026-11-27 10:00:00,,po_1",
			"h1,,reserve,-5.00,0,CNY,success,2026-11-27 10:00:00,,po_1", "a1,,adjustment,1.00,0,CNY,success,2026-11-27 10:00:00,,po_1")
		third := feeFile(t, ofPayout("p3", "2026-11-28 10:00:00", "po_1"), ofPayout("p4", "2026-11-28 11:00:00", "po_2"), payoutRow("po_1", "55.14", "2026-11-28 20:00:00"))

		r := run(t, b, a, "2026-11-26", first)
		wantRun(t, r, "1 1")
		wantBridges(t, r.Bridges, "po_1 CNY: payments 1 20.00, fees 0 -0.12; expected 19.88, paid , remainder -19.88 no payout is told in this currency")

		r = run(t, b, a, "2026-11-28", third) // the day between is late: nothing is due yet
		wantRun(t, r, "2 2", "carried: payout_mismatch payout po_1")
		if g := r.Carried[0]; g.Statement.Amount != "39.76" || g.Ledger.Amount != "55.14" || !strings.Contains(g.Reason, "statements of 2026-11-27") {
			t.Errorf("carried %+v, %+v, %q", g.Statement, g.Ledger, g.Reason)
		}

		r = run(t, b, a, "2026-11-27", second)
		whole := "po_1 CNY: payments 3 60.00, fees 1 -0.86, reserves 1 -5.00, adjustments 1 1.00; expected 55.14, paid 55.14, remainder 0.00 none"
		wantRun(t, r, "1 1", "healed: payout_mismatch payout po_1 of 2026-11-28")
		wantBridges(t, r.Bridges, whole)
		again := run(t, b, a, "2026-11-27", second)
		if neutral(t, again) != neutral(t, r) || again.RunID != r.RunID {
			t.Errorf("the second run differs:\n%s\nfrom the first:\n%s", neutral(t, again), neutral(t, r))
		}
		r = run(t, b, a, "2026-11-28", third)
		wantRun(t, r, "2 2", "healed: payout_mismatch payout po_1")
		wantBridges(t, r.Bridges, whole, "po_2 CNY: payments 1 20.00, fees 0 -0.12; expected 19.88, paid , remainder -19.88 no payout is told in this currency")
	})
}

// A payout that its rows do not explain is a gap of the payout's day, found by whichever run comes last, and healed by a corrected file.
func TestPayoutMismatch(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := feeAccount(t)
		paid(t, b, "p1 2026-11-27 10:00:00", "p2 2026-11-27 11:00:00")
		run(t, b, a, "2026-11-27", feeFile(t, ofPayout("p1", "2026-11-27 10:00:00", "po_1"), ofPayout("p2", "2026-11-27 11:00:00", "po_1")))
		wrong := feeFile(t, payoutRow("po_1", "40.00", "2026-11-28 20:00:00"))
		r := run(t, b, a, "2026-11-28", wrong)
		wantRun(t, r, "0 0", "payout_mismatch payout po_1")
		g := r.Gaps[0]
		if g.Statement.Amount != "39.76" || g.Ledger.Amount != "40.00" || g.Ledger.Currency != "CNY" || !slices.Equal(g.Differs, []string{"amount"}) ||
			g.Reason != "the rows of payout po_1 come to 39.76 CNY, the provider paid 40.00: 0.24 more than they explain" ||
			g.Next != "app payouts show po_1 --account shop" || r.Summary[models.GapPayout] != 1 {
			t.Errorf("gap %+v, %+v, %+v", g, g.Statement, g.Ledger)
		}
		if again := run(t, b, a, "2026-11-28", wrong); again.RunID != r.RunID || neutral(t, again) != neutral(t, r) {
			t.Errorf("the same again is another run")
		}
		// the rows' day is corrected, by a row that was missing: the payout's gap of the other day heals by it
		fixed := feeFile(t, ofPayout("p1", "2026-11-27 10:00:00", "po_1"), ofPayout("p2", "2026-11-27 11:00:00", "po_1"), "a1,,adjustment,0.24,0,CNY,success,2026-11-27 12:00:00,,po_1")
		wantRun(t, run(t, b, a, "2026-11-27", fixed), "2 2", "healed: payout_mismatch payout po_1 of 2026-11-28")
		if s := state(t, b, g.ID); s.State != models.GapResolved {
			t.Errorf("the gap is %s", s.State)
		}
		// and broken again by a file without the payout's rows
		bare := feeFile(t, ofPayout("p1", "2026-11-27 10:00:00", "po_1"), ofPayout("p2", "2026-11-27 11:00:00", ""))
		r = run(t, b, a, "2026-11-27", bare)
		wantRun(t, r, "2 2", "payout_mismatch payout po_1 of 2026-11-28")
		if r.Gaps[0].ID != g.ID || r.Gaps[0].New {
			t.Errorf("the gap is %s (new %v), want %s again", r.Gaps[0].ID, r.Gaps[0].New, g.ID)
		}
		// a file that names no row of it at all leaves nothing to judge
		none := feeFile(t, ofPayout("p1", "2026-11-27 10:00:00", ""), ofPayout("p2", "2026-11-27 11:00:00", ""))
		wantRun(t, run(t, b, a, "2026-11-27", none), "2 2", "healed: payout_mismatch payout po_1 of 2026-11-28")
		wantRun(t, run(t, b, a, "2026-11-27", bare), "2 2", "payout_mismatch payout po_1 of 2026-11-28")
		wantRun(t, run(t, b, a, "2026-11-28", feeFile(t, payoutRow("po_1", "19.88", "2026-11-28 20:00:00"))), "0 0", "healed: payout_mismatch payout po_1")
	})
}

// A payout that a file tells twice was paid once, and that is said.
func TestPayoutToldTwice(t *testing.T) {
	b, a := sqlite(t), feeAccount(t)
	paid(t, b, "p1 2026-11-28 10:00:00")
	row, payout := ofPayout("p1", "2026-11-28 10:00:00", "po_1"), payoutRow("po_1", "19.88", "2026-11-28 20:00:00")
	r := run(t, b, a, "2026-11-28", feeFile(t, row, payout, payout, payout))
	wantRun(t, r, "1 1")
	wantBridges(t, r.Bridges, "po_1 CNY: payments 1 20.00, fees 0 -0.12; expected 19.88, paid 19.88, remainder 0.00 none")
	if len(r.Notes) != 1 || !strings.HasSuffix(r.Notes[0], ": payouts told twice: 2 rows, the first is row 4; paid once") {
		t.Errorf("notes %q", r.Notes)
	}
	bounced := strings.Replace(payout, "success", "reversed", 1)
	if r = run(t, b, a, "2026-11-28", feeFile(t, row, payout, bounced)); len(r.Notes) != 0 {
		t.Errorf("one that bounced is told twice: %q", r.Notes)
	}
}

// A payout that only a callback tells is judged by the run of its day.
func TestPayoutToldByACallback(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := feeAccount(t)
		paid(t, b, "p1 2026-11-27 10:00:00")
		rows := feeFile(t, ofPayout("p1", "2026-11-27 10:00:00", "po_1"))
		run(t, b, a, "2026-11-27", rows)
		cb := func(kind models.EventKind, at time.Time) {
			t.Helper()
			events := []models.Event{{Kind: kind, TransactionID: "po_1", Money: models.Money{Minor: 2000, Currency: "CNY"}, OccurredAt: at}}
			if _, err := b.Record(t.Context(), models.Callback{Account: "shop", Method: "POST", ReceivedAt: at, Body: []byte(kind)}, events, func(models.Outcome) int { return 200 }); err != nil {
				t.Fatal(err)
			}
		}
		at := time.Date(2026, 11, 28, 2, 0, 0, 0, time.UTC)
		cb(models.PayoutPaid, at)
		r := run(t, b, a, "2026-11-28", feeFile(t))
		wantRun(t, r, "0 0", "payout_mismatch payout po_1")
		wantBridges(t, r.Bridges, "po_1 CNY: payments 1 20.00, fees 0 -0.12; expected 19.88, paid 20.00, remainder 0.12 not explained by the rows")
		cb(models.PayoutFailed, at.Add(time.Hour))
		r = run(t, b, a, "2026-11-28", feeFile(t))
		wantRun(t, r, "0 0", "healed: payout_mismatch payout po_1")
		wantBridges(t, r.Bridges, "po_1 CNY: payments 1 20.00, fees 0 -0.12; expected 19.88, paid 0.00, remainder -19.88 the payout came to nothing: the money stays in the balance")
	})
}

// Of a payout that a statement and a callback tell, the statement's sum is taken; that the callback has another is not silent.
func TestPayoutToldOtherwise(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := feeAccount(t)
		paid(t, b, "p1 2026-11-27 10:00:00", "p2 2026-11-27 11:00:00")
		run(t, b, a, "2026-11-27", feeFile(t, ofPayout("p1", "2026-11-27 10:00:00", "po_1"), ofPayout("p2", "2026-11-27 11:00:00", "po_2")))
		at := time.Date(2026, 11, 28, 2, 0, 0, 0, time.UTC)
		for id, minor := range map[string]int64{"po_1": 2000, "po_2": 1988} {
			callbackOf(t, b, models.Event{Kind: models.PayoutPaid, TransactionID: id, Money: cny(minor), OccurredAt: at}, id)
		}
		agree := []string{payoutRow("po_1", "19.88", "2026-11-28 10:00:00"), payoutRow("po_2", "19.88", "2026-11-28 10:00:00")}
		r := run(t, b, a, "2026-11-28", feeFile(t, agree...))
		wantRun(t, r, "0 0", "payout_mismatch payout po_1")
		if g := r.Gaps[0]; g.Reason != "the statement has this payout at 19.88 CNY, its callback at 20.00 CNY" || g.Statement.Amount != "19.88" || g.Ledger.Amount != "20.00" {
			t.Errorf("gap %q, %+v, %+v", g.Reason, g.Statement, g.Ledger)
		}
		again := run(t, b, a, "2026-11-28", feeFile(t, agree...))
		if again.RunID != r.RunID || neutral(t, again) != neutral(t, r) {
			t.Error("the same again is another run")
		}
		r = run(t, b, a, "2026-11-28", feeFile(t, payoutRow("po_1", "21.00", "2026-11-28 10:00:00"), agree[1]))
		wantRun(t, r, "0 0", "payout_mismatch payout po_1")
		if want := "the rows of payout po_1 come to 19.88 CNY, the provider paid 21.00: 1.12 more than they explain; the statement has this payout at 21.00 CNY, its callback at 20.00 CNY"; r.Gaps[0].Reason != want {
			t.Errorf("gap %q, want %q", r.Gaps[0].Reason, want)
		}
		// whichever day is run later judges it again, and the callback's sum in the statement settles it
		wantRun(t, run(t, b, a, "2026-11-27", feeFile(t, "a1,,adjustment,0.12,0,CNY,success,2026-11-27 12:00:00,,po_1", ofPayout("p1", "2026-11-27 10:00:00", "po_1"),
			ofPayout("p2", "2026-11-27 11:00:00", "po_2"))), "2 2", "payout_mismatch payout po_1 of 2026-11-28")
		wantRun(t, run(t, b, a, "2026-11-28", feeFile(t, payoutRow("po_1", "20.00", "2026-11-28 10:00:00"), agree[1])), "0 0", "healed: payout_mismatch payout po_1")
	})
}

// What is told twice counts once: a row repeated in a file, a file given again packed otherwise, a run made again, and a report that has
// all of a payout beside the daily ones.
func TestBridgesCountRowsOnce(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := feeAccount(t)
		paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 11:00:00")
		one := ofPayout("p1", "2026-11-28 10:00:00", "po_1")
		r := run(t, b, a, "2026-11-28", feeFile(t, one, one, ofPayout("p2", "2026-11-28 11:00:00", "po_1"), payoutRow("po_1", "39.76", "2026-11-28 20:00:00")))
		wantRun(t, r, "2 2", "duplicate_entry payment p1")
		wantBridges(t, r.Bridges, "po_1 CNY: payments 2 40.00, fees 0 -0.24; expected 39.76, paid 39.76, remainder 0.00 none")
		steps, err := b.PayoutSteps(t.Context(), "shop", []string{"po_1"})
		if err != nil || len(steps) != 1 || steps[0].Count != 2 || steps[0].Amount.Int64() != 4000 || steps[0].Fee.Int64() != 24 || steps[0].Whole {
			t.Errorf("steps %+v, %v", steps, err)
		}
	})
}

// Stripe's payout reconciliation has all rows of its payouts. Beside the daily balance reports, in the same run or another, none counts twice.
func TestWholePayoutReports(t *testing.T) {
	balance := filepath.Join(testdata, "stripe/statements/balance_change_from_activity_itemized_2026-11-27.csv")
	raw, err := os.ReadFile(balance)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(raw)) {
		if len(rows) == 0 || strings.Contains(line, "po_TEST4001") {
			rows = append(rows, line)
		}
	}
	reconciliation := file(t, "payout_reconciliation_2026-11-29.csv", []byte(strings.Join(rows, "")))
	const want = "po_TEST4001 USD: payments 9 322.73, refunds 2 -92.10, chargebacks 1 -75.00, fees 1 -28.18; expected 127.45, paid 127.45, remainder 0.00 none"
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		p := openKit(t, "stripe")
		playKit(t, b, p, "stripe")
		a := reconcile.Account{Name: "stripe", Provider: p}
		wantBridges(t, run(t, b, a, "2026-11-27", balance, reconciliation).Bridges, want)
		wantBridges(t, run(t, b, a, "2026-11-27", reconciliation, balance).Bridges, want)
		wantBridges(t, run(t, b, a, "2026-11-27", balance).Bridges, want)
		again := file(t, "payout_reconciliation_2026-11-29.csv", []byte(strings.Join(rows, "")+"\n")) // the other one was read by the 27th
		wantBridges(t, run(t, b, a, "2026-11-29", again).Bridges, want)
		wantBridges(t, run(t, b, a, "2026-11-27", balance).Bridges, want)
	})
}

// Sums beyond what 64 bits hold come out right, on both sides of zero.
func TestBridgesOfHugeSums(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := feeAccount(t)
		var rows []string
		for i := range 4 {
			rows = append(rows, fmt.Sprintf("a%d,,adjustment,-90000000000000000.01,0,CNY,success,2026-11-28 10:00:00,,po_1", i))
		}
		r := run(t, b, a, "2026-11-28", feeFile(t, append(rows, "t1,,payout,-1.00,0,CNY,success,2026-11-28 10:00:00,,po_1")...))
		wantRun(t, r, "0 0", "payout_mismatch payout po_1")
		wantBridges(t, r.Bridges, "po_1 CNY: adjustments 4 -360000000000000000.04; expected -360000000000000000.04, paid 1.00, remainder 360000000000000001.04 not explained by the rows")
		steps, err := b.PayoutSteps(t.Context(), "shop", []string{"po_1"})
		if err != nil || len(steps) != 1 || steps[0].Amount.String() != "-36000000000000000004" {
			t.Errorf("steps %+v, %v", steps, err)
		}
		list, _, err := b.Payouts(t.Context(), ledger.PayoutFilter{Account: "shop"})
		if err != nil || len(list) != 1 || list[0].PayoutID != "t1" || list[0].RowsID() != "po_1" || list[0].Money.Minor != 100 {
			t.Errorf("payouts %+v, %v", list, err)
		}
	})
}

// A dry run finds the same and writes nothing.
func TestBridgesOfADryRun(t *testing.T) {
	b := sqlite(t)
	a := feeAccount(t)
	paid(t, b, "p1 2026-11-28 10:00:00")
	src := reconcile.Files(feeFile(t, ofPayout("p1", "2026-11-28 10:00:00", "po_1"), payoutRow("po_1", "20.00", "2026-11-28 20:00:00")))
	r, err := reconcile.Run(t.Context(), b, a, src, day(t, "2026-11-28"), reconcile.Options{Now: noon, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	wantRun(t, r, "1 1", "payout_mismatch payout po_1")
	wantNothingWritten(t, b)
	payouts, _, err := b.Payouts(t.Context(), ledger.PayoutFilter{})
	steps, stepErr := b.PayoutSteps(t.Context(), "shop", []string{"po_1"})
	if err != nil || stepErr != nil || len(payouts)+len(steps) != 0 {
		t.Errorf("%d payouts, %d steps were written (%v, %v)", len(payouts), len(steps), err, stepErr)
	}
}

// Bridges are printed under the totals, with their signs, and in JSON.
func TestBridgesArePrinted(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p1 2026-11-28 10:00:00")
	r := run(t, b, feeAccount(t), "2026-11-28", feeFile(t, ofPayout("p1", "2026-11-28 10:00:00", "po_1"), payoutRow("po_1", "20.00", "2026-11-28 20:00:00")))
	var table, colours, raw bytes.Buffer
	if err := reconcile.WriteTable(&table, []reconcile.Item{{Report: r}}, reconcile.Look{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  payout po_1  2026-11-28  succeeded\n", "  payments      1  +20.00\n", "  fees              -0.12\n", "  expected         +19.88\n",
		"  paid             +20.00\n", "  remainder         +0.12  not explained by the rows\n"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
	if err := reconcile.WriteBridges(&colours, r.Bridges, reconcile.Look{Color: true}); err != nil || !strings.Contains(colours.String(), "\x1b[31m+0.12\x1b[0m") {
		t.Errorf("the remainder is not red (%v):\n%q", err, colours.String())
	}
	if err := reconcile.WriteJSON(&raw, []reconcile.Item{{Report: r}}); err != nil {
		t.Fatal(err)
	}
	var items []struct{ Bridges []map[string]any }
	if err := json.Unmarshal(raw.Bytes(), &items); err != nil || len(items[0].Bridges) != 1 {
		t.Fatalf("%v: %s", err, raw.String())
	}
	if got := fmt.Sprint(items[0].Bridges[0]); got != "map[account:shop currency:CNY date:2026-11-28 expected:19.88 paid:20.00 payout_id:po_1 remainder:0.12 "+
		"remainder_is:not explained by the rows status:succeeded steps:[map[amount:20.00 count:1 step:payments] map[amount:-0.12 count:0 step:fees]]]" {
		t.Errorf("JSON %s", got)
	}
}
