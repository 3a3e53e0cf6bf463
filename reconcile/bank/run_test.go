package bank

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// quietDays declares days to have no statement.
func quietDays(t *testing.T, book *ledger.Ledger, b Bank, days ...string) (last *reconcile.Report) {
	t.Helper()
	for _, d := range days {
		last = runs(t, book, b, d, "")
	}
	return last
}

// A payout is looked for until the statements of all days on which it may come have been read, and missed from then on.
func TestPayoutIsCarriedThenMissing(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		pays(t, book, "stripe po_AAAA1111 2026-11-27 100.00")
		b := euro()
		tells(t, runs(t, book, b, "2026-11-27", statementText("2026-11-27", "0.00")), "~po_AAAA1111")
		tells(t, quietDays(t, book, b, "2026-11-30", "2026-12-01", "2026-12-02", "2026-12-03"), "~po_AAAA1111")
		r := runs(t, book, b, "2026-12-04", "")
		tells(t, r, "bank_missing po_AAAA1111")
		g := r.Gaps[0]
		if g.Ledger.Amount != "100.00" || g.Statement != nil || g.Date != "2026-11-27" || !g.New && g.FirstSeen == "" || !strings.Contains(g.Reason, "payout po_AAAA1111 of stripe") ||
			!strings.Contains(g.Reason, "up to 2026-12-04") || !strings.Contains(g.Next, g.ID) {
			t.Errorf("%+v", g)
		}
		// late, with the name: healed
		tells(t, runs(t, book, b, "2026-12-07", statementText("2026-12-07", "0.00", "2026-12-07 100.00 text=po_AAAA1111")), "reference:po_AAAA1111×1, +po_AAAA1111")
		stands(t, book, "", "resolved po_AAAA1111")
	})
}

// stands fails when the open gaps and the ended ones of the bank are others: "state id, …" by id.
func stands(t *testing.T, book *ledger.Ledger, account string, want string) {
	t.Helper()
	if account == "" {
		account = "bank/euro"
	}
	gaps, _, err := book.Gaps(t.Context(), ledger.GapFilter{Account: account})
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, g := range gaps {
		parts = append(parts, string(g.State)+" "+g.TransactionID)
	}
	slices.Sort(parts)
	if got := strings.Join(parts, ", "); got != want {
		t.Errorf("gaps %q, want %q", got, want)
	}
}

// Of a holiday there is no statement; the next one opens with what the last one closed with, so nothing was booked on it.
func TestHolidaysAreSeenByTheBalances(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		pays(t, book, "stripe po_AAAA1111 2026-12-18 100.00")
		b := euro()
		runs(t, book, b, "2026-12-18", statementText("2026-12-18", "50.00"))
		tells(t, runs(t, book, b, "2026-12-28", statementText("2026-12-28", "60.00")), "~po_AAAA1111") // 10.00 were booked in between
		tells(t, runs(t, book, b, "2026-12-28", statementText("2026-12-28", "50.00")), "bank_missing po_AAAA1111")
		tells(t, runs(t, book, b, "2026-12-28", statementText("2026-12-28", "60.00")), "~po_AAAA1111")
	})
}

func TestWays(t *testing.T) {
	for name, c := range map[string]struct {
		payouts []string
		entries []entry
		want    string
	}{
		"by reference": {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-30 100.00 ref=PO AAAA1111", "2026-11-30 100.00"}, "reference:po_AAAA1111×1"},
		"by its end": {[]string{"stripe po_1NxxAAAA1111BBBB 2026-11-27 100.00"}, []entry{"2026-11-30 100.00 text=TRANSFER AAAA1111BBBB"},
			"reference:po_1NxxAAAA1111BBBB×1"},
		"by amount":     {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-30 100.00 text=nothing", "2026-11-30 99.00"}, "amount:po_AAAA1111×1"},
		"too late":      {[]string{"stripe po_AAAA1111 2026-11-20 100.00"}, []entry{"2026-11-30 100.00 text=nothing"}, ""},
		"two lines":     {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-30 100.00 bank=B1", "2026-11-30 100.00 bank=B2"}, "~po_AAAA1111"},
		"two payouts":   {[]string{"stripe po_AAAA1111 2026-11-27 100.00", "stripe po_AAAA1112 2026-11-27 100.00"}, []entry{"2026-11-30 100.00"}, "~po_AAAA1111, ~po_AAAA1112"},
		"two of each":   {[]string{"stripe po_AAAA1111 2026-11-27 1.00", "adyen x 2026-11-27 1.00"}, []entry{"2026-11-30 1.00 bank=1", "2026-11-30 1.00 bank=2"}, "~po_AAAA1111, ~x"},
		"one by name":   {[]string{"stripe po_AAAA1111 2026-11-27 1.00", "stripe po_AAAA1112 2026-11-27 1.00"}, []entry{"2026-11-30 1.00 ref=po_AAAA1112", "2026-11-30 1.00"}, "reference:po_AAAA1112×1, amount:po_AAAA1111×1"},
		"a longer name": {[]string{"stripe B10011 2026-11-27 1.00"}, []entry{"2026-11-30 2.00 ref=B100112"}, "~B10011"},
		"a short name":  {[]string{"stripe 4711 2026-11-27 1.00"}, []entry{"2026-11-30 5.00 text=order 471100", "2026-11-30 1.00 text=payout 4711 of stripe"}, "reference:4711×1"},
		"a day in one line": {[]string{"stripe po_AAAA1111 2026-11-27 60.00", "stripe po_AAAA1112 2026-11-27 40.00", "stripe po_AAAA1113 2026-11-26 7.00"}, []entry{"2026-11-30 100.00"},
			"sum:po_AAAA1111&po_AAAA1112×1, ~po_AAAA1113"},
		"some in one line": {[]string{"stripe po_AAAA1111 2026-11-26 60.00", "stripe po_AAAA1112 2026-11-27 40.00", "stripe po_AAAA1113 2026-11-27 7.00"}, []entry{"2026-11-30 100.00 text=STRIPE"},
			"sum:po_AAAA1111&po_AAAA1112×1, ~po_AAAA1113"},
		"some in a line of nobody's": {[]string{"stripe po_AAAA1111 2026-11-26 60.00", "stripe po_AAAA1112 2026-11-27 40.00"}, []entry{"2026-11-30 100.00 text=rent"}, "~po_AAAA1111, ~po_AAAA1112"},
		"two ways to a sum": {[]string{"stripe po_AAAA1111 2026-11-25 60.00", "stripe po_AAAA1112 2026-11-26 40.00", "stripe po_AAAA1113 2026-11-27 40.00"}, []entry{"2026-11-30 100.00 text=STRIPE"},
			"bank_unexpected ID, ~po_AAAA1111, ~po_AAAA1112, ~po_AAAA1113"},
		"in parts":                  {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-30 60.00 text=STRIPE", "2026-11-30 40.00 text=STRIPE", "2026-11-30 41.00"}, "parts:po_AAAA1111×2"},
		"in parts by name":          {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-30 60.00 ref=po_AAAA1111", "2026-11-30 40.00 ref=po_AAAA1111"}, "reference:po_AAAA1111×2"},
		"both named":                {[]string{"stripe po_AAAA1111 2026-11-27 60.00", "stripe po_AAAA1112 2026-11-20 40.00"}, []entry{"2026-11-30 100.00 text=po_AAAA1111 and po_AAAA1112"}, "reference:po_AAAA1112&po_AAAA1111×1"},
		"negative":                  {[]string{"stripe po_AAAA1111 2026-11-27 -30.00"}, []entry{"2026-11-30 -30.00", "2026-11-30 30.00"}, "amount:po_AAAA1111×1"},
		"other sum":                 {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-30 98.00 ref=po_AAAA1111"}, "payout_mismatch po_AAAA1111"},
		"taken back":                {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-30 100.00 ref=po_AAAA1111", "2026-11-30 -100.00 ref=po_AAAA1111 rvsl=true"}, "payout_mismatch po_AAAA1111"},
		"taken back without a name": {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-30 100.00 ref=po_AAAA1111", "2026-11-30 -100.00 text=storno rvsl=true"}, "payout_mismatch po_AAAA1111"},
		"one of two taken back": {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-30 100.00 ref=po_AAAA1111", "2026-11-30 100.00 text=x", "2026-11-30 -100.00 text=storno rvsl=true"},
			"reference:po_AAAA1111×1, bank_unexpected ID"},
		"taken back and sent again": {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-26 100.00 ref=po_AAAA1111", "2026-11-27 -100.00 text=storno rvsl=true", "2026-11-30 100.00 ref=po_AAAA1111"},
			"reference:po_AAAA1111×3"},
		"a taken back line of another": {[]string{"stripe po_AAAA1111 2026-11-27 100.00"}, []entry{"2026-11-30 100.00 text=x", "2026-11-30 -100.00 text=x rvsl=true"},
			"~po_AAAA1111"},
		"unexpected":              {nil, []entry{"2026-11-30 5.00 bank=B1 text=Adyen N.V.", "2026-11-30 6.00 bank=B2 text=a customer"}, "bank_unexpected B1"},
		"pending at the provider": {[]string{"stripe po_AAAA1111 2026-11-27 5.00 pending"}, []entry{"2026-11-30 5.00 ref=po_AAAA1111"}, "reference:po_AAAA1111×1"},
		"failed":                  {[]string{"stripe po_AAAA1111 2026-11-27 5.00 failed"}, nil, ""},
		"failed and came":         {[]string{"stripe po_AAAA1111 2026-11-27 5.00 failed"}, []entry{"2026-11-30 5.00 ref=po_AAAA1111"}, "payout_mismatch po_AAAA1111"},
		"failed and went back":    {[]string{"stripe po_AAAA1111 2026-11-27 5.00 failed"}, []entry{"2026-11-30 5.00 ref=po_AAAA1111", "2026-11-30 -5.00 ref=po_AAAA1111"}, "reference:po_AAAA1111×2"},
		"announced only":          {[]string{"stripe po_AAAA1111 2026-11-27 5.00"}, []entry{"2026-11-30 5.00 ref=po_AAAA1111 sts=PDNG"}, "~po_AAAA1111"},
		"in another currency":     {[]string{"stripe po_AAAA1111 2026-11-27 5.00 succeeded USD"}, []entry{"2026-11-30 4.50 ref=po_AAAA1111"}, "payout_mismatch po_AAAA1111"},
		"same name twice":         {[]string{"stripe 10012001 2026-11-27 5.00", "adyen 10012001 2026-11-27 6.00"}, []entry{"2026-11-30 6.00 ref=10012001"}, "reference:10012001×1, ~10012001"},
	} {
		t.Run(name, func(t *testing.T) {
			book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"), ledger.Options{Now: clock})
			pays(t, book, c.payouts...)
			b := euro()
			b.Ours.Patterns = []*regexp.Regexp{regexp.MustCompile("(?i)stripe|adyen")}
			r := runs(t, book, b, "2026-11-30", statementText("2026-11-30", "0.00", c.entries...))
			for i := range r.Gaps {
				if r.Gaps[i].Kind == models.GapBankUnexpected && !strings.HasPrefix(r.Gaps[i].TransactionID, "B") {
					r.Gaps[i].TransactionID = "ID"
				}
			}
			tells(t, r, c.want)
		})
	}
}

// What is told of a difference, and what may be kept by the bank.
func TestFeesAndTolerance(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		pays(t, book, "stripe po_AAAA1111 2026-11-27 100.00")
		plain, told := statementText("2026-11-30", "0.00", "2026-11-30 98.50 ref=po_AAAA1111"), statementText("2026-11-30", "0.00", "2026-11-30 98.50 ref=po_AAAA1111 chrg=1.50")
		b := euro()
		r := runs(t, book, b, "2026-11-30", plain)
		tells(t, r, "payout_mismatch po_AAAA1111")
		if g := r.Gaps[0]; g.Statement.Amount != "98.50" || g.Ledger.Amount != "100.00" || strings.Join(g.Differs, " ") != "amount" || !strings.Contains(g.Reason, "1.50 EUR less") {
			t.Errorf("%+v", g)
		}
		r = runs(t, book, b, "2026-11-30", told)
		if g := r.Gaps[0]; g.Statement.Fee != "1.50" || strings.Join(g.Differs, " ") != "amount fee" || !strings.Contains(g.Reason, "the charge that the bank names") {
			t.Errorf("%+v", g)
		}
		for _, c := range []struct {
			text      string
			fee       Fee
			tolerance int64
			want      string
		}{
			{told, Fee{Told: true}, 0, "reference:po_AAAA1111×1, +po_AAAA1111"},
			{plain, Fee{Told: true}, 0, "payout_mismatch po_AAAA1111"},
			{plain, Fee{Told: true, Max: 149}, 0, "payout_mismatch po_AAAA1111"},
			{plain, Fee{Told: true, Max: 150}, 0, "reference:po_AAAA1111×1, +po_AAAA1111"},
			{plain, Fee{}, 149, "payout_mismatch po_AAAA1111"},
			{plain, Fee{}, 150, "reference:po_AAAA1111×1, +po_AAAA1111"},
			{strings.ReplaceAll(plain, "98.50", "101.50"), Fee{Told: true, Max: 1000}, 0, "payout_mismatch po_AAAA1111"},
		} {
			b.Fee, b.Tolerance = c.fee, c.tolerance
			r := runs(t, book, b, "2026-11-30", c.text)
			tells(t, r, c.want)
			if len(r.Bank.Matched) == 1 && r.Bank.Matched[0].Difference != "1.50" {
				t.Errorf("%+v", r.Bank.Matched)
			}
		}
	})
}

func TestConfiguredReferences(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		pays(t, book, "adyen TXT1XT~batch~42,~Shop 2026-11-27 100.00", "adyen TXT2XT~batch~43,~Shop 2026-11-27 100.00", "stripe po_AAAABBBB11112222 2026-11-27 5.00")
		b := euro()
		b.References = map[string]Reference{"adyen": {Pattern: regexp.MustCompile(`(?i)batch *(\d+)`), Payout: regexp.MustCompile(`batch (\d+)`)}, "stripe": {Last: -1}}
		text := statementText("2026-11-30", "0.00", "2026-11-30 100.00 text=SETTLEMENT BATCH 43", "2026-11-30 9.00 bank=B7 text=settlement batch44", "2026-11-30 6.00 text=x BBBB11112222")
		r := runs(t, book, b, "2026-11-30", text)
		tells(t, r, "reference:TXT2XT batch 43, Shop×1, bank_unexpected B7, ~TXT1XT batch 42, Shop, ~po_AAAABBBB11112222")
		if !strings.Contains(r.Gaps[0].Reason, "names 44") {
			t.Error(r.Gaps[0].Reason)
		}
		b.References["stripe"] = Reference{}
		tells(t, runs(t, book, b, "2026-11-30", text), "reference:TXT2XT batch 43, Shop×1, payout_mismatch po_AAAABBBB11112222, bank_unexpected B7, ~TXT1XT batch 42, Shop")
		b.Ours.Credits = true
		all := statementText("2026-11-30", "0.00", "2026-11-30 1.00 bank=C1", "2026-11-30 -1.00 bank=D1")
		tells(t, runs(t, book, b, "2026-11-30", all), "bank_unexpected C1, ~TXT1XT batch 42, Shop, ~TXT2XT batch 43, Shop, ~po_AAAABBBB11112222, +B7")
	})
}

// The same statements give the same books, in whatever order they are read, and however often.
func TestOrderAndRepetition(t *testing.T) {
	payouts := []string{"stripe po_AAAA1111 2026-11-27 100.00", "stripe po_AAAA1112 2026-11-30 40.00", "stripe po_AAAA1113 2026-11-30 50.00", "adyen x_BBBB2222 2026-11-20 7.00"}
	days := [][2]string{
		{"2026-11-27", statementText("2026-11-27", "0.00", "2026-11-27 100.00 bank=1 text=who knows", "2026-11-27 8.00 bank=2 text=Adyen")},
		{"2026-11-30", statementText("2026-11-30", "108.00", "2026-11-30 100.00 bank=3 ref=po_AAAA1111")},
		{"2026-12-01", statementText("2026-12-01", "208.00", "2026-12-01 90.00 bank=4 text=stripe")},
		{"2026-12-02", statementText("2026-12-02", "298.00", "2026-12-02 6.00 bank=5 ref=xBBBB2222")},
	}
	b := euro()
	b.Ours.Patterns = []*regexp.Regexp{regexp.MustCompile("(?i)stripe|adyen")}
	each(t, func(t *testing.T, book *ledger.Ledger) {
		pays(t, book, payouts...)
		var ids []string
		for round, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
			for _, i := range order {
				runs(t, book, b, days[i][0], days[i][1])
			}
			got := matchesOf(t, book, b)
			if len(ids) == 0 {
				ids = got
			}
			if !slices.Equal(got, ids) || len(got) != 4 {
				t.Errorf("round %d: matches %q, want %q", round, got, ids)
			}
			if state := openOf(t, book); state != "bank_unexpected 2, payout_mismatch x_BBBB2222" {
				t.Errorf("round %d: %s", round, state)
			}
		}
	})
}

func matchesOf(t *testing.T, book *ledger.Ledger, b Bank) (list []string) {
	t.Helper()
	matches, err := book.BankMatches(t.Context(), "2026-01-01")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := book.BankLines(t.Context(), b.Name, "2026-01-01", "")
	if err != nil {
		t.Fatal(err)
	}
	reference := map[string]string{}
	for _, l := range lines {
		reference[l.ID] = l.Reference
	}
	for _, m := range matches {
		list = append(list, reference[m.LineID]+" "+m.How+" "+m.PayoutID)
	}
	slices.Sort(list)
	return list
}

func openOf(t *testing.T, book *ledger.Ledger) string {
	t.Helper()
	gaps, _, err := book.Gaps(t.Context(), ledger.GapFilter{Account: "bank/euro", State: models.GapOpen})
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, g := range gaps {
		parts = append(parts, string(g.Kind)+" "+g.TransactionID)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// The same file again is the same run, to the byte; the same in a dry run, which writes nothing.
func TestSameAgain(t *testing.T) {
	each(t, func(t *testing.T, book *ledger.Ledger) {
		pays(t, book, "stripe po_AAAA1111 2026-11-27 100.00", "stripe po_AAAA1112 2026-11-30 40.00", "stripe po_AAAA1113 2026-11-20 40.00")
		b := euro()
		b.Ours.Credits = true
		path := file(t, "bank.xml", statementText("2026-11-30", "0.00", "2026-11-30 100.00 bank=1 ref=po_AAAA1111", "2026-11-30 3.00 bank=2", "2026-11-30 39.00 bank=3 ref=po_AAAA1112"))
		print := func(dry bool) (string, string) {
			r, err := Run(t.Context(), book, b, reconcile.Files(path), day(t, "2026-11-30"), reconcile.Options{Now: clock, DryRun: dry})
			if err != nil {
				t.Fatal(err)
			}
			id := r.RunID
			r.RunID = ""
			for i := range r.Gaps {
				r.Gaps[i].New = false
			}
			for i := range r.Carried {
				r.Carried[i].New = false
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			return id, string(text)
		}
		_, dry := print(true)
		if runsOf, _, err := book.Runs(t.Context(), ledger.RunFilter{Account: "bank/euro"}); err != nil || len(runsOf) != 0 || openOf(t, book) != "" || len(matchesOf(t, book, b)) != 0 {
			t.Errorf("a dry run has written: %d runs, %v", len(runsOf), err)
		}
		id, first := print(false)
		again, second := print(false)
		if id != again || first != second || dry != first {
			t.Errorf("runs %s, %s\n%s\n%s\n%s", id, again, dry, first, second)
		}
	})
}
