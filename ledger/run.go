package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"paybook/models"
)

// runPatience is how long a run's one transaction may be begun again while the database is busy: longer than a callback's, for nobody
// waits at the other end. How long the transaction itself takes is the caller's to bound; so that one which fails after longer than
// that is not given up at once, it may always be tried runTries times.
const (
	runPatience = time.Minute
	runTries    = 3
)

// ErrMoved is returned by SaveRun when another run of the same account was saved since Turn: what was found may be out of date.
var ErrMoved = errors.New("another run of this account was saved meanwhile")

var errNothingNew = errors.New("nothing new")

// Findings is what a run has found out, for SaveRun to hold against what earlier runs of the account have found.
type Findings struct {
	Turn  int64  // the account's turn when the run began
	Lease *Lease // of the run; nil: none, for a run that nobody else can make
	// Kinds are the only kinds of transactions that the run has looked at, because its files hold no others; nil: all. What earlier
	// runs of the date have found of other kinds stays as it is.
	Kinds []models.TransactionKind
	// Gaps are those of the run's own date, and those of other dates that this run decides (DecidedOn is then the run's date).
	// They are open or carried. Saving fills in their runs and first days.
	Gaps []models.Gap
	// Many are further ones, each in a piece of memory of its own, so that a caller with very many can let them go one by one.
	Many []*models.Gap
	// Healed are ids of gaps of other dates that this run has settled.
	Healed  []string
	Crossed []Crossed
	Payouts []Payout // each once
	Steps   []PayoutStep
	Files   []StatementFile
	Bank    *BankFindings // of a run of a bank account; nil: it is none
}

// Crossed is a transaction matched by the statement of another day than its own. No run of its own day misses it.
type Crossed struct {
	Kind          models.TransactionKind
	TransactionID string
	Date          string // of the statement that has it
}

// StatementFile is a file that a run has read.
type StatementFile struct {
	Name          string
	Title         string // what the reader took it for
	SHA256        string // as it lies on the disk
	ContentSHA256 string // unpacked
	Compared      bool
	Batch         bool                   // a settlement batch with rows: it is this run's, and no other date's
	Only          models.TransactionKind // the one kind it can hold; "" is any
}

// Saved is what became of the findings.
type Saved struct {
	Gaps     []*models.Gap   // found and open or carried: those of the findings
	Left     []models.Gap    // of the run's date, open or carried, of kinds that it did not look at
	Accepted []models.Gap    // found as before, but resolved by a person: not open again
	Healed   []*models.Gap   // no longer found, or settled by this run
	New      map[string]bool // ids of gaps that no run had found before
	Kept     bool            // nothing new was learnt: nothing was written, and the run is the earlier one
}

// Turn counts the saved runs of an account.
func (l *Ledger) Turn(ctx context.Context, account string) (turn int64, err error) {
	b := l.sql("SELECT turn FROM turns WHERE account = ").arg(account)
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&turn) })
	return turn, err
}

// SaveRun writes a run and all it has found in one transaction, and sets the run's id. describe is called within it, with what
// became of the findings, to fill in the run's Result, Report and Fingerprint. A run whose fingerprint equals that of the last one
// of its account and date has learnt nothing new: nothing is written, and run becomes that earlier run. run.CreatedAt is the clock.
// A run whose lease has passed to another is a *LostLease. It takes as long as it takes, unless ctx ends; a database that is busy is tried again for a minute.
func (l *Ledger) SaveRun(ctx context.Context, run *models.Run, f Findings, describe func(*models.Run, Saved) error) (Saved, error) {
	var saved Saved
	began, tries := time.Now(), 0
	heals := func(err error) bool {
		tries++
		return retriable(err) && ctx.Err() == nil && (tries < runTries || time.Since(began) < runPatience)
	}
	err := retryWhile(ctx, heals, func() error {
		return l.inConnTx(ctx, func(tx *gorm.DB, conn *sql.Conn) (err error) {
			saved, err = l.saveRun(tx, conn, run, &f, describe)
			return err
		})
	})
	switch {
	case err == nil || errors.Is(err, errNothingNew):
		return saved, nil
	case retriable(err), ctx.Err() != nil:
		err = fmt.Errorf("%w; nothing of it was written, run it again when the database has time for it", err)
	}
	return Saved{}, fmt.Errorf("save run of %s, %s: %w", run.Account, run.Date, err)
}

func (l *Ledger) saveRun(tx *gorm.DB, conn *sql.Conn, run *models.Run, f *Findings, describe func(*models.Run, Saved) error) (Saved, error) {
	if err := f.Lease.hold(tx); err != nil {
		return Saved{}, err
	}
	if err := l.takeTurn(tx, run.Account, f.Turn); err != nil {
		return Saved{}, err
	}
	last, err := l.lastRun(tx, run.Account, run.Date)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Saved{}, err
	}
	run.ID = uuid.Must(uuid.NewV7()).String()
	m, err := l.mergeStored(tx, run, f)
	if err != nil {
		return Saved{}, err
	}
	if err := describe(run, m.Saved); err != nil {
		return Saved{}, err
	}
	if run.Fingerprint == last.Fingerprint && !m.changed {
		run.ID, run.CreatedAt = last.ID, last.CreatedAt
		m.Kept = true
		return m.Saved, errors.Join(describe(run, m.Saved), errNothingNew)
	}
	return m.Saved, l.writeRun(tx, conn, run, f, m)
}

// PreviewRun says what SaveRun would make of the findings, and writes nothing.
func (l *Ledger) PreviewRun(ctx context.Context, run models.Run, f Findings) (Saved, error) {
	m, err := l.mergeStored(l.read.WithContext(ctx), &run, &f)
	if err != nil {
		return Saved{}, err
	}
	return m.Saved, nil
}

func (l *Ledger) mergeStored(tx *gorm.DB, run *models.Run, f *Findings) (*merged, error) {
	return merge(run, f, func(meet func(models.Gap)) error { return l.storedGaps(tx, run, f, meet) })
}

// takeTurn makes runs of one account write one after the other, and refuses one that has begun before the last was saved. The lease does
// not do for that: it is one date's, while a run carries and heals gaps of other dates by what it has read of them.
func (l *Ledger) takeTurn(tx *gorm.DB, account string, seen int64) error {
	b := l.sql("INSERT INTO turns (account, turn) VALUES ").list(account, 1)
	b.add(" ON CONFLICT (account) DO UPDATE SET turn = turns.turn + 1 RETURNING turn")
	var turn int64
	if err := query(tx, b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&turn) }); err != nil {
		return err
	}
	if turn != seen+1 {
		return ErrMoved
	}
	return nil
}

func (l *Ledger) writeRun(tx *gorm.DB, conn *sql.Conn, run *models.Run, f *Findings, m *merged) error {
	files, err := json.Marshal(run.Files)
	if err != nil {
		return err
	}
	b := l.sql("INSERT INTO runs ("+runColumns+") VALUES ").list(run.ID, run.Account, run.Provider, run.Date, run.TimeZone,
		string(run.Result), string(files), run.Entries, run.ControlTotals, run.Report, run.Fingerprint, micros(run.CreatedAt))
	if _, err := exec(tx, b.String(), b.args...); err != nil {
		return err
	}
	fresh, known := m.split()
	if err := l.addGaps(tx, conn, fresh); err != nil {
		return err
	}
	for _, gaps := range [][]*models.Gap{known, m.ended} {
		if err := l.putGaps(tx, gaps); err != nil {
			return err
		}
	}
	if err := l.putCrossed(tx, run, f); err != nil {
		return err
	}
	if err := l.putPayouts(tx, run, f); err != nil {
		return err
	}
	if err := l.putPayoutSteps(tx, run, f); err != nil {
		return err
	}
	if err := l.putBank(tx, run, f.Bank); err != nil {
		return err
	}
	if err := l.putFiles(tx, run, f.Files); err != nil {
		return err
	}
	return l.auditAll(tx, conn, m.entries())
}

// words are kinds as the database spells them. A list without any is one that nothing is in.
func words(kinds []models.TransactionKind) []any {
	list := []any{""}
	for _, k := range kinds {
		list = append(list, string(k))
	}
	return list
}

// putCrossed replaces what the run's own statement has matched of other days, and adds what it has found of its neighbours'.
func (l *Ledger) putCrossed(tx *gorm.DB, run *models.Run, f *Findings) error {
	d := l.sql("DELETE FROM crossed WHERE account = ").arg(run.Account).add(" AND date = ").arg(run.Date)
	if f.Kinds != nil {
		d.add(" AND kind IN ").list(words(f.Kinds)...)
	}
	if _, err := exec(tx, d.String(), d.args...); err != nil {
		return err
	}
	return eachChunk(f.Crossed, inChunk, func(chunk []Crossed) error {
		b := l.sql("INSERT INTO crossed (account, kind, transaction_id, date) VALUES ")
		for i, c := range chunk {
			b.row(i == 0, run.Account, string(c.Kind), c.TransactionID, c.Date)
		}
		_, err := exec(tx, b.add(" ON CONFLICT (account, kind, transaction_id, date) DO NOTHING").String(), b.args...)
		return err
	})
}

func (l *Ledger) putFiles(tx *gorm.DB, run *models.Run, list []StatementFile) error {
	return eachChunk(list, inChunk, func(chunk []StatementFile) error {
		b := l.sql("INSERT INTO statements (account, date, sha256, name, title, content_sha256, compared, batch, only_kind, run_id, read_at) VALUES ")
		for i, f := range chunk {
			b.row(i == 0, run.Account, run.Date, f.SHA256, f.Name, f.Title, f.ContentSHA256, f.Compared, f.Batch, string(f.Only), run.ID, micros(run.CreatedAt))
		}
		_, err := exec(tx, b.add(" ON CONFLICT (account, date, sha256) DO NOTHING").String(), b.args...)
		return err
	})
}

// RefundNames lists what a refund may be stored under while the provider's id of it is not known: the shop's refund number alone,
// or behind the payment's id.
func RefundNames(parentID, refundOrderID string) []string {
	if refundOrderID == "" {
		return nil
	}
	names := []string{shopPrefix + refundOrderID}
	if parentID != "" {
		names = append(names, parentID+":"+refundOrderID)
	}
	return names
}
