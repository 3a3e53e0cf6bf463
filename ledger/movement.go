package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"paybook/models"
)

// Movement is what a daily run needs to know of a transaction: as little as a day of ten million can afford.
type Movement struct {
	Kind       models.TransactionKind
	ID         string // what it is stored under
	ProviderID string
	ParentID   string
	Money      models.Money
	Status     models.TransactionStatus
	Outcome    models.Outcome
	OccurredAt time.Time // UTC
}

// Movements streams what a daily run needs of an account's transactions of from ≤ occurred_at < to, by time and then by id. What each is
// handed is good until it returns; its texts are parts of what many rows share (models.Arena), so who keeps one clones it. All are of one moment, whatever is booked meanwhile.
func (l *Ledger) Movements(ctx context.Context, account string, from, to time.Time, each func(*Movement) error) error {
	if l.dialect.name != postgresName {
		return l.selectMovements(ctx, account, from, to, each)
	}
	began := false
	err := l.copyMovements(ctx, account, from, to, func(m *Movement) error {
		began = true
		return each(m)
	})
	var pg *pgconn.PgError
	if !began && errors.As(err, &pg) && (pg.Code == notSupported || pg.Code == syntaxError) { // a cluster that speaks PostgreSQL, but for this
		return l.selectMovements(ctx, account, from, to, each)
	}
	return err
}

// PostgreSQL's codes of what a database does not know.
const (
	notSupported = "0A000"
	syntaxError  = "42601"
)

// movementColumns leave out what nearly every row has: a NULL costs the server less to send than a word, and us less to read.
const movementColumns = `transaction_id, occurred_at, amount_minor, currency, nullif(kind, 'payment'), nullif(status, 'succeeded'),
 nullif(outcome, 'applied'), nullif(provider_id, ''), nullif(parent_id, '')`

// movementCopied are the same, with what nearly every row has in one NULL: so it is quicker to send, and to read.
const movementCopied = `transaction_id, occurred_at, amount_minor, currency,
 CASE WHEN kind = 'payment' AND status = 'succeeded' AND outcome = 'applied' AND provider_id = '' AND parent_id = '' THEN NULL
 ELSE ARRAY[kind, status, outcome, provider_id, parent_id] END`

const movementOrder = " ORDER BY occurred_at, transaction_id"

// copyMovements reads by COPY in its binary form: the row protocol and a driver's conversions cost several times the reading itself.
func (l *Ledger) copyMovements(ctx context.Context, account string, from, to time.Time, each func(*Movement) error) error {
	pool, err := l.read.DB()
	if err != nil {
		return err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	err = conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the connection is a %T, not pgx's", driver)
		}
		pg := c.Conn().PgConn()
		quoted, err := pg.EscapeString(account) // COPY takes no arguments
		if err != nil {
			return err
		}
		text := "COPY (SELECT " + movementCopied + " FROM transactions WHERE account = '" + quoted + "' AND occurred_at >= '" +
			copyTime(from) + "' AND occurred_at < '" + copyTime(to) + "'" + movementOrder + ") TO STDOUT (FORMAT binary)"
		d := copyDecoder{each: each}
		if _, err := pg.CopyTo(ctx, &d, text); err != nil {
			return err
		}
		return d.end()
	})
	return errors.Join(err, conn.Close())
}

// copyTime is a moment as PostgreSQL reads it, to the microsecond that micros leaves of one.
func copyTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05.999999") + "+00" }

// selectMovements reads row by row.
func (l *Ledger) selectMovements(ctx context.Context, account string, from, to time.Time, each func(*Movement) error) error {
	b := l.sql("SELECT " + movementColumns + " FROM transactions WHERE account = ").arg(account)
	b.add(" AND occurred_at >= ").arg(micros(from)).add(" AND occurred_at < ").arg(micros(to)).add(movementOrder)
	words := wordsOf{}
	var m Movement
	var currency string
	var kind, status, outcome, provider, parent sql.NullString
	return query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		if err := rows.Scan(&m.ID, utc{&m.OccurredAt}, &m.Money.Minor, &currency, &kind, &status, &outcome, &provider, &parent); err != nil {
			return err
		}
		m.Money.Currency = words.of(currency)
		m.Kind, m.Status, m.Outcome = models.Payment, models.StatusSucceeded, models.OutcomeApplied
		if kind.Valid {
			m.Kind = models.TransactionKind(words.of(kind.String))
		}
		if status.Valid {
			m.Status = models.TransactionStatus(words.of(status.String))
		}
		if outcome.Valid {
			m.Outcome = models.Outcome(words.of(outcome.String))
		}
		m.ProviderID, m.ParentID = provider.String, parent.String
		return each(&m)
	})
}

// wordsOf keeps one copy of words that every row repeats.
type wordsOf map[string]string

func (w wordsOf) of(word string) string {
	known, ok := w[word]
	if !ok {
		w[word], known = word, word
	}
	return known
}
