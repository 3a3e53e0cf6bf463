package ledger

import (
	"context"

	"gorm.io/gorm"
)

// Audit adds entries to the log in a transaction of their own.
func (l *Ledger) Audit(ctx context.Context, entries ...AuditEntry) error {
	return l.retryTx(ctx, func(tx *gorm.DB) error { return l.audit(tx, entries...) })
}
