package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"gorm.io/gorm"
)

const (
	jobPoll     = 250 * time.Millisecond // there is no LISTEN through database/sql
	jobTimeout  = 20 * time.Second
	jobRescue   = 40 * time.Second // after it a job is taken from a process that was killed
	jobWorkers  = 4
	jobSoftStop = 5 * time.Second
	// jobHardStop is when a queue that does not stop, because the database is away, is left to itself. All its work is transactions.
	jobHardStop = 10 * time.Second
	tendEvery   = 10 * time.Second // how often expiry runs, on one of the replicas
)

// Work works the jobs of the queue, and the chores, until ctx ends, and then lets those under way finish. Any number of processes may do
// so at once.
func (l *Ledger) Work(ctx context.Context, chores ...Chore) error {
	pool, err := l.db.DB()
	if err != nil {
		return err
	}
	config := l.jobConfig()
	l.addChores(config, chores)
	client, err := river.NewClient(l.dialect.riverDriver(pool), config)
	if err != nil {
		return fmt.Errorf("job queue: %w", err)
	}
	if !l.startClient(ctx, client) {
		return nil // ended before it had begun
	}
	<-ctx.Done()
	select {
	case <-client.Stopped():
		return nil
	case <-time.After(jobHardStop):
		return errors.New("the job queue did not stop in time; what was under way will be done again")
	}
}

// startClient starts the workers, again and again while the database is away; false when ctx ended first.
func (l *Ledger) startClient(ctx context.Context, client *river.Client[*sql.Tx]) bool {
	for {
		err := client.Start(ctx)
		if err == nil || ctx.Err() != nil {
			return err == nil
		}
		l.log.Error("the job queue does not start, trying again", "error", err.Error())
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// startQueue prepares what puts jobs into the queue, and what gathers orders to be accepted.
func (l *Ledger) startQueue() error {
	pool, err := l.db.DB()
	if err != nil {
		return err
	}
	if l.jobs, err = river.NewClient(l.dialect.riverDriver(pool), &river.Config{Logger: l.jobLog(), MaxAttempts: math.MaxInt16}); err != nil {
		return fmt.Errorf("job queue: %w", err)
	}
	l.accepts = &group[*accepting]{most: l.options.BatchMax, do: l.acceptAll}
	l.asked = &group[*asking]{most: inChunk, do: l.answerAll}
	l.refusals = &group[*refusing]{most: l.options.BatchMax, do: l.refuseAll}
	return nil
}

func (l *Ledger) jobLog() *slog.Logger {
	return slog.New(&quiet{Handler: l.log.Handler(), said: newSaid()})
}

func (l *Ledger) jobConfig() *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, _ *river.Job[tendJob]) error { return l.tendOrders(ctx) }))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[writeJob]) error { return l.writeBatch(ctx, job.Args.Batch) }))
	every := river.NewPeriodicJob(river.PeriodicInterval(tendEvery), func() (river.JobArgs, *river.InsertOpts) {
		return tendJob{}, &river.InsertOpts{MaxAttempts: 1} // the next comes anyway
	}, &river.PeriodicJobOpts{RunOnStart: true})
	return &river.Config{
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: jobWorkers}},
		Workers:                     workers,
		PeriodicJobs:                []*river.PeriodicJob{every},
		PollOnly:                    true,
		FetchPollInterval:           jobPoll,
		JobTimeout:                  jobTimeout,
		RescueStuckJobsAfter:        jobRescue,
		SoftStopTimeout:             jobSoftStop,
		CompletedJobRetentionPeriod: time.Hour,
		DiscardedJobRetentionPeriod: 24 * time.Hour,
		MaxAttempts:                 math.MaxInt16, // an accepted order is never given up
		RetryPolicy:                 jobRetry{},
		ReindexerIndexNames:         []string{}, // it waits for locks longer than our connections may
		Logger:                      l.jobLog(),
	}
}

// jobRetry repeats a failed job after 1 s, 2 s, 4 s … 1 min.
type jobRetry struct{}

// NextRetry implements river.ClientRetryPolicy.
func (jobRetry) NextRetry(job *rivertype.JobRow) time.Time {
	pause := time.Minute
	if n := len(job.Errors); n < 6 {
		pause = time.Second << n
	}
	return time.Now().Add(pause)
}

// tendJob is the periodic job.
type tendJob struct{}

// Kind implements river.JobArgs.
func (tendJob) Kind() string { return "orders_tend" }

// expireBunch is how many orders are closed in one transaction.
const expireBunch = 200

// tendOrders closes what was not paid in time, and writes what was accepted and got stuck.
func (l *Ledger) tendOrders(ctx context.Context) error {
	return errors.Join(l.expireAll(ctx), l.writeStuck(ctx))
}

func (l *Ledger) expireAll(ctx context.Context) error {
	for ctx.Err() == nil {
		closed, err := l.Expire(ctx, expireBunch)
		if closed > 0 {
			l.log.Info("orders closed that were not paid in time", "count", closed)
		}
		if err != nil {
			return fmt.Errorf("close orders that were not paid in time: %w", err)
		}
		if closed == 0 {
			return nil
		}
	}
	return ctx.Err()
}

// sqlTx is what River needs of a transaction of ours.
func sqlTx(tx *gorm.DB) (*sql.Tx, error) {
	if t, ok := tx.Statement.ConnPool.(*sql.Tx); ok {
		return t, nil
	}
	return nil, fmt.Errorf("a job needs a transaction, not a %T", tx.Statement.ConnPool)
}
