package reconcile_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
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
	book    []movement
	rows    []string
	want    []string
	carried []string
	gaps    map[string]int
}

// troubles are what can be wrong with a movement.
var troubles = []string{"missing_local", "missing_provider", "amount", "currency", "status", "twice", "conflict", "odd", "by number",
	"no order", "pending", "fee", "crossed", "near, stated", "near, booked"}

func seedDay(seed uint64, n int) *seeded {
	d, random := &seeded{gaps: map[string]int{}}, rand.New(rand.NewPCG(seed, 1))
	troubled := []int{60, 1, 2, 4, 8, 16}[seed%6] // out of a hundred
	for i := range n {
		trouble := ""
		if random.IntN(100) < troubled {
			trouble = troubles[random.IntN(len(troubles))]
		}
		d.add(fmt.Sprintf("s%dx%d", seed, i), random.IntN(24*60*60-60)+30, trouble, random)
	}
	slices.Sort(d.want)
	slices.Sort(d.carried)
	return d
}

// add makes a payment with its order, and what is wrong with it. second is its time of day.
func (d *seeded) add(id string, second int, trouble string, random *rand.Rand) {
	if strings.HasPrefix(trouble, "near") { // a bound of the day
		second = []int{0, 10, 24*60*60 - 10, 24*60*60 - 1}[random.IntN(4)]
	}
	at := fmt.Sprintf("2026-11-28T%02d:%02d:%02d+08:00", second/3600, second/60%60, second%60)
	m := movement{Kind: models.Payment, TransactionID: id, OrderID: "O-" + id, Amount: "20.00", Currency: "CNY", Status: "succeeded", OccurredAt: at}
	row := func(amount, currency, status string) {
		d.rows = append(d.rows, fmt.Sprintf("%s,O-%s,payment,%s,%s,%s,%s,,", id, id, amount, currency, status, at))
	}
	gap := func(kind string) {
		d.want = append(d.want, kind+" payment "+id)
		d.gaps[kind]++
	}
	if trouble == "crossed" { // the book is later than the statement, by up to a day and a half
		m.OccurredAt = fmt.Sprintf("2026-11-%02dT%02d:00:00+08:00", 29+random.IntN(2), random.IntN(12))
	}
	if trouble != "missing_local" && trouble != "near, stated" {
		d.book = append(d.book, m)
	}
	switch trouble {
	case "near, booked":
		d.carried = append(d.carried, "missing_provider payment "+id)
		return
	case "near, stated":
		d.carried = append(d.carried, "missing_local payment "+id)
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

// TestSeededDays: on a thousand random days of a thousand movements what is found is what was seeded, exactly, whatever the order of the
// statement's rows, in one file or two, and whether the rows find room in memory or go by way of the disk. Of PostgreSQL, which differs in
// reading the book only, it takes fewer. RECONCILE_SEEDS days of RECONCILE_SEED_ROWS movements, on both.
func TestSeededDays(t *testing.T) {
	seeds, rows, onPostgres := 1000, 1000, 20
	if raced {
		seeds, rows, onPostgres = 6, 250, 6
	}
	seeds = atLeastOne(t, "RECONCILE_SEEDS", seeds)
	rows = atLeastOne(t, "RECONCILE_SEED_ROWS", rows)
	room := reconcile.SetWaitingMax(1)
	defer reconcile.SetWaitingMax(room)
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		last := seeds
		if os.Getenv("RECONCILE_SEEDS") == "" && strings.HasPrefix(dsn, "postgres") {
			last = onPostgres
		}
		found, b := map[string]int{}, ledgertest.Open(t, dsn)
		for seed := range uint64(last) {
			if seed%100 == 99 && strings.HasPrefix(dsn, "sqlite") { // a book that grows makes every day slower
				b = sqlite(t)
			}
			d := seedDay(seed, rows)
			d.check(t, b, seed)
			for kind, n := range d.gaps {
				found[kind] += n
			}
		}
		if len(found) < 9 {
			t.Errorf("only these were seeded: %v", found)
		}
	})
}

func atLeastOne(t *testing.T, name string, otherwise int) int {
	t.Helper()
	n, err := strconv.Atoi(ledgertest.Env(name, strconv.Itoa(otherwise)))
	if err != nil || n < 1 {
		t.Fatalf("%s: a whole number of at least 1 is expected", name)
	}
	return n
}

// check runs the day in one way of the ways there are, and the first days in all of them.
func (d *seeded) check(t *testing.T, b *ledger.Ledger, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	account := plainAccount(t)
	account.Name = fmt.Sprintf("shop%d", seed)
	d.write(t, b, account.Name)
	counts := ""
	for i, order := range slices.Sorted(maps.Keys(rowOrders)) {
		for j, room := range []int{100_000, 1 + random.IntN(len(d.rows))} {
			if way := i*2 + j; seed >= 6 && seed/6%6 != uint64(way) {
				continue
			}
			rowOrders[order](d.rows, random)
			reconcile.SetWaitingMax(room)
			r := run(t, b, account, "2026-11-28", d.files(t, 1+i%2)...)
			got, carried := gapLines(r.Gaps), gapLines(r.Carried)
			slices.Sort(got)
			slices.Sort(carried)
			if !slices.Equal(got, d.want) || !slices.Equal(carried, d.carried) {
				t.Fatalf("seed %d, %s, room for %d: %d gaps, want %d; %s; %d carried, want %d; %s", seed, order, room, len(got), len(d.want),
					firstDifference(got, d.want), len(carried), len(d.carried), firstDifference(carried, d.carried))
			}
			if is := fmt.Sprintln(r.Compared, r.Matched, r.Statement.Totals, r.Ledger); counts == "" {
				counts = is
			} else if is != counts {
				t.Fatalf("seed %d, %s, room for %d: %s, before it was %s", seed, order, room, is, counts)
			}
		}
	}
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
