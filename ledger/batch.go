package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// errClosed answers callbacks that arrive while the book is being closed.
var errClosed = errors.New("the book is closed")

// waiting is one callback on its way through the committer.
type waiting struct {
	ctx      context.Context
	delivery *delivery // nil for a refused callback: evidence only
	about    string    // the order, or else the movement
	callback models.Callback
	reply    func(models.Outcome) int // the status that will be answered, kept as evidence
	done     chan error
}

// committer gathers what is waiting and writes it in one transaction: one flush to the disk for many callbacks. There is no timer:
// a lone callback goes at once, and while one batch is being flushed the next gathers by itself.
//
// On PostgreSQL several lanes do so side by side, so that the machine works while one of them waits for its flush. What is about one
// order goes by one lane, so that its repeats meet in memory instead of in the database. SQLite has one writer, so one lane.
type committer struct {
	l     *Ledger
	lanes []chan *waiting
	seed  maphash.Seed
	quit  chan struct{}
	once  sync.Once
	ended chan struct{}
	busy  sync.WaitGroup // lanes, and callbacks being tried alone
	turns chan struct{}  // bounds how many are tried alone at once
	stuck sync.Map       // what somebody was found to hold, and when
	// stuckTurns bounds how many wait for such an order at once: each takes a connection, and others need some too.
	stuckTurns chan struct{}
}

func startCommitter(l *Ledger) *committer {
	c := &committer{l: l, lanes: make([]chan *waiting, l.options.Lanes), seed: maphash.MakeSeed(), quit: make(chan struct{}),
		ended: make(chan struct{}), turns: make(chan struct{}, max(1, l.options.MaxConns/4)), stuckTurns: make(chan struct{}, max(1, l.options.MaxConns/4))}
	if l.dialect.name == sqliteName {
		c.lanes = c.lanes[:1]
	}
	for i := range c.lanes {
		c.lanes[i] = make(chan *waiting, 4*l.options.BatchMax)
		c.busy.Go(func() { c.loop(c.lanes[i]) })
	}
	return c
}

// stop lets the lanes write what was handed over, and waits for them.
func (c *committer) stop() {
	c.once.Do(func() {
		close(c.quit)
		c.busy.Wait()
		close(c.ended)
	})
	<-c.ended
}

// lane is where everything about one order goes.
func (c *committer) lane(w *waiting) chan *waiting {
	return c.lanes[maphash.String(c.seed, w.about)%uint64(len(c.lanes))]
}

func (w *waiting) subject() string {
	if w.delivery == nil {
		return w.callback.ID
	}
	ev := w.delivery.events[0]
	return cmp.Or(ev.OrderID, ev.ParentID, ev.TransactionID)
}

// submit hands a callback over and waits until it is committed, or until its caller's time is up: then nobody knows, the answer is
// a failure, and the repeat will find out.
func (c *committer) submit(w *waiting) error {
	w.done, w.about = make(chan error, 1), w.subject()
	select {
	case <-c.quit: // checked first: a lane may be gone while its queue still has room
		return errClosed
	default:
	}
	select {
	case c.lane(w) <- w:
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

func (c *committer) loop(queue chan *waiting) {
	for {
		select {
		case w := <-queue:
			c.commit(c.gather(w, queue))
		case <-c.quit:
			for { // what was handed over before the end is still written
				select {
				case w := <-queue:
					c.commit(c.gather(w, queue))
				default:
					return
				}
			}
		}
	}
}

// gather takes what is there, and nothing that nobody waits for any more.
func (c *committer) gather(first *waiting, queue chan *waiting) []*waiting {
	batch := make([]*waiting, 0, len(queue)+1)
	take := func(w *waiting) {
		if err := w.ctx.Err(); err != nil {
			w.done <- err
			return
		}
		if c.isStuck(w.about) {
			c.busy.Go(func() { w.done <- c.aside(w) })
			return
		}
		batch = append(batch, w)
	}
	take(first)
	for len(batch) < c.l.options.BatchMax {
		select {
		case w := <-queue:
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
			c.busy.Go(func() { w.done <- c.aside(w) })
		}
		return
	}
	c.noteHealth(err)
	for _, w := range batch {
		w.done <- err
	}
}

// aside tries one callback alone: first without patience, so that those who had bad company are through at once, and then, if somebody
// holds its very order, as long as it takes. For a while others for that order go aside at once.
func (c *committer) aside(w *waiting) error {
	err := c.alone(w, c.turns, false)
	if err == nil || !lockedOut(err) {
		return err
	}
	c.stuck.Store(w.about, time.Now())
	return c.alone(w, c.stuckTurns, true)
}

func (c *committer) alone(w *waiting, turns chan struct{}, patient bool) error {
	select {
	case turns <- struct{}{}:
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
	defer func() { <-turns }()
	err := c.write([]*waiting{w}, patient)
	c.noteHealth(err)
	return err
}

// noteHealth remembers whether writing works, for Ready. A row that somebody holds says nothing about that.
func (c *committer) noteHealth(err error) {
	switch {
	case err == nil:
		c.l.failing.Store(0)
	case !lockedOut(err):
		c.l.failing.Store(time.Now().UnixNano())
	}
}

// stuckFor is how long an order that somebody holds is kept out of the batches.
const stuckFor = 3 * time.Second

// isStuck says whether somebody has lately been found to hold what a callback is about.
func (c *committer) isStuck(about string) bool {
	since, known := c.stuck.Load(about)
	if !known {
		return false
	}
	if at, ok := since.(time.Time); ok && time.Since(at) < stuckFor {
		return true
	}
	c.stuck.Delete(about)
	return false
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
