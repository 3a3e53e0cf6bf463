package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
)

// Chore is work of another package that is done again and again, by one of the replicas at a time. A chore that fails is not tried
// again before its next time: what it has to do it finds out itself, from the book.
type Chore struct {
	Name  string        // of its own, a-z and _
	Every time.Duration // from one beginning to the next, at least a second
	Limit time.Duration // how long one may take; 0: 20 s. A process that is killed is given up after it
	Do    func(context.Context) error
}

// choreJob is a chore's time.
type choreJob struct {
	Name string `json:"name"`
}

// Kind implements river.JobArgs.
func (choreJob) Kind() string { return "chore" }

// choreWorker does what is registered under the job's name.
type choreWorker struct {
	river.WorkerDefaults[choreJob]
	book   *Ledger
	chores map[string]Chore
}

// Timeout implements river.Worker.
func (w *choreWorker) Timeout(job *river.Job[choreJob]) time.Duration {
	return w.chores[job.Args.Name].Limit
}

// Work implements river.Worker.
func (w *choreWorker) Work(ctx context.Context, job *river.Job[choreJob]) error {
	c, known := w.chores[job.Args.Name]
	if !known {
		return nil // left by a replica that is configured otherwise; it will do it itself
	}
	err := w.book.UnderLease(ctx, "chore/"+c.Name, func(ctx context.Context, _ *Lease) error { return c.Do(ctx) })
	var busy *BusyError
	if err != nil && !errors.As(err, &busy) {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return nil // the last one is still under way
}

// choreQueue keeps long chores from what must not wait; choreWorkers is how many of them one process does at a time.
const (
	choreQueue   = "chores"
	choreWorkers = 4
)

// addChores tells the queue of them.
func (l *Ledger) addChores(config *river.Config, chores []Chore) {
	w := &choreWorker{book: l, chores: map[string]Chore{}}
	for _, c := range chores {
		w.chores[c.Name] = c
		args := choreJob{Name: c.Name}
		config.PeriodicJobs = append(config.PeriodicJobs, river.NewPeriodicJob(river.PeriodicInterval(c.Every),
			func() (river.JobArgs, *river.InsertOpts) {
				return args, &river.InsertOpts{Queue: choreQueue, MaxAttempts: 1} // the next comes anyway
			}, &river.PeriodicJobOpts{RunOnStart: true}))
	}
	river.AddWorker(config.Workers, w)
	config.Queues[choreQueue] = river.QueueConfig{MaxWorkers: choreWorkers}
}
