package ledger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// leaseWorker is how this test binary is started to be a process of its own that holds a lease: HOW DSN GAP.
const leaseWorker = "LEASE_WORKER"

const workerLease = 600 * time.Millisecond

// The ways in which a worker works. Each says "holds FENCE", waits to be told to go on, saves a run that has found GAP, and says
// "saved RUN", "lost HOLDER: …", or what else went wrong.
const (
	workRenewed = "renewed" // under a lease that is renewed, which also tells it of the loss
	workBare    = "bare"    // under one that is not: only the save can tell it
	workInside  = "inside"  // bare, and it holds on in the middle of the save
)

// runLeaseWorker is the worker's main.
func runLeaseWorker() {
	words := strings.Fields(os.Getenv(leaseWorker))
	err := work(words[0], words[1], words[2])
	var lost *ledger.LostLease
	if errors.As(err, &lost) {
		fmt.Printf("lost %s: %s\n", lost.Holder, err)
	} else if err != nil {
		fmt.Println("failed:", err)
	}
}

func work(how, dsn, gap string) error {
	ctx := context.Background()
	b, err := ledger.Open(ctx, dsn, ledger.Options{Lease: workerLease})
	if err != nil {
		return err
	}
	defer b.Close()
	job := func(ctx context.Context, held *ledger.Lease) error { return workUnder(ctx, b, held, how, gap) }
	for {
		if how == workRenewed {
			err = b.UnderLease(ctx, theRun, job)
		} else if held, takeErr := b.Lease(ctx, theRun, workerLease); takeErr == nil {
			err = job(ctx, held)
		} else {
			err = takeErr
		}
		if !errors.As(err, new(*ledger.BusyError)) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func workUnder(ctx context.Context, b *ledger.Ledger, held *ledger.Lease, how, gap string) error {
	turn, err := b.Turn(ctx, "shop")
	if err != nil {
		return err
	}
	told := make(chan struct{})
	pause := func() {
		fmt.Println("holds", held.Fence())
		go func() { _, _ = bufio.NewReader(os.Stdin).ReadString('\n'); close(told) }()
		select {
		case <-told:
		case <-ctx.Done():
		}
	}
	if how != workInside {
		pause()
	}
	run := models.Run{Account: "shop", Date: leaseDay, CreatedAt: runDay}
	found := ledger.Findings{Turn: turn, Lease: held, Gaps: []models.Gap{gapOf(gap, leaseDay, "1.00")}}
	_, err = b.SaveRun(ctx, &run, found, func(r *models.Run, _ ledger.Saved) error {
		if how == workInside {
			pause()
		}
		r.Result, r.Report, r.Fingerprint = models.Gapped, "{}", gap
		return nil
	})
	if err == nil {
		fmt.Println("saved", run.ID)
	}
	return err
}

// worker is a worker seen from outside.
type worker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startWorker(t *testing.T, how, dsn, gap string) *worker {
	t.Helper()
	w := &worker{cmd: exec.Command(os.Args[0])}
	w.cmd.Env = append(os.Environ(), leaseWorker+"="+strings.Join([]string{how, dsn, gap}, " "))
	w.cmd.Stderr = os.Stderr
	in, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.in, w.out = in, bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(2*time.Minute, func() { _ = w.cmd.Process.Kill() })
	t.Cleanup(func() {
		hang.Stop()
		_ = w.cmd.Process.Kill() // a paused one too
		_ = w.cmd.Wait()
	})
	return w
}

// says reads the worker's next line, which begins so.
func (w *worker) says(t *testing.T, begin string) string {
	t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, begin) {
		t.Fatalf("the worker says %q (%v), want %q", line, err, begin)
	}
	return strings.TrimSpace(line[len(begin):])
}

func (w *worker) goOn(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(w.in, "go on\n"); err != nil {
		t.Fatal(err)
	}
}

func (w *worker) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := w.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// pause stops the process wherever it is, but not in the middle of a renewal on SQLite, where it would keep everybody from writing.
func (w *worker) pause(t *testing.T, b *ledger.Ledger) {
	t.Helper()
	for range 100 {
		w.signal(t, syscall.SIGSTOP)
		if err := b.Ready(t.Context()); err == nil {
			return
		}
		w.signal(t, syscall.SIGCONT)
		time.Sleep(workerLease / 10)
	}
	t.Fatal("it is always writing")
}

func (w *worker) name() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d", host, w.cmd.Process.Pid)
}

// TestPausedHolder: a process that is stopped in the middle of its work loses its lease to another; when it goes on, nothing of its own is
// written, and it is told who was faster.
func TestPausedHolder(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn)
		ways := []string{workBare, workRenewed}
		if b.Database() == "postgres" { // on SQLite nobody can write beside a transaction that is open
			ways = append(ways, workInside)
		}
		for _, how := range ways {
			t.Run(how, func(t *testing.T) { pausedHolder(t, b, dsn, how) })
		}
	})
}

func pausedHolder(t *testing.T, b *ledger.Ledger, dsn, how string) {
	before, _, err := b.Gaps(t.Context(), ledger.GapFilter{})
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := fmt.Sprintf("a%d", len(before)), fmt.Sprintf("b%d", len(before))
	first := startWorker(t, how, dsn, mine)
	fence := first.says(t, "holds ")
	first.pause(t, b)
	second := startWorker(t, workRenewed, dsn, theirs)
	if next := second.says(t, "holds "); next <= fence {
		t.Errorf("fence %s follows %s", next, fence)
	}
	second.goOn(t)
	run := second.says(t, "saved ")
	if more, err := io.ReadAll(second.out); err != nil || len(more) > 0 {
		t.Errorf("then the second says %q, %v", more, err)
	}
	first.signal(t, syscall.SIGCONT)
	if how != workRenewed { // that one finds out by itself
		first.goOn(t)
	}
	if told := first.says(t, "lost "); !strings.HasPrefix(told, second.name()+":") || !strings.Contains(told, "look at the other's result") {
		t.Errorf("the first is told %q, want that %s has ended", told, second.name())
	}
	last, err := b.LastRun(t.Context(), "shop", leaseDay)
	if err != nil || last.ID != run {
		t.Errorf("the last run is %s (%v), want %s", last.ID, err, run)
	}
	if _, err := b.Gap(t.Context(), mine); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("the first's gap: %v", err)
	}
	if g := read(t, b, theirs); g.State != models.GapOpen || g.LastRun != run {
		t.Errorf("the second's gap is %+v", g)
	}
}

// TestKilledHolder: a process that was killed holds nothing up, however long its lease.
func TestKilledHolder(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn)
		w := startWorker(t, workRenewed, dsn, "a1")
		w.says(t, "holds ")
		w.pause(t, b)
		held := leasedBy(t, b)
		if err := held.Age(t.Context(), -time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := lease(t, b, time.Hour); err == nil {
			t.Fatal("taken from one that lives")
		}
		w.signal(t, os.Kill)
		_ = w.cmd.Wait() // how it ended is known
		if _, err := saveUnder(t, b, leased(t, b, time.Hour), "b1"); err != nil {
			t.Error(err)
		}
		if gaps, _, err := b.Gaps(t.Context(), ledger.GapFilter{}); err != nil || len(gaps) != 1 || gaps[0].ID != "b1" {
			t.Errorf("gaps %+v, %v", gaps, err)
		}
	})
}

// leasedBy is the lease of the run, whoever has it.
func leasedBy(t *testing.T, b *ledger.Ledger) *ledger.Lease {
	t.Helper()
	other, err := b.Lease(t.Context(), "other", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return other.Of(theRun)
}
