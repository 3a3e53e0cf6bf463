package ledger

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

const repairItemColumns = `repair_id, gap_id, place, state, gap_kind, gap_hash, kind, transaction_id, parent_id, order_id, refund_order_id,
 amount_minor, currency, status, occurred_at, event, file, line, why, next, outcome, topics, result, booked_as, booked_at, undo`

// repairItems reads a repair's items, in the order in which they are booked.
func (l *Ledger) repairItems(tx *gorm.DB, id string) (list []models.RepairItem, err error) {
	b := l.sql("SELECT " + repairItemColumns + " FROM repair_items WHERE repair_id = ").arg(id).add(" ORDER BY place")
	err = query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		i, err := scanRepairItem(rows)
		list = append(list, i)
		return err
	})
	return list, err
}

func scanRepairItem(rows *sql.Rows) (models.RepairItem, error) {
	var i models.RepairItem
	var event, topics, undo string
	err := rows.Scan(&i.RepairID, &i.GapID, &i.Place, &i.State, &i.GapKind, &i.GapHash, &i.Kind, &i.TransactionID, &i.ParentID, &i.OrderID,
		&i.RefundOrderID, &i.AmountMinor, &i.Currency, &i.Status, nullUTC{&i.OccurredAt}, &event, &i.File, &i.Line, &i.Why, &i.Next, &i.Outcome,
		&topics, &i.Result, &i.BookedAs, nullUTC{&i.BookedAt}, &undo)
	if err != nil {
		return i, err
	}
	return i, errors.Join(json.Unmarshal([]byte(event), &i.Event), json.Unmarshal([]byte(topics), &i.Topics), json.Unmarshal([]byte(undo), &i.Undo))
}

func (l *Ledger) insertRepair(tx *gorm.DB, r models.Repair) error {
	b := l.sql("INSERT INTO repairs (id, account, date, run_id, state, hash, made_by, made_at) VALUES ")
	b.list(r.ID, r.Account, r.Date, r.RunID, string(r.State), r.Hash, r.MadeBy, micros(r.MadeAt))
	if _, err := exec(tx, b.String(), b.args...); err != nil {
		return err
	}
	return eachChunk(r.Items, gapChunk, func(chunk []models.RepairItem) error {
		b := l.sized("INSERT INTO repair_items ("+repairItemColumns+") VALUES ", 26*len(chunk))
		for n, i := range chunk {
			event, topics, undo, err := repairTexts(i)
			if err != nil {
				return err
			}
			b.row(n == 0, r.ID, i.GapID, i.Place, string(i.State), string(i.GapKind), i.GapHash, string(i.Kind), i.TransactionID, i.ParentID, i.OrderID,
				i.RefundOrderID, i.AmountMinor, i.Currency, string(i.Status), atOrNull(i.OccurredAt), event, i.File, i.Line, i.Why, i.Next, string(i.Outcome),
				topics, i.Result, i.BookedAs, atOrNull(i.BookedAt), undo)
		}
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

func repairTexts(i models.RepairItem) (event, topics, undo string, err error) {
	texts := make([]string, 3)
	for n, v := range []any{i.Event, i.Topics, i.Undo} {
		text, err := json.Marshal(v)
		if err != nil {
			return "", "", "", fmt.Errorf("item %s: %w", i.GapID, err)
		}
		texts[n] = string(text)
	}
	return texts[0], texts[1], texts[2], nil
}

func atOrNull(at *time.Time) any {
	if at == nil {
		return nil
	}
	return micros(*at)
}

// putResult writes what came of an item that is still in the state it was read in.
func (l *Ledger) putResult(tx *gorm.DB, i models.RepairItem, was models.RepairItemState) error {
	_, _, undo, err := repairTexts(i)
	if err != nil {
		return err
	}
	b := l.sql("UPDATE repair_items SET state = ").arg(string(i.State)).add(", result = ").arg(i.Result).add(", booked_as = ").arg(i.BookedAs)
	b.add(", booked_at = ").arg(atOrNull(i.BookedAt)).add(", undo = ").arg(undo)
	b.add(" WHERE repair_id = ").arg(i.RepairID).add(" AND gap_id = ").arg(i.GapID).add(" AND state = ").arg(string(was))
	return changedOne(exec(tx, b.String(), b.args...))
}

// putState writes how far a repair has come, if it still is where it was read.
func (l *Ledger) putState(tx *gorm.DB, r models.Repair, was models.RepairState) error {
	b := l.sql("UPDATE repairs SET state = ").arg(string(r.State)).add(", approved_by = ").arg(r.ApprovedBy).add(", approved_at = ").arg(atOrNull(r.ApprovedAt))
	b.add(", applied_by = ").arg(r.AppliedBy).add(", applied_at = ").arg(atOrNull(r.AppliedAt)).add(", reversed_by = ").arg(r.ReversedBy)
	b.add(", reversed_at = ").arg(atOrNull(r.ReversedAt)).add(", reason = ").arg(r.Reason)
	b.add(" WHERE id = ").arg(r.ID).add(" AND state = ").arg(string(was))
	return changedOne(exec(tx, b.String(), b.args...))
}

// nextTurn keeps runs of an account from being saved until the transaction ends, and has one that is under way begin again: what it has
// read of the book is out of date.
func (l *Ledger) nextTurn(tx *gorm.DB, account string) error {
	b := l.sql("INSERT INTO turns (account, turn) VALUES ").list(account, 1)
	_, err := exec(tx, b.add(" ON CONFLICT (account) DO UPDATE SET turn = turns.turn + 1").String(), b.args...)
	return err
}

// itemStates reads how far items are.
func (l *Ledger) itemStates(tx *gorm.DB, id string, gaps []string) (map[string]models.RepairItemState, error) {
	states := make(map[string]models.RepairItemState, len(gaps))
	err := eachChunk(gaps, inChunk, func(chunk []string) error {
		b := l.sql("SELECT gap_id, state FROM repair_items WHERE repair_id = ").arg(id).add(" AND gap_id IN ").list(anys(chunk)...)
		return query(tx, b.String(), b.args, func(rows *sql.Rows) error {
			var gap string
			var state models.RepairItemState
			err := rows.Scan(&gap, &state)
			states[gap] = state
			return err
		})
	})
	return states, err
}
