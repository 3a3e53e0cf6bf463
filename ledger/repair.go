package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// ErrSecondPerson is wrapped when a repair needs another person than the one who planned it.
var ErrSecondPerson = errors.New("a second person must apply it")

// repairPatience is how long a repair's transaction may be begun again while others hold what it needs: a run that is being saved, orders
// that callbacks move. Nobody waits at the other end.
const repairPatience = time.Minute

// patientTx is inTx, repeated while that heals, for people who can wait.
func (l *Ledger) patientTx(ctx context.Context, f func(tx *gorm.DB) error) error {
	ctx, cancel := context.WithTimeout(ctx, repairPatience)
	defer cancel()
	return l.retrying(ctx, func() error { return l.inTx(ctx, f) })
}

// SamePerson says whether two names are one: blanks around them and capital letters make no second person.
func SamePerson(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// contentHash is over all that a plan says. A plan made again of the same findings has the same.
func contentHash(r models.Repair) string {
	h := sha256.New()
	h.Write(netstrings(r.Account, r.Date))
	for _, i := range r.Items {
		i.RepairID, i.Result, i.BookedAs, i.BookedAt, i.Undo = "", "", "", nil, nil
		if i.State != models.ItemNotRepairable {
			i.State = models.ItemPlanned
		}
		text, err := json.Marshal(i)
		if err != nil {
			panic(err) // times of the years that events may have, and plain values, always encode
		}
		h.Write(netstrings(string(text)))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// GapHash is over what a gap says, not where it stands.
func GapHash(g models.Gap) string {
	return hash16(GapEvidence(&g), string(g.EntryKind), g.TransactionID, g.OrderID, g.ParentID, g.RefundOrderID)
}

// RepairFilter narrows a list of repairs. Zero fields do not filter.
type RepairFilter struct {
	Account string
	State   models.RepairState
	Date    string // business day, YYYY-MM-DD
	Page
}

// Repairs lists repairs without their items, newest first, and the cursor of the next page ("" at the end).
func (l *Ledger) Repairs(ctx context.Context, f RepairFilter) ([]models.Repair, string, error) {
	b := l.sql("SELECT " + repairColumns + " FROM repairs WHERE 1=1")
	for _, c := range []struct{ condition, value string }{{"account = ", f.Account}, {"state = ", string(f.State)}, {"date = ", f.Date}} {
		if c.value != "" {
			b.add(" AND " + c.condition).arg(c.value)
		}
	}
	if err := b.page(f.Page, "made_at", "id"); err != nil {
		return nil, "", err
	}
	list, err := selectRepairs(l.read.WithContext(ctx), b)
	list, next := cutPage(f.Page, list, func(last *models.Repair) string { return cursor(last.MadeAt, last.ID) })
	return list, next, err
}

// Repair is one repair with its items, by its id or a beginning of it that no other repair has.
func (l *Ledger) Repair(ctx context.Context, id string) (models.Repair, error) {
	return l.repair(l.read.WithContext(ctx), id)
}

func (l *Ledger) repair(tx *gorm.DB, id string) (models.Repair, error) {
	if id == "" || strings.Trim(id, "0123456789abcdef-") != "" {
		return models.Repair{}, fmt.Errorf("repair %q: %w: ids are of the digits 0-9 and a-f, and -", short(id, 40), ErrNotFound)
	}
	b := l.sql("SELECT " + repairColumns + " FROM repairs WHERE id >= ").arg(id).add(" AND id < ").arg(id + "g").add(" ORDER BY id LIMIT 2")
	list, err := selectRepairs(tx, b)
	switch {
	case err != nil:
		return models.Repair{}, err
	case len(list) == 0:
		return models.Repair{}, fmt.Errorf("repair %q: %w", id, ErrNotFound)
	case len(list) > 1:
		return models.Repair{}, fmt.Errorf("repair %q: several begin so, such as %s and %s; give more of the id", id, list[0].ID, list[1].ID)
	}
	r := list[0]
	r.Items, err = l.repairItems(tx, r.ID)
	return r, err
}

const repairColumns = `id, account, date, run_id, state, hash, made_by, made_at, approved_by, approved_at, applied_by, applied_at, reversed_by,
 reversed_at, reason`

func selectRepairs(tx *gorm.DB, b *builder) (list []models.Repair, err error) {
	err = query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		var r models.Repair
		err := rows.Scan(&r.ID, &r.Account, &r.Date, &r.RunID, &r.State, &r.Hash, &r.MadeBy, utc{&r.MadeAt}, &r.ApprovedBy, nullUTC{&r.ApprovedAt},
			&r.AppliedBy, nullUTC{&r.AppliedAt}, &r.ReversedBy, nullUTC{&r.ReversedAt}, &r.Reason)
		list = append(list, r)
		return err
	})
	return list, err
}
