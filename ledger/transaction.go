package ledger

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// Name is any name of a movement: the id it is stored under, or an alias.
type Name struct {
	Account string
	Kind    models.TransactionKind
	ID      string
}

// Transactions streams an account's transactions of from ≤ occurred_at < to, in time order, without loading them all.
func (l *Ledger) Transactions(ctx context.Context, account string, from, to time.Time, each func(models.Transaction) error) error {
	b := l.sql("SELECT " + transactionColumns + " FROM transactions WHERE account = ").arg(account)
	b.add(" AND occurred_at >= ").arg(micros(from)).add(" AND occurred_at < ").arg(micros(to)).add(" ORDER BY occurred_at, transaction_id")
	return selectTransactions(l.read.WithContext(ctx), b, each)
}

// FindTransactions reads transactions by any of their names; names nobody has are left out.
func (l *Ledger) FindTransactions(ctx context.Context, names map[Name]bool) (map[Name]models.Transaction, error) {
	look := make(map[key]bool, len(names))
	for n := range names {
		look[key{n.Account, n.Kind, n.ID}] = true
	}
	db := l.read.WithContext(ctx)
	aliases, err := l.loadAliases(db, look)
	if err != nil {
		return nil, err
	}
	wanted := make(map[key]bool, len(look))
	for k := range look {
		wanted[k] = true
		if id := aliases[k]; id != "" {
			wanted[key{k.account, k.kind, id}] = true
		}
	}
	rows := make(map[key]models.Transaction, len(wanted))
	if err := l.loadTransactions(db, wanted, func(t models.Transaction) error {
		rows[key{t.Account, t.Kind, t.TransactionID}] = t
		return nil
	}); err != nil {
		return nil, err
	}
	found := make(map[Name]models.Transaction, len(names))
	for k := range look {
		t, ok := rows[k]
		if !ok && aliases[k] != "" {
			t, ok = rows[key{k.account, k.kind, aliases[k]}]
		}
		if ok {
			found[Name{k.account, k.kind, k.id}] = t
		}
	}
	return found, nil
}

// Import is one movement of the shop's history, or of a repair: what happened, as the events that would have told it.
type Import struct {
	Account string
	Place   string // where it stands, for errors: "file.csv: row 3"
	Events  []models.Event
}

// ImportTransactions books movements through the engine that callbacks go through, all or nothing. A movement that is already there
// is left as it is; the same id with another content fails the import. Orders move, the shop is not told: it is its own history.
func (l *Ledger) ImportTransactions(ctx context.Context, movements iter.Seq2[Import, error]) (map[models.Outcome]int, error) {
	var counts map[models.Outcome]int
	var grown growing
	var start time.Time
	err := importing(ctx, l, movements, func(*gorm.DB) error {
		counts, grown, start = map[models.Outcome]int{}, growing{}, l.clock()
		return nil
	}, func(tx *gorm.DB, chunk []Import) error {
		if err := l.importChunk(tx, chunk, start, counts); err != nil {
			return err
		}
		return grown.chunk(l, tx, "transactions", "aliases")
	})
	maps.DeleteFunc(counts, func(_ models.Outcome, n int) bool { return n == 0 })
	return counts, err
}

func (l *Ledger) importChunk(tx *gorm.DB, chunk []Import, start time.Time, counts map[models.Outcome]int) error {
	deliveries := make([]*delivery, len(chunk))
	for i, m := range chunk {
		deliveries[i] = &delivery{account: m.Account, source: sourceImport, events: admit(m.Events)}
	}
	e := l.newEngine(tx, l.clock())
	if err := e.run(deliveries); err != nil {
		return err
	}
	for i, d := range deliveries {
		for j, outcome := range d.outcomes {
			if outcome == models.OutcomeConflict || outcome == models.OutcomeUnreadable {
				return fmt.Errorf("%s: %s %s: %s", chunk[i].Place, d.events[j].Kind, d.events[j].TransactionID, d.details[j])
			}
		}
		counts[news(d.outcomes)]++
	}
	for _, r := range e.placed { // a refund that stood before its payment in the same import has found it
		if r.Source == sourceImport && !r.CreatedAt.Before(start) && r.Outcome != models.OutcomeNoOrder {
			counts[models.OutcomeNoOrder]--
			counts[r.Outcome]++
		}
	}
	return nil
}

// news is the first outcome that tells something new; a movement all of whose events are repeats is a duplicate.
func news(outcomes []models.Outcome) models.Outcome {
	for _, o := range outcomes {
		if o != models.OutcomeDuplicate {
			return o
		}
	}
	return models.OutcomeDuplicate
}
