package redisgate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/ledger/redisgate"
	"paybook/models"
)

// sale is a book with one hot article and a Redis in front.
type sale struct {
	book  *ledger.Ledger
	redis *ledgertest.RedisServer
	gate  *redisgate.Gate
	flash *redisgate.Flash
	usual atomic.Int64 // orders that went the usual way
}

func openSale(t *testing.T, book *ledger.Ledger, units int64, conf ...map[string]string) *sale {
	t.Helper()
	s := &sale{book: book, redis: ledgertest.Redis(t, conf...)}
	s.connect(t)
	s.stock(t, units)
	return s
}

// connect makes a gate as another process would.
func (s *sale) connect(t *testing.T) {
	t.Helper()
	gate, err := redisgate.Open(s.redis.URL, redisgate.Options{Timeout: 2 * time.Second, Rest: 50 * time.Millisecond}) // a busy machine is no slow Redis
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close() })
	s.gate, s.flash = gate, redisgate.NewFlash(s.book, gate, []string{"SKU", "OTHER"}, nil)
}

func (s *sale) stock(t *testing.T, units int64) {
	t.Helper()
	_, err := s.book.ImportStock(t.Context(), func(yield func(models.Stock, error) bool) {
		_ = yield(models.Stock{SKU: "SKU", Quantity: units}, nil) && yield(models.Stock{SKU: "OTHER", Quantity: 5}, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func told(o models.Order, err error) (int, []byte) {
	if err != nil {
		return 409, []byte(err.Error())
	}
	return 201, fmt.Appendf(nil, "%s %s at version %d", o.OrderID, o.Status, o.Version)
}

func order(id string, units int64) ledger.NewOrder {
	return ledger.NewOrder{Order: models.Order{OrderID: id, AmountMinor: 1999, Currency: "CNY"}, Items: []models.Item{{SKU: "SKU", Quantity: units}}}
}

func key(id string) ledger.Key { return ledger.Key{Owner: "shop", Token: "k" + id, Fingerprint: id} }

// buy is one request as the shop's route does it.
func (s *sale) buy(ctx context.Context, id string, units int64) (ledger.Answer, error) {
	a, taken, err := s.flash.Take(ctx, key(id), order(id, units), told)
	if taken || err != nil {
		return a, err
	}
	s.usual.Add(1)
	return s.book.CreateOrderOnce(ctx, key(id), order(id, units), told)
}

// rush lets buyers buy one unit each, some at a time; meanwhile is called when half of them are through. It returns how many got one.
func (s *sale) rush(t *testing.T, buyers int, meanwhile func()) int64 {
	t.Helper()
	const atOnce = 32
	var won, through atomic.Int64
	half := sync.OnceFunc(func() {
		if meanwhile != nil {
			meanwhile()
		}
	})
	var callers sync.WaitGroup
	for part := range atOnce {
		callers.Go(func() {
			for i := part; i < buyers; i += atOnce {
				if through.Add(1) == int64(buyers)/4 {
					half()
				}
				id := fmt.Sprintf("O%d", i)
				a, err := s.buy(t.Context(), id, 1)
				for errors.As(err, new(*ledger.TokenBusy)) { // a client tries again
					time.Sleep(5 * time.Millisecond)
					a, err = s.buy(t.Context(), id, 1)
				}
				switch {
				case err != nil:
					t.Errorf("%s: %v", id, err)
				case a.Status == 201 || a.Status == 202:
					won.Add(1)
				case a.Status != 409:
					t.Errorf("%s: %d %s", id, a.Status, a.Body)
				}
			}
		})
	}
	callers.Wait()
	return won.Load()
}

// books fails unless exactly so many units are sold, each once, and the sums are equal.
func (s *sale) books(t *testing.T, reserved int64) {
	t.Helper()
	checks, err := s.book.CheckStock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if !c.Equal() {
			t.Errorf("%s: the row says %d reserved, the orders %d", c.SKU, c.Row.Reserved, c.Reserved)
		}
		if c.SKU == "SKU" && c.Row.Reserved != reserved {
			t.Errorf("%d units reserved, expected %d", c.Row.Reserved, reserved)
		}
	}
}

// figure waits until Redis says so many units are left and nobody holds any.
func (s *sale) figure(t *testing.T, want int64) {
	t.Helper()
	eventually(t, fmt.Sprintf("redis says %d units are left", want), func() bool {
		f, err := s.flash.Compare(t.Context(), "SKU")
		return err == nil && f.Known && !f.Moving && f.Left == want && f.Available == want
	})
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(120 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

func TestFlashSale(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := openSale(t, book, 1000)
		if won := s.rush(t, 5000, nil); won != 1000 {
			t.Errorf("%d buyers got a unit", won)
		}
		if n := s.usual.Load(); n != 0 {
			t.Errorf("%d orders went the usual way", n)
		}
		s.books(t, 1000)
		s.figure(t, 0)
		won, lost := 0, 0
		for i := range 200 { // some of them again: the same answers, and nothing more is sold
			a, err := s.buy(t.Context(), fmt.Sprintf("O%d", 25*i), 1)
			if err != nil || !a.Replayed {
				t.Fatal(i, a, err)
			}
			if a.Status == 202 {
				won++
			} else {
				lost++
			}
		}
		if won == 0 || lost == 0 {
			t.Errorf("%d repeats of those who won, %d of those who lost", won, lost)
		}
		s.books(t, 1000)
	})
}

// Whatever happens to Redis in the middle of a sale, exactly what there is is sold.
func TestFlashSaleWithoutARedisToTrust(t *testing.T) {
	for name, fault := range map[string]func(t *testing.T, s *sale){
		"flushed": func(t *testing.T, s *sale) { s.redis.Flush(t) },
		"killed":  func(t *testing.T, s *sale) { s.redis.Kill() },
		"killed and back": func(t *testing.T, s *sale) {
			s.redis.Kill()
			time.Sleep(100 * time.Millisecond)
			s.redis.Restart(t)
		},
		"slow": func(t *testing.T, s *sale) {
			s.redis.Pause(t)
			time.Sleep(500 * time.Millisecond)
			s.redis.Resume(t)
		},
		"full": func(t *testing.T, s *sale) { s.redis.Do(t, "CONFIG", "SET", "maxmemory", "1") },
		"of another type": func(t *testing.T, s *sale) {
			s.redis.Do(t, "SET", "paybook:stock:SKU", "nonsense")
		},
		"told too much":   func(t *testing.T, s *sale) { s.redis.Do(t, "HSET", "paybook:stock:SKU", "left", "100000") },
		"told nonsense":   func(t *testing.T, s *sale) { s.redis.Do(t, "HSET", "paybook:stock:SKU", "left", "many") },
		"without scripts": func(t *testing.T, s *sale) { s.redis.Do(t, "SCRIPT", "FLUSH") },
	} {
		t.Run(name, func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
				const units = 200
				s := openSale(t, book, units)
				gate, err := redisgate.Open(s.redis.URL, redisgate.Options{Timeout: 200 * time.Millisecond, Rest: 50 * time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { gate.Close() })
				s.flash = redisgate.NewFlash(book, gate, []string{"SKU"}, nil)
				won := s.rush(t, 1000, func() { fault(t, s) })
				if won != units {
					t.Errorf("%d buyers got a unit of %d", won, units)
				}
				s.books(t, units)
			})
		})
	}
}

// A stale load does not bring back units that are sold.
func TestStaleLoad(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := openSale(t, book, 10)
		ctx := t.Context()
		entered, leave := make(chan bool), make(chan bool)
		loaded := make(chan bool, 1)
		go func() {
			ok, err := s.gate.Load(ctx, "SKU", func(context.Context) (int64, error) { close(entered); <-leave; return 10, nil })
			if err != nil {
				t.Error(err)
			}
			loaded <- ok
		}()
		<-entered
		s.redis.Flush(t)
		for i := range 3 {
			if a, err := s.buy(ctx, fmt.Sprintf("O%d", i), 2); err != nil || a.Status != 202 {
				t.Fatal(a, err)
			}
		}
		close(leave)
		if <-loaded {
			t.Error("a stale load counted")
		}
		s.figure(t, 4)
		var loads atomic.Int64
		s.redis.Flush(t)
		var callers sync.WaitGroup
		for range 20 {
			callers.Go(func() {
				ok, err := s.gate.Load(ctx, "SKU", func(context.Context) (int64, error) { loads.Add(1); return 4, nil })
				if !ok || err != nil {
					t.Error(ok, err)
				}
			})
		}
		callers.Wait()
		if loads.Load() != 1 {
			t.Errorf("%d loads of one figure", loads.Load())
		}
		s.figure(t, 4)
	})
}

// What the database refuses or knows already is given back; what it has not is forgotten by Redis too.
func TestUnitsComeBack(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := openSale(t, book, 10)
		ctx := t.Context()
		if _, err := book.CreateOrder(ctx, order("taken", 1)); err != nil {
			t.Fatal(err)
		}
		if a, err := s.buy(ctx, "taken", 2); err != nil || a.Status != 409 || a.Replayed {
			t.Error(a, err)
		}
		s.figure(t, 9)
		if a, err := s.buy(ctx, "O1", 2); err != nil || a.Status != 202 {
			t.Error(a, err)
		}
		s.redis.Flush(t)
		if a, err := s.buy(ctx, "O1", 2); err != nil || a.Status != 202 || !a.Replayed {
			t.Error("a repeat that Redis has forgotten", a, err)
		}
		s.figure(t, 7)
		if a, err := s.buy(ctx, "O2", 8); err != nil || a.Status != 409 {
			t.Error(a, err)
		}
		if a, err := s.buy(ctx, "O3", 7); err != nil || a.Status != 202 {
			t.Error(a, err)
		}
		s.redis.Flush(t)
		for _, id := range []string{"O1", "O3"} { // nothing is left, and Redis has forgotten who has them
			if a, err := s.buy(ctx, id, map[string]int64{"O1": 2, "O3": 7}[id]); err != nil || a.Status != 202 || !a.Replayed {
				t.Error(id, a, err)
			}
		}
		first, err := s.buy(ctx, "O2", 8)
		if err != nil || first.Status != 409 {
			t.Error(first, err)
		}
		again, err := s.buy(ctx, "O2", 8)
		if err != nil || !again.Replayed || string(again.Body) != string(first.Body) {
			t.Error(again, err)
		}
		other := key("O2")
		other.Fingerprint = "another request"
		if _, taken, err := s.flash.Take(ctx, other, order("O9", 1), told); !taken || !errors.Is(err, ledger.ErrTokenSpent) {
			t.Error(taken, err)
		}
		s.books(t, 10)
	})
}

// A basket is taken whole or not at all; what is not of the sale goes the usual way.
func TestBaskets(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := openSale(t, book, 10)
		both := func(id string, n int64) ledger.NewOrder {
			o := order(id, n)
			o.Items = append(o.Items, models.Item{SKU: "OTHER", Quantity: n})
			return o
		}
		for i, want := range []int{202, 409, 202} {
			n := []int64{3, 3, 2}[i]
			id := fmt.Sprintf("B%d", i)
			a, taken, err := s.flash.Take(t.Context(), key(id), both(id, n), told)
			if !taken || err != nil || a.Status != want {
				t.Error(i, taken, a, err)
			}
		}
		s.figure(t, 5)
		for _, o := range []ledger.NewOrder{
			{Order: models.Order{OrderID: "X", AmountMinor: 1, Currency: "CNY"}},
			{Order: models.Order{OrderID: "X", AmountMinor: 1, Currency: "CNY"}, Items: []models.Item{{SKU: "SKU", Quantity: 1}, {SKU: "usual", Quantity: 1}}},
			order("X", 0), order("X", -3),
		} {
			if _, taken, err := s.flash.Take(t.Context(), key("X"), o, told); taken || err != nil {
				t.Errorf("%+v: taken %v %v", o.Items, taken, err)
			}
		}
		s.figure(t, 5)
		s.books(t, 5)
	})
}

// Units that were taken the usual way, come back, or are added, are seen while the server runs.
func TestFiguresFollowTheDatabase(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := openSale(t, book, 10)
		if a, err := s.buy(t.Context(), "O1", 1); err != nil || a.Status != 202 {
			t.Fatal(a, err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { s.flash.Run(ctx) })
		defer running.Wait()
		defer stop()
		if _, err := book.CreateOrder(ctx, order("usual", 4)); err != nil {
			t.Fatal(err)
		}
		s.figure(t, 5)
		if _, err := book.Act(ctx, ledger.Act{OrderID: "usual", On: models.OrderCancel}); err != nil {
			t.Fatal(err)
		}
		s.figure(t, 9)
		s.stock(t, 100)
		s.figure(t, 99)
		s.redis.Do(t, "DEL", "paybook:stock:SKU")
		s.redis.Do(t, "SET", "paybook:stock:SKU", "not ours")
		s.figure(t, 99)
	})
}
