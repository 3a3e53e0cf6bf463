package ledger

import (
	"context"
	"time"
)

// HoldAs makes a lease another process's.
func (s *Lease) HoldAs(ctx context.Context, holder string) error {
	b := s.l.sql("UPDATE leases SET holder = ").arg(holder).add(" WHERE name = ").arg(s.name)
	_, err := exec(s.l.db.WithContext(ctx), b.String(), b.args...)
	s.holder = holder
	return err
}

// Age lets the lease be so much older than it is: what the database's clock does when it goes forward, or back by a negative time.
func (s *Lease) Age(ctx context.Context, by time.Duration) error {
	held, err := s.l.leaseRow(s.l.db.WithContext(ctx), s.name)
	if err != nil {
		return err
	}
	b := s.l.sql("UPDATE leases SET since = ").arg(micros(held.Since.Add(-by))).add(", until = ").arg(micros(held.Until.Add(-by)))
	b.add(" WHERE name = ").arg(s.name)
	_, err = exec(s.l.db.WithContext(ctx), b.String(), b.args...)
	return err
}

// Through is the lease as seen by another connection to the same database.
func (s *Lease) Through(l *Ledger) *Lease {
	other := *s
	other.l = l
	return &other
}

// Of is the lease of another name, as far as Age needs it.
func (s *Lease) Of(name string) *Lease { return &Lease{l: s.l, name: name} }

// SpoilStock makes a row say what no order does.
func (l *Ledger) SpoilStock(ctx context.Context, sku string, reserved int64) error {
	b := l.sql("UPDATE stock SET reserved = ").arg(reserved).add(" WHERE sku = ").arg(sku)
	_, err := exec(l.db.WithContext(ctx), b.String(), b.args...)
	return err
}
