package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"gorm.io/gorm"

	"paybook/models"
)

// errClosed answers callbacks that arrive while the book is being closed.
var errClosed = errors.New("the book is closed")

// waiting is one callback on its way through the committer.
type waiting struct {
	ctx      context.Context
	delivery *delivery // nil for a refused callback: evidence only
	callback models.Callback
	reply    func(models.Outcome) int // the status that will be answered, kept as evidence
	done     chan error
}

// committer gathers what is waiting and writes it in one transaction: one flush to the disk for many callbacks. There is no timer:
// a lone callback goes at once, and while one batch is being flushed the next gathers by itself.
type committer struct {
	l     *Ledger
	queue chan *waiting
	quit  chan struct{}
	once  sync.Once
	ended chan struct{}
	alone sync.WaitGroup // callbacks being tried alone
	turns chan struct{}  // bounds how many at once
}

func startCommitter(l *Ledger) *committer {
	c := &committer{l: l, queue: make(chan *waiting, 4*l.options.BatchMax), quit: make(chan struct{}), ended: make(chan struct{}), turns: make(chan struct{}, 4)}
	go c.loop()
	return c
}

func (c *committer) stop() {
	c.once.Do(func() { close(c.quit) })
	<-c.ended
}

// submit hands a callback over and waits until it is committed, or until its caller's time is up: then nobody knows, the answer is
// a failure, and the repeat will find out.
func (c *committer) submit(w *waiting) error {
	w.done = make(chan error, 1)
	select {
	case c.queue <- w:
	case <-w.ctx.Done():
		return w.ctx.Err()
	case <-c.quit:
		return errClosed
	}
	select {
	case err := <-w.done:
		return err
	case <-w.ctx.Done():
		return w.ctx.Err()
	case <-c.ended:
		select {
		case err := <-w.done:
			return err
		default:
			return errClosed
		}
	}
}

func (c *committer) loop() {
	defer close(c.ended)
	defer c.alone.Wait()
	for {
		select {
		case w := <-c.queue:
			c.commit(c.gather(w))
		case <-c.quit:
			for { // what was handed over before the end is still written
				select {
				case w := <-c.queue:
					c.commit(c.gather(w))
				default:
					return
				}
			}
		}
	}
}

// gather takes what is there, and nothing that nobody waits for any more.
func (c *committer) gather(first *waiting) []*waiting {
	batch := make([]*waiting, 0, len(c.queue)+1)
	take := func(w *waiting) {
		if err := w.ctx.Err(); err != nil {
			w.done <- err
			return
		}
		batch = append(batch, w)
	}
	take(first)
	for len(batch) < c.l.options.BatchMax {
		select {
		case w := <-c.queue:
			take(w)
		default:
			return batch
		}
	}
	return batch
}

// commit writes a batch. When it fails for a reason of its content, or because somebody holds one of its orders, each callback is
// tried alone and aside: one bad row fails alone, and a row that is locked does not keep the others waiting.
func (c *committer) commit(batch []*waiting) {
	if len(batch) == 0 {
		return
	}
	err := c.write(batch, false)
	switch {
	case err == nil:
		if c.l.options.OnBatch != nil {
			c.l.options.OnBatch(len(batch))
		}
	case lockedOut(err), len(batch) > 1 && !retriable(err) && !errors.Is(err, context.DeadlineExceeded):
		for _, w := range batch {
			c.alone.Add(1)
			go func() {
				defer c.alone.Done()
				c.turns <- struct{}{}
				defer func() { <-c.turns }()
				w.done <- c.write([]*waiting{w}, true)
			}()
		}
		return
	}
	for _, w := range batch {
		w.done <- err
	}
}

// write is one transaction, repeated while that heals it. patient: also while somebody else holds a lock.
func (c *committer) write(batch []*waiting, patient bool) (err error) {
	defer func() {
		if p := recover(); p != nil { // a fault of ours must not end the committer, and with it the service
			err = fmt.Errorf("booking panicked: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), c.l.options.Patience)
	defer cancel()
	heals := func(err error) bool { return retriable(err) && (patient || !lockedOut(err)) }
	careful := false
	return retryWhile(ctx, heals, func() error {
		err := c.l.inConnTx(ctx, func(tx *gorm.DB, conn *sql.Conn) error { return c.l.recordBatch(tx, conn, careful, batch) })
		careful = true
		return err
	})
}
