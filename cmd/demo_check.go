package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// record is one row of local_records.json: what the ledger must hold at the end.
type record struct {
	Kind          string    `json:"kind"`
	TransactionID string    `json:"transaction_id"`
	ParentID      string    `json:"parent_id"`
	OrderID       string    `json:"order_id"`
	RefundOrderID string    `json:"refund_order_id"`
	Amount        string    `json:"amount"`
	Currency      string    `json:"currency"`
	Status        string    `json:"status"`
	OccurredAt    time.Time `json:"occurred_at"`
}

// readKit decodes a file of the kit; false when this provider has none.
func (x *act) readKit(name string, into any) (bool, error) {
	raw, err := os.ReadFile(x.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}

// checkLedger holds the book against what the kit says it must hold: every record, and nothing else.
func (x *act) checkLedger(ctx context.Context) error {
	var records []record
	if has, err := x.readKit("local_records.json", &records); !has {
		return err
	}
	held := map[ledger.Name]models.Transaction{}
	err := x.book.Transactions(ctx, x.account.Name, time.Time{}, farFuture, func(t models.Transaction) error {
		held[ledger.Name{Account: t.Account, Kind: t.Kind, ID: t.TransactionID}] = t
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := x.checkRecord(ctx, r, held); err != nil {
			return err
		}
	}
	for name := range held {
		x.differ("ledger: %s %s is in no record", name.Kind, name.ID)
	}
	return nil
}

var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// checkRecord compares one record and takes its rows out of held.
func (x *act) checkRecord(ctx context.Context, r record, held map[ledger.Name]models.Transaction) error {
	kind, err := importedKind(r.Kind)
	if err != nil {
		return err
	}
	ids := append(ledger.RefundNames(r.ParentID, r.RefundOrderID), r.TransactionID)
	found, err := x.book.FindTransactions(ctx, namesFor(x.account, kind, ids...))
	if err != nil {
		return err
	}
	for _, t := range found {
		if diff := r.differs(kind, t); diff != "" {
			x.differ("ledger: %s %s: %s", kind, t.ShownID(), diff)
		}
		delete(held, ledger.Name{Account: t.Account, Kind: kind, ID: t.TransactionID})
		if back, reversed := reversedBy[strings.ToLower(r.Status)]; reversed {
			name := ledger.Name{Account: t.Account, Kind: back, ID: t.TransactionID}
			if _, ok := held[name]; !ok {
				x.differ("ledger: %s %s: missing", back, t.ShownID())
			}
			delete(held, name)
		}
		return nil
	}
	x.differ("ledger: %s %s%s: missing", kind, r.TransactionID, r.RefundOrderID)
	return nil
}

// reversedBy is the row that a record of this status stands for beside its own.
var reversedBy = map[string]models.TransactionKind{"won": models.ChargebackReversal, "reversed": models.RefundReversal}

// differs says what a row does not hold as recorded; "" when all is well. A refund that is still pending is dated by the one who asked
// for it, which no callback tells.
func (r record) differs(kind models.TransactionKind, t models.Transaction) string {
	status := models.StatusPending
	if events, err := importedEvents(kind, r.Status); err == nil {
		status = statusAfter[events[0]]
	}
	money, err := models.ParseMajor(r.Amount, r.Currency)
	switch {
	case err != nil || t.Money() != money:
		return fmt.Sprintf("got %s, want %s %s", t.Money(), r.Amount, r.Currency)
	case t.Status != status:
		return fmt.Sprintf("got %s, want %s", t.Status, status)
	case r.OrderID != "" && t.OrderID != r.OrderID:
		return fmt.Sprintf("got order %q, want %q", t.OrderID, r.OrderID)
	case t.Status != models.StatusPending && !t.OccurredAt.Equal(r.OccurredAt):
		return fmt.Sprintf("got %s, want %s", t.OccurredAt, r.OccurredAt.UTC())
	}
	return ""
}

// statusAfter is the status a row has by an event.
var statusAfter = map[models.EventKind]models.TransactionStatus{
	models.PaymentPending: models.StatusPending, models.PaymentAuthorised: models.StatusAuthorised,
	models.PaymentSucceeded: models.StatusSucceeded, models.PaymentFailed: models.StatusFailed, models.PaymentClosed: models.StatusClosed,
	models.RefundPending: models.StatusPending, models.RefundAbnormal: models.StatusPending, models.RefundSucceeded: models.StatusSucceeded,
	models.RefundFailed: models.StatusFailed, models.RefundClosed: models.StatusClosed,
	models.DisputeOpened: models.StatusSucceeded, models.DisputeLost: models.StatusSucceeded, models.DisputeWon: models.StatusSucceeded,
	models.PayoutPending: models.StatusPending, models.PayoutPaid: models.StatusSucceeded, models.PayoutFailed: models.StatusFailed,
}
