package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// writeJob writes the orders of one batch that were accepted together.
type writeJob struct {
	Batch string `json:"batch"`
}

// Kind implements river.JobArgs.
func (writeJob) Kind() string { return "orders_write" }

// TopicRefused is the message to the shop of an order that was accepted and could not be made after all: while it waited to be written,
// somebody who does not ask the ledger wrote an order under its number, a person in the database for instance. Its units are free again.
const TopicRefused = "order.refused"

// writeBatch writes what is left of a batch, and nothing when it is done already: a job may run twice. If the batch cannot be written
// together each order is tried alone, so that one that nobody can write keeps no other waiting.
func (l *Ledger) writeBatch(ctx context.Context, batch string) error {
	err := l.writeAccepted(ctx, batch, "")
	if err == nil || ctx.Err() != nil {
		return err
	}
	ids, readErr := l.acceptedIn(ctx, batch)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	var failed []error
	for _, id := range ids {
		if err := l.writeAccepted(ctx, batch, id); err != nil {
			failed = append(failed, fmt.Errorf("write accepted order %s: %w", id, err))
		}
	}
	return errors.Join(failed...)
}

// stuckAfter is when a batch that is still here is written by whoever tends the orders: its job belongs to a process that was killed, or
// is lost. That its job may be at it too does no harm.
const stuckAfter = 15 * time.Second

func (l *Ledger) writeStuck(ctx context.Context) error {
	var batches []string
	b := l.sql("SELECT DISTINCT batch FROM accepted WHERE created_at <= ").arg(l.clock().Add(-stuckAfter)).add(" ORDER BY batch")
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var batch string
		err := rows.Scan(&batch)
		batches = append(batches, batch)
		return err
	})
	for _, batch := range batches {
		err = errors.Join(err, l.writeBatch(ctx, batch))
	}
	return err
}

// whenWritten does something with an order; if it is not here it may be accepted, and is written before its job comes to it.
func (l *Ledger) whenWritten(ctx context.Context, id string, do func() error) error {
	err := do()
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	var batch string
	b := l.sql("SELECT batch FROM accepted WHERE order_id = ").arg(id)
	if err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&batch) }); err != nil {
		return err
	}
	if batch != "" {
		if err := l.writeAccepted(ctx, batch, id); err != nil {
			return err
		}
	}
	return do() // without a batch too: its job may have been at it
}

func (l *Ledger) acceptedIn(ctx context.Context, batch string) (ids []string, err error) {
	b := l.sql("SELECT order_id FROM accepted WHERE batch = ").arg(batch).add(" ORDER BY order_id")
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// writeAccepted moves orders from accepted to orders in one transaction: all of a batch, or one of it.
func (l *Ledger) writeAccepted(ctx context.Context, batch, id string) error {
	var taken []*accepted
	err := l.retryTx(ctx, func(tx *gorm.DB) (err error) {
		taken, err = l.writeAcceptedIn(tx, batch, id, l.clock())
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range taken {
		l.log.Warn("an accepted order could not be made: its number was taken while it waited; its units are free again, and the shop is told",
			"order_id", a.order.OrderID)
	}
	return nil
}

func (l *Ledger) writeAcceptedIn(tx *gorm.DB, batch, id string, now time.Time) (taken []*accepted, err error) {
	list, err := l.takeAccepted(tx, batch, id)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	fresh, err := l.insertWritten(tx, list)
	if err != nil {
		return nil, err
	}
	e := l.newEngine(tx, now)
	var made []models.Order
	var ids []string
	for _, a := range list {
		if fresh[a.order.OrderID] {
			made, ids = append(made, a.order), append(ids, a.order.OrderID)
			continue
		}
		taken = append(taken, a)
		e.handOver(a.items, models.StockReserved, models.StockNone)
		e.enqueue(a.order.OrderID, TopicRefused, notice{OrderID: a.order.OrderID, Amount: a.order.Money().Text(), Currency: a.order.Currency, Event: TopicRefused})
	}
	if err := e.writeNew(ids...); err != nil {
		return nil, err
	}
	return taken, l.insertExpiries(tx, made)
}

// takeAccepted deletes the rows: whoever does so is the one who writes the orders.
func (l *Ledger) takeAccepted(tx *gorm.DB, batch, id string) (list []*accepted, err error) {
	b := l.sql("DELETE FROM accepted WHERE batch = ").arg(batch)
	if id != "" {
		b.add(" AND order_id = ").arg(id)
	}
	err = query(tx, b.add(" RETURNING "+acceptedColumns).String(), b.args, func(rows *sql.Rows) error {
		a, err := scanAccepted(rows)
		list = append(list, a)
		return err
	})
	return list, err
}

// insertWritten writes the orders whose number is free, and their items, and says which they are.
func (l *Ledger) insertWritten(tx *gorm.DB, list []*accepted) (fresh map[string]bool, err error) {
	slices.SortFunc(list, func(a, b *accepted) int { return strings.Compare(a.order.OrderID, b.order.OrderID) })
	fresh = map[string]bool{}
	err = eachChunk(list, inChunk, func(chunk []*accepted) error {
		b := l.sql("INSERT INTO orders (" + orderColumns + ") VALUES ")
		for i, a := range chunk {
			b.order(i == 0, a.order, a.order.CreatedAt)
		}
		return query(tx, b.add(" ON CONFLICT (order_id) DO NOTHING RETURNING order_id").String(), b.args, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			fresh[id] = true
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	var items []models.Item
	for _, a := range list {
		if fresh[a.order.OrderID] {
			items = append(items, a.items...)
		}
	}
	p := pipe{tx: tx}
	l.insertItems(&p, items)
	return fresh, p.flush()
}
