package reconcile_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// seeded is a made-up day: what the book holds, what the statement says, and what must come out.
type seeded struct {
	book []movement
	rows []string
	want []string
	gaps map[string]int
}

// troubles are what can be wrong with a movement; "" is nothing, mostly.
var troubles = []string{"", "", "", "", "", "", "", "", "missing_local", "missing_provider", "amount", "currency", "status", "twice", "conflict", "odd", "by number",
	"no order", "pending", "fee"}

func seedDay(seed uint64, n int) *seeded {
	d, random := &seeded{gaps: map[string]int{}}, rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		d.add(fmt.Sprintf("s%dx%d", seed, i), random.IntN(24*60*60-60)+30, troubles[random.IntN(len(troubles))], random)
	}
	slices.Sort(d.want)
	return d
}

// add makes a payment with its order, and what is wrong with it. second is its time of day.
func (d *seeded) add(id string, second int, trouble string, random *rand.Rand) {
	at := fmt.Sprintf("2026-11-28T%02d:%02d:%02d+08:00", second/3600, second/60%60, second%60)
	m := movement{Kind: models.Payment, TransactionID: id, OrderID: "O-" + id, Amount: "20.00", Currency: "CNY", Status: "succeeded", OccurredAt: at}
	row := func(amount, currency, status string) {
		d.rows = append(d.rows, fmt.Sprintf("%s,O-%s,payment,%s,%s,%s,%s,,", id, id, amount, currency, status, at))
	}
	gap := func(kind string) {
		d.want = append(d.want, kind+" payment "+id)
		d.gaps[kind]++
	}
	if trouble != "missing_local" {
		d.book = append(d.book, m)
	}
	switch trouble {
	case "missing_provider":
		gap(trouble)
		return
	case "fee":
		d.rows = append(d.rows, fmt.Sprintf("fee%s,,fee,0.10,CNY,succeeded,%s,,", id, at))
	case "by number":
		d.byNumber(id, at)
	case "pending": // the statement was made before it ended
		row("20.00", "CNY", "pending")
		return
	case "amount":
		row(fmt.Sprintf("20.%02d", 1+random.IntN(99)), "CNY", "succeeded")
		gap("amount_mismatch")
		return
	case "currency":
		row("20.00", "USD", "succeeded")
		gap("currency_mismatch")
		return
	case "status":
		row("20.00", "CNY", "failed")
		gap("status_mismatch")
		return
	case "odd":
		row("20.00", "CNY", "odd")
		gap("unknown_status")
		return
	case "conflict":
		row("21.00", "CNY", "succeeded")
		gap("conflict")
	case "twice":
		row("20.00", "CNY", "succeeded")
		gap("duplicate_entry")
	case "missing_local":
		gap(trouble)
	case "no order":
		d.book[len(d.book)-1].OrderID = "unknown-" + id
		d.rows = append(d.rows, fmt.Sprintf("%s,,payment,20.00,CNY,succeeded,%s,,", id, at))
		gap("unknown_order")
		return
	}
	row("20.00", "CNY", "succeeded")
}

// byNumber adds a refund that the book knows by the shop's number only, and the statement by the provider's.
func (d *seeded) byNumber(id, at string) {
	d.book = append(d.book, movement{Kind: models.Refund, ParentID: id, RefundOrderID: "R" + id, OrderID: "O-" + id, Amount: "5.00", Currency: "CNY", Status: "succeeded", OccurredAt: at})
	d.rows = append(d.rows, fmt.Sprintf("re%s,O-%s,refund,5.00,CNY,succeeded,%s,%s,R%s", id, id, at, id, id))
}

func (d *seeded) write(t *testing.T, b *ledger.Ledger, account string) {
	t.Helper()
	var orders []models.Order
	for _, m := range d.book {
		if m.Kind == models.Payment && !strings.HasPrefix(m.OrderID, "unknown") {
			orders = append(orders, models.Order{OrderID: m.OrderID, AmountMinor: 2000, Currency: "CNY"})
		}
	}
	ledgertest.Orders(t, b, orders...)
	_, err := b.ImportTransactions(t.Context(), func(yield func(ledger.Import, error) bool) {
		for _, m := range d.book {
			if !yield(ledger.Import{Account: account, Place: m.TransactionID, Events: []models.Event{m.event(t)}}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rowOrders are orders in which a statement may come.
var rowOrders = map[string]func(rows []string, random *rand.Rand){
	"by time": func(rows []string, _ *rand.Rand) {
		slices.SortStableFunc(rows, func(a, b string) int { return strings.Compare(strings.Split(a, ",")[6], strings.Split(b, ",")[6]) })
	},
	"newest first": func(rows []string, _ *rand.Rand) {
		slices.SortStableFunc(rows, func(a, b string) int { return strings.Compare(strings.Split(b, ",")[6], strings.Split(a, ",")[6]) })
	},
	"in no order": func(rows []string, random *rand.Rand) {
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	},
}

// TestSeededDays: on random days what is found is what was seeded, exactly, whatever the order of the statement's rows, in one file or two,
// and whether the rows find room in memory or go by way of the disk. RECONCILE_SEEDS days of RECONCILE_SEED_ROWS rows.
func TestSeededDays(t *testing.T) {
	seeds, _ := strconv.Atoi(ledgertest.Env("RECONCILE_SEEDS", "6"))
	rows, _ := strconv.Atoi(ledgertest.Env("RECONCILE_SEED_ROWS", "250"))
	if seeds < 1 || rows < 1 {
		t.Fatal("RECONCILE_SEEDS and RECONCILE_SEED_ROWS: whole numbers expected")
	}
	room := reconcile.SetWaitingMax(1)
	defer reconcile.SetWaitingMax(room)
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		found := map[string]int{}
		for seed := range uint64(seeds) {
			d, random := seedDay(seed, rows), rand.New(rand.NewPCG(seed, 2))
			account := plainAccount(t)
			account.Name = fmt.Sprintf("shop%d", seed)
			d.write(t, b, account.Name)
			counts := ""
			for i, order := range slices.Sorted(maps.Keys(rowOrders)) {
				rowOrders[order](d.rows, random)
				for _, room := range []int{100_000, 1 + random.IntN(rows)} {
					reconcile.SetWaitingMax(room)
					r := run(t, b, account, "2026-11-28", d.files(t, 1+i%2)...)
					got := gapLines(r.Gaps)
					slices.Sort(got)
					if !slices.Equal(got, d.want) || len(r.Carried) > 0 {
						t.Fatalf("seed %d, %s, room for %d: %d gaps, want %d; %s; carried %q", seed, order, room, len(got), len(d.want), firstDifference(got, d.want), gapLines(r.Carried))
					}
					if is := fmt.Sprintln(r.Compared, r.Matched, r.Statement.Totals, r.Ledger); counts == "" {
						counts = is
					} else if is != counts {
						t.Fatalf("seed %d, %s, room for %d: %s, before it was %s", seed, order, room, is, counts)
					}
				}
			}
			for kind, n := range d.gaps {
				found[kind] += n
			}
		}
		if len(found) < 9 {
			t.Errorf("only these were seeded: %v", found)
		}
	})
}

// files cuts the rows into so many files.
func (d *seeded) files(t *testing.T, n int) (files []string) {
	t.Helper()
	size := (len(d.rows) + n - 1) / n
	for chunk := range slices.Chunk(d.rows, size) {
		name := filepath.Base(fmt.Sprintf("part%d.csv", len(files)))
		files = append(files, file(t, name, []byte(header+strings.Join(chunk, "\n")+"\n")))
	}
	return files
}
