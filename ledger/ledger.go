package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"gorm.io/gorm"
)

// Options of Open. The zero value is usable.
type Options struct {
	Now       func() time.Time // the clock; nil: time.Now
	Log       *slog.Logger     // nil: discard
	NoMigrate bool             // an empty or older schema is an error instead of being brought up to date
	Elsewhere []string         // accounts whose orders are not kept here: no order checks
	MaxConns  int              // PostgreSQL: connections for writing, and as many for reading; 0: 16
	BatchMax  int              // callbacks in one transaction at most; 0: 256
	Lanes     int              // PostgreSQL: batches being written side by side; 0: 2
	Patience  time.Duration    // how long one Record retries a busy or failing database; 0: 4 s, below every provider's limit
	// RefusedRows bounds the refused callbacks kept as evidence (the oldest go first); 0: 20,000.
	RefusedRows int
	// RefusedBytes bounds what one process stores of an account's refused callbacks a minute, those that are genuine but not ours apart
	// from forged ones; beyond it they are only counted; 0: 16 MiB.
	RefusedBytes int64
	// RefusedTotal bounds the bytes of all refused callbacks kept (the oldest go first); 0: 512 MiB.
	RefusedTotal int64
	// Gate is asked about tokens before the database is; nil: nobody. The caller closes it, after the book.
	Gate Gate
	// Lease is how long UnderLease holds a lease when nothing is heard of its process; 0: 30 s.
	Lease time.Duration
	// LeaseLock is asked for a lease before the database is; nil: nobody. The caller closes it, after the book.
	LeaseLock LeaseLock
	// AskAfter is how long an order may stay paying, or a payment pending, until its provider is to be asked about it (DueInquiries);
	// messages that must be looked up are due at once. 0: nothing of the kind is noted.
	AskAfter time.Duration
	// OnBatch, if set, is told the size of every committed batch.
	OnBatch func(callbacks int)
}

// Ledger is an open book. It is safe for any number of goroutines.
type Ledger struct {
	db        *gorm.DB // writes
	read      *gorm.DB // reads: a pool of its own, so that a long list keeps no callback waiting
	dialect   dialect
	now       func() time.Time
	log       *slog.Logger
	options   Options
	elsewhere map[string]bool
	commits   *committer
	refused   *allowances
	forsaken  sync.Map               // holders whose hold of a key could not be let go, and when it ends by itself
	jobs      *river.Client[*sql.Tx] // puts jobs into the queue; Work has its own
	accepts   *group[*accepting]
	asked     *group[*asking]
	refusals  *group[*refusing]
	tending   sync.Mutex
	pruned    time.Time
	swept     key          // where the next Tend goes on
	failing   atomic.Int64 // when a commit failed last, unix nanoseconds; 0 after one that succeeded
}

// Open connects to "postgres://…" or "sqlite:FILE" and brings the schema up to date.
func Open(ctx context.Context, dsn string, o Options) (*Ledger, error) {
	setDefaults(&o)
	l := &Ledger{now: o.Now, log: o.Log, options: o, elsewhere: map[string]bool{}}
	for _, account := range o.Elsewhere {
		l.elsewhere[account] = true
	}
	if err := l.connect(dsn); err != nil {
		return nil, err
	}
	if err := l.upToDate(ctx); err != nil {
		return nil, errors.Join(err, l.closePools())
	}
	if err := l.startQueue(); err != nil {
		return nil, errors.Join(err, l.closePools())
	}
	l.refused = newAllowances(o.RefusedBytes)
	l.commits = startCommitter(l)
	return l, nil
}

func setDefaults(o *Options) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxConns == 0 {
		o.MaxConns = 16
	}
	if o.Lanes == 0 {
		o.Lanes = 2
	}
	if o.BatchMax == 0 {
		o.BatchMax = 256
	}
	if o.Patience == 0 {
		o.Patience = 4 * time.Second
	}
	if o.Lease == 0 {
		o.Lease = 30 * time.Second
	}
	if o.RefusedRows == 0 {
		o.RefusedRows = 20_000
	}
	if o.RefusedBytes == 0 {
		o.RefusedBytes = 16 << 20
	}
	if o.RefusedTotal == 0 {
		o.RefusedTotal = 512 << 20
	}
}

// Close waits for what is being committed and closes the pools.
func (l *Ledger) Close() error {
	l.accepts.close()
	l.asked.close()
	l.refusals.close()
	l.commits.stop()
	return l.closePools()
}

func (l *Ledger) closePools() error {
	var errs []error
	for _, db := range []*gorm.DB{l.db, l.read} {
		if db == nil {
			continue
		}
		pool, err := db.DB()
		if err == nil {
			err = pool.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Database says which kind is open: "postgres" or "sqlite".
func (l *Ledger) Database() string { return l.dialect.name }

// failingFor is how long one failed commit speaks for the next: then a callback may try again.
const failingFor = 5 * time.Second

// ErrFailing is wrapped by Ready while commits fail, for whatever reason: a disk that is full looks well until something is written.
var ErrFailing = errors.New("the last commit failed")

// Ready fails when the book could not record right now: the database does not answer, cannot be written, or has no schema.
func (l *Ledger) Ready(ctx context.Context) error {
	if at := l.failing.Load(); at != 0 && time.Since(time.Unix(0, at)) < failingFor {
		return ErrFailing
	}
	return l.inTx(ctx, func(tx *gorm.DB) error {
		// touches a table and takes the write lock, without writing a row
		_, err := exec(tx, "UPDATE orders SET version = version WHERE order_id = "+l.dialect.mark(1), "")
		return err
	})
}

// clock is the time of one transaction: all its rows carry the same. Microseconds, because that is what PostgreSQL keeps.
func (l *Ledger) clock() time.Time { return l.now().UTC().Truncate(time.Microsecond) }

// inTx runs f in one transaction on the writing pool.
func (l *Ledger) inTx(ctx context.Context, f func(tx *gorm.DB) error) error {
	return l.db.WithContext(ctx).Transaction(f)
}

// inConnTx is inTx, with the connection it runs on where that helps.
func (l *Ledger) inConnTx(ctx context.Context, f func(tx *gorm.DB, conn *sql.Conn) error) error {
	if l.dialect.name != postgresName {
		return l.inTx(ctx, func(tx *gorm.DB) error { return f(tx, nil) })
	}
	return l.db.WithContext(ctx).Connection(func(db *gorm.DB) error {
		conn, _ := db.Statement.ConnPool.(*sql.Conn)
		return db.Transaction(func(tx *gorm.DB) error { return f(tx, conn) })
	})
}

// retryTx is inTx, repeated while the failure is one that repeating heals, until patience or ctx ends.
func (l *Ledger) retryTx(ctx context.Context, f func(tx *gorm.DB) error) error {
	return l.retryTxFor(ctx, l.options.Patience, f)
}

// retryTxFor is retryTx with a patience of its own.
func (l *Ledger) retryTxFor(ctx context.Context, patience time.Duration, f func(tx *gorm.DB) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.retrying(ctx, func() error { return l.inTx(ctx, f) })
}

// onceTx is inTx, repeated only when somebody else was first: not while somebody holds a lock.
func (l *Ledger) onceTx(ctx context.Context, f func(tx *gorm.DB) error) error {
	ctx, cancel := context.WithTimeout(ctx, l.options.Patience)
	defer cancel()
	heals := func(err error) bool { return retriable(err) && !lockedOut(err) }
	return retryWhile(ctx, heals, func() error { return l.inTx(ctx, f) })
}

// retrying repeats f with growing pauses while it fails in a way that repeating heals.
func (l *Ledger) retrying(ctx context.Context, f func() error) error {
	return retryWhile(ctx, retriable, f)
}

// retryWhile repeats f with growing pauses while heals says that repeating heals its error, until ctx ends.
func retryWhile(ctx context.Context, heals func(error) bool, f func() error) error {
	pause := 2 * time.Millisecond
	for {
		err := f()
		if err == nil || !heals(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("database busy, given up: %w", err)
		case <-time.After(pause):
		}
		pause = min(pause*2, 250*time.Millisecond)
	}
}
