package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gorm.io/gorm"
)

// BusyError is a lease that somebody else holds.
type BusyError struct {
	Name   string    // of the lease
	Holder string    // host and process id
	Since  time.Time // UTC
	Until  time.Time // UTC: when it ends unless it is renewed
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the same %s is under way since %s (%s); try again when it has ended (if it was killed, after %s)",
		job(e.Name), e.Since.Format(time.RFC3339), e.Holder, e.Until.Format(time.RFC3339))
}

// LostLease is a lease that has passed to another because nothing was heard of its holder for too long. Nothing can be written under it
// any more.
type LostLease struct {
	Name   string    // of the lease
	Holder string    // who has it now, or had it last: host and process id; "" when nobody has taken it
	Since  time.Time // UTC: when they took it
	Ended  bool      // they have ended since
}

func (e *LostLease) Error() string {
	text := fmt.Sprintf("nothing was heard of this %s for so long that ", job(e.Name))
	if e.Holder == "" {
		return text + "its lease was ended; it has written nothing since; start it again"
	}
	text += fmt.Sprintf("another took it over at %s (%s)", e.Since.Format(time.RFC3339), e.Holder)
	if e.Ended {
		return text + ", which has ended; this one has written nothing since; look at the other's result, or start it again"
	}
	return text + " and is at it; this one has written nothing since; wait for the other's result"
}

// job is what the lease of that name is taken for: "run".
func job(name string) string {
	kind, _, _ := strings.Cut(name, "/")
	return kind
}

// leaseRow is a lease as the database has it.
type leaseRow struct {
	name, holder string
	Since        time.Time
	Until        time.Time // zero: given back
}

// leaseRow reads a lease; nil: nobody has ever held it.
func (l *Ledger) leaseRow(tx *gorm.DB, name string) (held *leaseRow, err error) {
	b := l.sql("SELECT holder, since, until FROM leases WHERE name = ").arg(name)
	err = query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		held = &leaseRow{name: name}
		return rows.Scan(&held.holder, utc{&held.Since}, zeroUTC{&held.Until})
	})
	return held, err
}

// process is the holder without what tells the claims of one process apart.
func (c *leaseRow) process() string {
	name, _, _ := strings.Cut(c.holder, " ")
	return name
}

func (c *leaseRow) busy() *BusyError {
	return &BusyError{Name: c.name, Holder: c.process(), Since: c.Since, Until: c.Until}
}

// leased is a *BusyError while somebody holds the lease. Whoever was killed on this machine does not.
func (l *Ledger) leased(ctx context.Context, name string) error {
	read := l.read.WithContext(ctx)
	held, err := l.leaseRow(read, name)
	if err != nil || held == nil || held.Until.IsZero() {
		return err
	}
	now, err := l.clockOf(read)
	switch {
	case err != nil, !now.Before(held.Until):
		return err
	case isGone(held.process()):
		return l.endLease(ctx, name, held.holder)
	}
	return held.busy()
}

// holderName is "host/pid" of this process.
func holderName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return strings.ReplaceAll(host, " ", "_") + "/" + strconv.Itoa(os.Getpid())
}

// isGone is true for a process of this machine that has ended. (Seen from another container of the same host name a living one may seem
// so too: then its lease passes on early, and it is told so.)
func isGone(process string) bool {
	ours := holderName()
	at := strings.LastIndexByte(process, '/')
	if at < 0 || process[:at] != ours[:strings.LastIndexByte(ours, '/')] {
		return false
	}
	pid, err := strconv.Atoi(process[at+1:])
	if err != nil || pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
