package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

const gapColumns = `id, account, date, kind, differs, entry_kind, transaction_id, order_id, parent_id, refund_order_id, state, statement,
 ledger, "order", reason, next, first_run, last_run, waits_for, decided_on, healed_run, resolution, first_seen, resolved_at, owner, due_on`

// gapWidth is the number of gapColumns, gapChunk how many gaps are written by one statement: what it says is in memory once more.
const (
	gapWidth = 26
	gapChunk = 100
)

// putGaps writes gaps as they shall be, new ones and known ones alike.
func (l *Ledger) putGaps(tx *gorm.DB, gaps []*models.Gap) error {
	return eachChunk(gaps, gapChunk, func(chunk []*models.Gap) error {
		b := l.sized("INSERT INTO gaps ("+gapColumns+") VALUES ", gapWidth*len(chunk))
		for i, g := range chunk {
			values, err := gapValues(g)
			if err != nil {
				return err
			}
			b.row(i == 0, values...)
		}
		b.add(` ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, differs = excluded.differs, transaction_id = excluded.transaction_id,
 order_id = excluded.order_id, parent_id = excluded.parent_id, refund_order_id = excluded.refund_order_id, state = excluded.state,
 statement = excluded.statement, ledger = excluded.ledger, "order" = excluded."order", reason = excluded.reason, next = excluded.next,
 last_run = excluded.last_run, waits_for = excluded.waits_for, decided_on = excluded.decided_on, healed_run = excluded.healed_run,
 resolution = excluded.resolution, resolved_at = excluded.resolved_at, owner = excluded.owner, due_on = excluded.due_on`)
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

// addGaps writes gaps that no row is of yet: by COPY where there is a connection to do it by, since a bad day has very many.
func (l *Ledger) addGaps(tx *gorm.DB, conn *sql.Conn, gaps []*models.Gap) error {
	if conn == nil {
		return l.putGaps(tx, gaps)
	}
	return copyRows(tx, conn, "gaps", gapColumns, len(gaps), func(i int) ([]any, error) { return gapValues(gaps[i]) })
}

// gapValues are those of gapColumns.
func gapValues(g *models.Gap) ([]any, error) {
	texts := make([]string, 5)
	for i, v := range []any{g.Differs, g.Statement, g.Ledger, g.Order, g.WaitsFor} {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	var resolved any
	if g.ResolvedAt != nil {
		resolved = micros(*g.ResolvedAt)
	}
	return []any{g.ID, g.Account, g.Date, string(g.Kind), texts[0], string(g.EntryKind), g.TransactionID, g.OrderID, g.ParentID,
		g.RefundOrderID, string(g.State), texts[1], texts[2], texts[3], g.Reason, g.Next, g.FirstRun, g.LastRun, texts[4], g.DecidedOn,
		g.HealedRun, g.Resolution, micros(g.FirstSeen), resolved, g.Owner, g.DueOn}, nil
}

// scanGap reads gapColumns, and what stands behind them.
func scanGap(rows *sql.Rows, more ...any) (models.Gap, error) {
	var g models.Gap
	var differs, statement, ledger, order, waits string
	err := rows.Scan(append([]any{&g.ID, &g.Account, &g.Date, &g.Kind, &differs, &g.EntryKind, &g.TransactionID, &g.OrderID, &g.ParentID,
		&g.RefundOrderID, &g.State, &statement, &ledger, &order, &g.Reason, &g.Next, &g.FirstRun, &g.LastRun, &waits, &g.DecidedOn,
		&g.HealedRun, &g.Resolution, utc{&g.FirstSeen}, nullUTC{&g.ResolvedAt}, &g.Owner, &g.DueOn}, more...)...)
	if err != nil {
		return g, err
	}
	return g, errors.Join(json.Unmarshal([]byte(differs), &g.Differs), json.Unmarshal([]byte(statement), &g.Statement),
		json.Unmarshal([]byte(ledger), &g.Ledger), json.Unmarshal([]byte(order), &g.Order), json.Unmarshal([]byte(waits), &g.WaitsFor))
}

func selectGaps(tx *gorm.DB, b *builder) (list []models.Gap, err error) {
	err = query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		g, err := scanGap(rows)
		list = append(list, g)
		return err
	})
	return list, err
}

// GapFilter narrows a list of gaps. Zero fields do not filter.
type GapFilter struct {
	Account   string
	State     models.GapState
	Kind      models.GapKind
	Date      string  // business day, YYYY-MM-DD
	From, To  string  // business days, both included
	Owner     *string // nil: anybody's; "": nobody's
	DueBefore string  // YYYY-MM-DD: with a due date before this one
	// Overdue, if not nil, is the date of today in the zone of each account, that of "" for all others: not resolved, and due before it.
	Overdue map[string]string
	// SeenBefore, if not nil, is a time for each account, that of "" for all others: first seen before it.
	SeenBefore map[string]time.Time
	Page
}

// narrow adds the filter's conditions.
func (f *GapFilter) narrow(b *builder) {
	for _, c := range []struct{ condition, value string }{
		{"account = ", f.Account}, {"state = ", string(f.State)}, {"kind = ", string(f.Kind)},
		{"date = ", f.Date}, {"date >= ", f.From}, {"date <= ", f.To}, {"due_on <> '' AND due_on < ", f.DueBefore},
	} {
		if c.value != "" {
			b.add(" AND " + c.condition).arg(c.value)
		}
	}
	if f.Owner != nil {
		b.add(" AND owner = ").arg(*f.Owner)
	}
	if f.Overdue != nil {
		b.add(" AND state <> 'resolved' AND due_on <> ''")
		byAccount(b, "due_on < ", f.Overdue)
	}
	if f.SeenBefore != nil {
		byAccount(b, "first_seen < ", f.SeenBefore)
	}
}

// byAccount adds a condition with a value for each account, and that of "" for all others.
func byAccount[T any](b *builder, condition string, values map[string]T) {
	names := slices.Sorted(maps.Keys(values))
	others := []any{""}
	b.add(" AND (1=0")
	for _, name := range names {
		if name != "" {
			b.add(" OR account = ").arg(name).add(" AND " + condition).arg(values[name])
			others = append(others, name)
		}
	}
	if value, given := values[""]; given {
		b.add(" OR account NOT IN ").list(others...).add(" AND " + condition).arg(value)
	}
	b.add(")")
}

// Gaps lists gaps, newest first, and the cursor of the next page ("" at the end).
func (l *Ledger) Gaps(ctx context.Context, f GapFilter) ([]models.Gap, string, error) {
	b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE 1=1")
	f.narrow(b)
	if err := b.page(f.Page, "first_seen", "id"); err != nil {
		return nil, "", err
	}
	list, err := selectGaps(l.read.WithContext(ctx), b)
	list, next := cutPage(f.Page, list, func(last *models.Gap) string { return cursor(last.FirstSeen, last.ID) })
	return list, next, err
}

// OneSided lists the gaps of other dates that the statement of this date may settle: missing_provider and missing_local that are
// open or carried, and those that runs of this date have decided before. Of all that there are, only those are kept that keep wants.
func (l *Ledger) OneSided(ctx context.Context, account, date string, keep func(*models.Gap) bool) (list []models.Gap, err error) {
	b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE account = ").arg(account).add(" AND date <> ").arg(date)
	b.add(" AND (state IN ('open', 'carried') AND kind IN ('missing_local', 'missing_provider') OR decided_on <> '' AND decided_on = ").arg(date)
	err = query(l.read.WithContext(ctx), b.add(") ORDER BY date, id").String(), b.args, func(rows *sql.Rows) error {
		g, err := scanGap(rows)
		if err == nil && keep(&g) {
			list = append(list, g)
		}
		return err
	})
	return list, err
}

// Gap is one gap by its id, or by a beginning of it that no other gap has.
func (l *Ledger) Gap(ctx context.Context, id string) (models.Gap, error) {
	return l.gap(l.read.WithContext(ctx), id)
}

// isGapID says whether a gap's id could be, or begin, so.
func isGapID(id string) bool { return id != "" && strings.Trim(id, "0123456789abcdef") == "" }

func (l *Ledger) gap(tx *gorm.DB, id string) (models.Gap, error) {
	if !isGapID(id) {
		return models.Gap{}, fmt.Errorf("gap %q: %w: ids are of the digits 0-9 and a-f", id, ErrNotFound)
	}
	b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE id >= ").arg(id).add(" AND id < ").arg(id + "g").add(" ORDER BY id LIMIT 2")
	list, err := selectGaps(tx, b)
	switch {
	case err != nil:
		return models.Gap{}, err
	case len(list) == 0:
		return models.Gap{}, fmt.Errorf("gap %q: %w", id, ErrNotFound)
	case len(list) > 1:
		return models.Gap{}, fmt.Errorf("gap %q: several begin so, such as %s and %s; give more of the id", id, list[0].ID, list[1].ID)
	}
	return list[0], nil
}
