package ledger

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
)

// Lease is the claim of one process to do a long job: the run of an account and date, a repair. It ends by itself unless it is renewed,
// so that a process that was killed holds nothing up for long. And so one that only stalled may wake to find that its lease has passed to
// another. What keeps it from writing then is the fence, a number that grows with every holder of the name: whatever is written under a
// lease is written in a transaction that first proves that it is still this one's (hold).
type Lease struct {
	l            *Ledger
	name, holder string
	length       time.Duration
	fence        int64
}

// RunLease is the name of the lease under which the run of an account and date is made.
func RunLease(account, date string) string { return "run/" + account + "/" + date }

// Lease takes the lease of a name, JOB/WHICH such as run/shop/2026-11-28, for so long, by the database's clock. A *BusyError tells who
// has it. UnderLease also renews it and gives it back.
func (l *Ledger) Lease(ctx context.Context, name string, length time.Duration) (*Lease, error) {
	s := &Lease{l: l, name: name, holder: holderName() + " " + uuid.NewString(), length: length}
	if err := s.begin(ctx); err != nil {
		s.unlock(ctx)
		return nil, err
	}
	return s, nil
}

// begin looks before it writes, unless a lock in front lets it pass: a look is answered at once, even while the holder is writing.
func (s *Lease) begin(ctx context.Context) error {
	if !s.lock(ctx) {
		if err := s.l.leased(ctx, s.name); err != nil {
			return err
		}
	}
	const tries = 3 // whoever was first may have ended meanwhile
	for range tries {
		if took, err := s.take(ctx); took || err != nil {
			return s.blocked(ctx, err)
		}
		if err := s.l.leased(ctx, s.name); err != nil {
			return err
		}
	}
	now, err := s.l.Clock(ctx)
	if err == nil {
		err = &BusyError{Name: s.name, Holder: "others, in turn", Since: now, Until: now}
	}
	return err
}

// take writes the claim unless another's stands. Repeated because the answer to its commit was lost, it finds its own.
func (s *Lease) take(ctx context.Context) (took bool, err error) {
	err = s.l.retryTx(ctx, func(tx *gorm.DB) error {
		took = false
		now, err := s.l.clockOf(tx)
		if err != nil {
			return err
		}
		b := s.l.sql("INSERT INTO leases (name, holder, fence, since, until) VALUES ")
		b.list(s.name, s.holder, 1, micros(now), micros(now.Add(s.length)))
		b.add(" ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = leases.fence + 1, since = excluded.since, until = excluded.until")
		b.add(" WHERE leases.until IS NULL OR leases.until <= excluded.since OR leases.holder = excluded.holder RETURNING fence")
		return query(tx, b.String(), b.args, func(rows *sql.Rows) error { took = true; return rows.Scan(&s.fence) })
	})
	return took && err == nil, err
}

// blocked makes a *BusyError of a claim that could not be written because somebody who holds the lease is writing: it may be overdue by
// then, but passes to nobody before that transaction has ended.
func (s *Lease) blocked(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || !lockWaited(err) {
		return err
	}
	held, readErr := s.l.leaseRow(s.l.read.WithContext(ctx), s.name)
	if readErr != nil || held == nil || held.Until.IsZero() {
		return err
	}
	return held.busy()
}

// Fence is this holder's number: greater than that of any holder of the name before it, smaller than that of any after it.
func (s *Lease) Fence() int64 { return s.fence }

// Renew makes the lease last for its length from now on, by the database's clock. One that has passed to another is a *LostLease; one
// that is overdue and nobody has taken is renewed.
func (s *Lease) Renew(ctx context.Context) error {
	err := s.l.onceTx(ctx, func(tx *gorm.DB) error {
		now, err := s.l.clockOf(tx)
		if err != nil {
			return err
		}
		return s.update(tx, s.l.sql("UPDATE leases SET until = ").arg(micros(now.Add(s.length))))
	})
	if err == nil {
		s.relock(ctx)
	}
	return err
}

// End gives the lease back: nothing can be written under it any more. One that has passed to another stays theirs.
func (s *Lease) End(ctx context.Context) error {
	s.unlock(ctx)
	return s.l.endLease(ctx, s.name, s.holder)
}

// endLease keeps the row, whose fence the next holder's follows.
func (l *Ledger) endLease(ctx context.Context, name, holder string) error {
	return l.retryTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("UPDATE leases SET until = NULL WHERE name = ").arg(name).add(" AND holder = ").arg(holder)
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

// silence is for how many lengths of its lease a holder may fall silent in the middle of a transaction: longer than outside of one, for it
// may be busy putting a large report together.
const silence = 4

// hold is how a transaction that writes under the lease begins. It is a *LostLease when the lease is not this one's any more; otherwise
// the lease passes to nobody before the transaction has ended. A nil lease has nothing to prove.
func (s *Lease) hold(tx *gorm.DB) error {
	if s == nil {
		return nil
	}
	if err := s.l.endWhenSilent(tx, silence*s.length); err != nil {
		return err
	}
	return s.update(tx, s.l.sql("UPDATE leases SET fence = fence"))
}

// update changes the lease's row while it is this one's.
func (s *Lease) update(tx *gorm.DB, b *builder) error {
	b.add(" WHERE name = ").arg(s.name).add(" AND holder = ").arg(s.holder).add(" AND fence = ").arg(s.fence).add(" AND until IS NOT NULL")
	res, err := exec(tx, b.String(), b.args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	now, err := s.l.leaseRow(tx, s.name)
	if err != nil {
		return err
	}
	lost := &LostLease{Name: s.name}
	if now != nil && now.holder != s.holder {
		lost.Holder, lost.Since, lost.Ended = now.process(), now.Since, now.Until.IsZero()
	}
	return lost
}
