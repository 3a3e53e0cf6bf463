package redisgate_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/ledger/redisgate"
	"paybook/models"
)

// BenchmarkFlashSale sells one hot article to five times as many buyers as there are units, three ways on one PostgreSQL that flushes
// every commit: the textbook's transaction, CreateOrder, and the flash sale. Compare the ratios between machines, not the rates: a
// disk's flush time decides those. UNITS=100000 sells more. `make flash` runs it.
func BenchmarkFlashSale(b *testing.B) {
	units, err := strconv.Atoi(ledgertest.Env("UNITS", "10000"))
	if err != nil {
		b.Fatal(err)
	}
	c, err := ledgertest.Start(ledgertest.Options{Durable: true, Conf: map[string]string{"shared_buffers": "256MB", "max_wal_size": "4GB"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Stop)
	for b.Loop() {
		before := sellPlain(b, c, "before", units)
		create := sellCreate(b, c, units)
		flash := sellFlash(b, c, units)
		after := sellPlain(b, c, "after", units)
		plain := (before.rate() + after.rate()) / 2
		fmt.Printf("\n%-14s %10s %8s %12s\n", "way", "orders/s", "ratio", "answers/s")
		for _, r := range []race{before, after, create, flash} {
			fmt.Printf("%-14s %10.0f %8.2f %12.0f\n", r.name, r.rate(), r.rate()/plain, float64(r.buyers)/r.all.Seconds())
		}
		b.ReportMetric(create.rate()/plain, "create/plain")
		b.ReportMetric(flash.rate()/plain, "flash/plain")
	}
}

// race is one sale.
type race struct {
	name          string
	units, buyers int
	sold, all     time.Duration // until the last unit was sold, until the last buyer was answered
}

func (r race) rate() float64 { return float64(r.units) / r.sold.Seconds() }

// atOnce is how many buyers wait for an answer at any moment.
const atOnce = 256

// sell lets everybody try once, and fails unless exactly units of them get one.
func sell(b *testing.B, name string, units int, buy func(i int) (bool, error)) race {
	r := race{name: name, units: units, buyers: 5 * units}
	var next, won atomic.Int64
	var last atomic.Int64
	start := time.Now()
	var callers sync.WaitGroup
	for range atOnce {
		callers.Go(func() {
			for i := int(next.Add(1)); i <= r.buyers; i = int(next.Add(1)) {
				ok, err := buy(i)
				if err != nil {
					b.Error(name, err)
					return
				}
				if ok && won.Add(1) == int64(units) {
					last.Store(int64(time.Since(start)))
				}
			}
		})
	}
	callers.Wait()
	r.all, r.sold = time.Since(start), time.Duration(last.Load())
	if won.Load() != int64(units) {
		b.Fatalf("%s: %d sold of %d", name, won.Load(), units)
	}
	return r
}

// sellPlain is the transaction that the textbook has, with prepared statements.
func sellPlain(b *testing.B, c *ledgertest.Cluster, name string, units int) race {
	db := database(b, c, "plain_"+name)
	db.SetMaxOpenConns(32)
	db.SetMaxIdleConns(32)
	for _, text := range []string{
		"CREATE TABLE stock (sku text PRIMARY KEY, quantity bigint NOT NULL CHECK (quantity >= 0))",
		"CREATE TABLE orders (order_id text PRIMARY KEY, sku text NOT NULL, amount_minor bigint NOT NULL, currency text NOT NULL, status text NOT NULL, created_at timestamptz NOT NULL)",
		fmt.Sprintf("INSERT INTO stock VALUES ('SKU', %d)", units),
	} {
		if _, err := db.Exec(text); err != nil {
			b.Fatal(err)
		}
	}
	return sell(b, "plain "+name, units, func(i int) (bool, error) {
		tx, err := db.Begin()
		if err != nil {
			return false, err
		}
		defer tx.Rollback() // after a commit it does nothing
		res, err := tx.Exec("UPDATE stock SET quantity = quantity - 1 WHERE sku = $1 AND quantity >= 1", "SKU")
		if err != nil {
			return false, err
		}
		if n, err := res.RowsAffected(); n == 0 || err != nil {
			return false, err
		}
		if _, err := tx.Exec("INSERT INTO orders VALUES ($1, $2, $3, $4, 'unpaid', $5)", fmt.Sprint("O", i), "SKU", 1999, "CNY", time.Now()); err != nil {
			return false, err
		}
		return true, tx.Commit()
	})
}

func sellCreate(b *testing.B, c *ledgertest.Cluster, units int) race {
	book := benchBook(b, c, "usual", units)
	r := sell(b, "CreateOrder", units, func(i int) (bool, error) {
		_, err := book.CreateOrder(context.Background(), order(fmt.Sprint("O", i), 1))
		if errors.As(err, new(*ledger.OutOfStock)) {
			return false, nil
		}
		return err == nil, err
	})
	checkBench(b, book, units)
	return r
}

func sellFlash(b *testing.B, c *ledgertest.Cluster, units int) race {
	book := benchBook(b, c, "flash", units)
	gate, err := redisgate.Open(ledgertest.Redis(b).URL, redisgate.Options{Timeout: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	defer gate.Close()
	flash := redisgate.NewFlash(book, gate, []string{"SKU"}, nil)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := book.Work(ctx); err != nil {
			b.Error(err)
		}
	})
	defer running.Wait()
	defer stop()
	start := time.Now()
	r := sell(b, "flash sale", units, func(i int) (bool, error) {
		id := fmt.Sprint("O", i)
		a, taken, err := flash.Take(context.Background(), key(id), order(id, 1), told)
		if err == nil && !taken {
			err = fmt.Errorf("%s was not taken", id)
		}
		return a.Status == 202, err
	})
	eventually(b, "all orders are written", func() bool {
		checks, err := book.CheckStock(context.Background())
		return err == nil && checks[0].Queued == 0
	})
	fmt.Fprintf(os.Stderr, "flash sale: all %d orders were written after %v\n", units, time.Since(start).Round(time.Millisecond))
	checkBench(b, book, units)
	return r
}

func benchBook(b *testing.B, c *ledgertest.Cluster, name string, units int) *ledger.Ledger {
	database(b, c, name)
	book, err := ledger.Open(context.Background(), c.DSN(name), ledger.Options{Patience: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { book.Close() })
	_, err = book.ImportStock(context.Background(), func(yield func(models.Stock, error) bool) {
		yield(models.Stock{SKU: "SKU", Quantity: int64(units)}, nil)
	})
	if err != nil {
		b.Fatal(err)
	}
	return book
}

// database makes one anew.
func database(b *testing.B, c *ledgertest.Cluster, name string) *sql.DB {
	open := func(name string) *sql.DB {
		db, err := sql.Open("pgx", c.DSN(name))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { db.Close() })
		return db
	}
	all := open("postgres")
	for _, text := range []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)", "CREATE DATABASE " + name} {
		if _, err := all.Exec(text); err != nil {
			b.Fatal(err)
		}
	}
	return open(name)
}

func checkBench(b *testing.B, book *ledger.Ledger, units int) {
	checks, err := book.CheckStock(context.Background())
	if err != nil || len(checks) != 1 || !checks[0].Equal() || checks[0].Reserved != int64(units) {
		b.Fatalf("the sums are not equal: %+v %v", checks, err)
	}
}
