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

	"github.com/google/uuid"
	"gorm.io/gorm"
)

// Lease is the claim of one process to make the run of an account and date. It ends by itself unless it is renewed, so that a process
// that was killed holds nothing up for long. It only keeps people from waiting for nothing: that no two runs are mixed up is what
// SaveRun's turn is for.
type Lease struct {
	l                     *Ledger
	account, date, holder string
}

// BusyError is a lease that somebody else holds.
type BusyError struct {
	Holder string    // host and process id
	Since  time.Time // UTC
	Until  time.Time // UTC: when it ends unless it is renewed
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the same run is under way since %s (%s); try again when it has ended (if it was killed, after %s)",
		e.Since.Format(time.RFC3339), e.Holder, e.Until.Format(time.RFC3339))
}

// Lease takes the lease of an account's run for so long, by the database's clock. A *BusyError tells who has it.
func (l *Ledger) Lease(ctx context.Context, account, date string, length time.Duration) (*Lease, error) {
	if err := l.leased(ctx, account, date); err != nil {
		return nil, err // read only, and so at once even while the other is saving
	}
	lease := &Lease{l, account, date, holderName() + " " + uuid.NewString()}
	now, err := l.Clock(ctx)
	if err != nil {
		return nil, err
	}
	var holder string
	err = l.retryTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("INSERT INTO leases (account, date, holder, since, until) VALUES ")
		b.list(account, date, lease.holder, micros(now), micros(now.Add(length)))
		b.add(" ON CONFLICT (account, date) DO UPDATE SET holder = excluded.holder, since = excluded.since, until = excluded.until")
		b.add(" WHERE leases.until <= excluded.since RETURNING holder")
		return query(tx, b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&holder) })
	})
	if err == nil && holder == "" {
		if err = l.leased(ctx, account, date); err == nil {
			err = &BusyError{Holder: "ended just now", Since: now.UTC(), Until: now.UTC()}
		}
	}
	if err != nil {
		return nil, err
	}
	return lease, nil
}

// leased is a *BusyError while somebody holds the lease. Whoever was killed on this machine does not.
func (l *Ledger) leased(ctx context.Context, account, date string) error {
	b := l.sql("SELECT holder, since, until FROM leases WHERE account = ").arg(account).add(" AND date = ").arg(date)
	var held *BusyError
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		held = &BusyError{}
		return rows.Scan(&held.Holder, utc{&held.Since}, utc{&held.Until})
	})
	if err != nil || held == nil {
		return err
	}
	now, err := l.Clock(ctx)
	if err != nil || !now.Before(held.Until) {
		return err
	}
	holder := held.Holder
	if isGone(holder) {
		return l.dropLease(ctx, account, date, holder)
	}
	held.Holder, _, _ = strings.Cut(holder, " ")
	return held
}

// Renew makes the lease last for so long from now on. One that somebody else has taken meanwhile stays theirs.
func (s *Lease) Renew(ctx context.Context, length time.Duration) error {
	now, err := s.l.Clock(ctx)
	if err != nil {
		return err
	}
	return s.l.retryTx(ctx, func(tx *gorm.DB) error {
		b := s.l.sql("UPDATE leases SET until = ").arg(micros(now.Add(length))).add(" WHERE account = ").arg(s.account)
		b.add(" AND date = ").arg(s.date).add(" AND holder = ").arg(s.holder)
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

// End gives the lease back.
func (s *Lease) End(ctx context.Context) error {
	return s.l.dropLease(ctx, s.account, s.date, s.holder)
}

func (l *Ledger) dropLease(ctx context.Context, account, date, holder string) error {
	return l.retryTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("DELETE FROM leases WHERE account = ").arg(account).add(" AND date = ").arg(date).add(" AND holder = ").arg(holder)
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

// holderName is "host/pid" of this process.
func holderName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return strings.ReplaceAll(host, " ", "_") + "/" + strconv.Itoa(os.Getpid())
}

// isGone is true for a process of this machine that has ended.
func isGone(holder string) bool {
	name, _, _ := strings.Cut(holder, " ")
	ours := holderName()
	at := strings.LastIndexByte(name, '/')
	if at < 0 || name[:at] != ours[:strings.LastIndexByte(ours, '/')] {
		return false
	}
	pid, err := strconv.Atoi(name[at+1:])
	if err != nil || pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
