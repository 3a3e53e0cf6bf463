package bank

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// world makes payouts with a known fate, and the lines that this fate gives.
type world struct {
	*rand.Rand
	payouts []*payout
	lines   []*line
	want    []string // gaps: kind and name
}

var start = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) // a Monday

func (w *world) pay(minor int64) *payout {
	p := &payout{paid: start.AddDate(0, 0, w.IntN(60)), due: minor}
	p.Account, p.PayoutID, p.Status = []string{"adyen", "stripe"}[w.IntN(2)], fmt.Sprintf("po_%08d%c", len(w.payouts)*7+10_000_000, 'a'+rune(w.IntN(26))), models.StatusSucceeded
	p.Money = models.Money{Minor: minor, Currency: "EUR"}
	w.payouts = append(w.payouts, p)
	return p
}

func (w *world) come(day time.Time, minor int64, text string) {
	l := &line{booked: day}
	l.ID, l.BookedOn, l.Money, l.Texts = fmt.Sprintf("L%06d", len(w.lines)), dateText(day), models.Money{Minor: minor, Currency: "EUR"}, []string{text}
	w.lines = append(w.lines, l)
}

// money is a sum that no other payout or line of the world has, so that every fate has one explanation.
func (w *world) money() int64 { return int64(len(w.payouts)+len(w.lines)+1)*1_000_003 + w.Int64N(900) }

func (w *world) fate() {
	p := w.pay(w.money())
	on := bankingDays(p.paid, w.IntN(4)+1)
	name := strings.ToUpper(p.PayoutID[:5]) + " " + p.PayoutID[5:]
	switch w.IntN(8) {
	case 0:
		w.want = append(w.want, "bank_missing "+p.PayoutID)
	case 1:
		w.come(on, p.due, "nothing")
	case 2:
		w.come(on, p.due-w.Int64N(500)-1, "for "+name)
		w.want = append(w.want, "payout_mismatch "+p.PayoutID)
	case 3:
		w.come(on, p.due/3, name)
		w.come(bankingDays(on, 1), p.due-p.due/3, name)
	case 4:
		q := w.pay(w.money())
		w.come(on, p.due+q.due, p.PayoutID+"/"+q.PayoutID)
	case 7: // the bank takes it back, and does not say of what
		w.come(on, p.due, name)
		w.come(bankingDays(on, w.IntN(2)), -p.due, "storno")
		w.lines[len(w.lines)-1].Reversal = true
		w.want = append(w.want, "payout_mismatch "+p.PayoutID)
	case 5:
		w.come(on, w.money(), "STRIPE")
		w.want = append(w.want, "bank_unexpected "+w.lines[len(w.lines)-1].ID)
		fallthrough
	default:
		w.come(bankingDays(on, 20), p.due, "late, "+name)
	}
}

// settle runs the matcher on all of it, and returns the gaps.
func (w *world) settle(b *Bank) ([]string, *run) {
	r := &run{intake: &intake{bank: b}, account: "bank/euro", date: "2026-06-30", known: map[string]models.Gap{}, quiet: map[string]bool{}, match: matcher{bank: b}}
	r.read = covering([]ledger.BankStatement{{From: "2026-02-01", To: "2026-06-30"}})
	for _, p := range w.payouts {
		fresh := payout{Payout: p.Payout, paid: p.paid, due: p.due}
		r.match.payouts = append(r.match.payouts, &fresh)
	}
	for _, l := range w.lines {
		fresh := line{BankLine: l.BankLine, booked: l.booked}
		r.match.lines = append(r.match.lines, &fresh)
	}
	w.Shuffle(len(r.match.payouts), func(i, j int) { r.match.payouts[i], r.match.payouts[j] = r.match.payouts[j], r.match.payouts[i] })
	w.Shuffle(len(r.match.lines), func(i, j int) { r.match.lines[i], r.match.lines[j] = r.match.lines[j], r.match.lines[i] })
	r.match.match()
	r.findGaps()
	var got []string
	for i := range r.gaps {
		got = append(got, string(r.gaps[i].Kind)+" "+r.gaps[i].TransactionID)
	}
	slices.Sort(got)
	return got, r
}

// What was sown is what is found, exactly: 100 worlds of some 140 payouts.
func TestSownGapsAreFound(t *testing.T) {
	b := euro()
	b.Ours.Patterns = []*regexp.Regexp{regexp.MustCompile("STRIPE")}
	for seed := range uint64(100) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 1))}
		for range 120 {
			w.fate()
		}
		slices.Sort(w.want)
		got, r := w.settle(&b)
		if !slices.Equal(got, w.want) {
			t.Fatalf("seed %d: found %q\nwant %q", seed, got, w.want)
		}
		once(t, r)
	}
}

// In a world of few sums nearly everything is ambiguous. Nothing is guessed then: a line or payout is never used twice, what is matched
// comes to the same sum, and the order in which things are met decides nothing.
func TestNothingIsGuessed(t *testing.T) {
	b := euro()
	b.Ours.Credits = true
	for seed := range uint64(300) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 2))}
		for range 1 + w.IntN(14) {
			w.pay(w.Int64N(6)*100 - 100)
		}
		for range w.IntN(14) {
			w.come(start.AddDate(0, 0, w.IntN(60)), w.Int64N(8)*100-100, []string{"", "STRIPE", w.payouts[w.IntN(len(w.payouts))].PayoutID}[w.IntN(3)])
		}
		first, r := w.settle(&b)
		once(t, r)
		for range 3 {
			if again, _ := w.settle(&b); !slices.Equal(again, first) {
				t.Fatalf("seed %d: %q, then %q", seed, first, again)
			}
		}
	}
}

// once checks what must hold of every outcome.
func once(t *testing.T, r *run) {
	t.Helper()
	lines, payouts := map[*line]int{}, map[*payout]int{}
	for i := range r.match.pairs {
		p := &r.match.pairs[i]
		var due, got int64
		for _, o := range p.payouts {
			payouts[o]++
			due += o.due
		}
		for _, l := range p.lines {
			lines[l]++
			got += l.Money.Minor
		}
		if p.differs == "" && due != got || due != p.due || got != p.got {
			t.Errorf("%s of %d is %d: %+v", p.how, due, got, p)
		}
	}
	for l, n := range lines {
		if n > 1 {
			t.Errorf("line %s is used %d times", l.ID, n)
		}
	}
	for o, n := range payouts {
		if n > 1 {
			t.Errorf("payout %s is used %d times", o.PayoutID, n)
		}
	}
}

// How a payout's name is found in what a bank makes of it, and how it is not.
func TestNamesInTexts(t *testing.T) {
	b := Bank{Currency: "EUR", Accounts: []string{"a"}}
	find := func(id, text string) bool {
		p := &payout{due: 1}
		p.Account, p.PayoutID = "a", id
		return len(newFinder(&b, []*payout{p}).find([]string{text}, 1).payouts) == 1
	}
	for _, c := range [][2]string{
		{"po_TEST4001", "po_TEST4001"}, {"po_TEST4001", "PO TEST 4001"}, {"po_TEST4001", "STRIPEPOTEST4001"}, {"po_TEST4001", "x po_TE\nST4001 y"},
		{"po_TEST4001", "EREF+po_TEST4001SVWZ+x"}, {"DO2026112800001", "DO 2026112800001"}, {"DO2026112800001", "REF 026112800001"}, {"12345678", "x12345678x"},
		{"42", "batch 42, shop"}, {"A1", "a1"}, {"结算20261128", "支付宝 结算 20261128"}, {"po_1A2b3C4d5E6f7G8h", "TRF 3C4D5E6F7G8H"},
	} {
		if !find(c[0], c[1]) {
			t.Errorf("%s is not found in %q", c[0], c[1])
		}
	}
	for _, c := range [][2]string{
		{"po_TEST4001", "po_TEST40012"}, {"po_TEST4001", "po_TEST400"}, {"12345678", "9123456780"}, {"12345678", "123456789"}, {"42", "142"}, {"42", "42nd"},
		{"", "anything"}, {"---", "---"}, {"po_1A2b3C4d5E6f7G8h", "x3C4D5E6F7G8H"}, {"po_1A2b3C4d5E6f7G8h", "E6F7G8H"}, {"1234567", "ref1234567"},
	} {
		if find(c[0], c[1]) {
			t.Errorf("%s is found in %q", c[0], c[1])
		}
	}
}

func TestBankingDays(t *testing.T) {
	for _, c := range []struct {
		from string
		n    int
		want string
	}{
		{"2026-11-27", 1, "2026-11-30"}, {"2026-11-27", 5, "2026-12-04"}, {"2026-11-28", 1, "2026-11-30"}, {"2026-11-29", 5, "2026-12-04"}, {"2026-11-30", -1, "2026-11-27"},
		{"2026-11-29", -1, "2026-11-27"}, {"2026-11-30", 0, "2026-11-30"}, {"2026-12-31", 1, "2027-01-01"},
	} {
		if got := dateText(bankingDays(parseDate(c.from), c.n)); got != c.want {
			t.Errorf("%s %+d: %s, want %s", c.from, c.n, got, c.want)
		}
	}
}

// By default the last weekday is run, whatever day it is.
func TestLastBankingDay(t *testing.T) {
	zone := euro().Zone
	for now, want := range map[string]string{
		"2026-12-01T09:00:00Z": "2026-11-30", "2026-11-30T09:00:00Z": "2026-11-27", "2026-11-29T09:00:00Z": "2026-11-27", "2026-11-30T23:30:00Z": "2026-11-30",
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := LastBankingDay(at, zone).String(); got != want {
			t.Errorf("%s: %s, want %s", now, got, want)
		}
	}
}
