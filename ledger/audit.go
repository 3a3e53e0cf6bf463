package ledger

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
)

// Actors that are no persons.
const (
	ActorRun       = "run"       // a daily run
	ActorMigration = "migration" // what was there before the log was
	actorUnnamed   = "unnamed"
)

// NoPersons are the actors above: no person may take their names.
var NoPersons = []string{ActorRun, ActorMigration, actorUnnamed}

// AuditEntry is one thing that was done, to be added to the audit log.
type AuditEntry struct {
	Actor   string // a person's name, or one of the actors above
	Action  string // such as gap.resolved
	Subject string // what it was done to: gap/ID, run/ID, repair/ID, archive/…
	Detail  any    // of JSON; nil: {}
}

// AuditRow is an entry as it stands in the log.
type AuditRow struct {
	Seq      int64 // 1, 2, 3 …
	At       time.Time
	Actor    string
	Action   string
	Subject  string
	Detail   string // JSON
	Previous string // the hash of the row before; "" for the first
	Hash     string
}

// sum is the hash of the row: SHA-256 in hex over all its other columns as netstrings (length:bytes,) in the order below, so that no two
// rows have the same bytes. The time is in microseconds since 1970.
func (r *AuditRow) sum() string {
	sum := sha256.Sum256(netstrings(r.Previous, strconv.FormatInt(r.Seq, 10), strconv.FormatInt(r.At.UnixMicro(), 10), r.Actor, r.Action, r.Subject, r.Detail))
	return hex.EncodeToString(sum[:])
}

// auditChunk is how many rows are hashed and written at once.
const auditChunk = 250

// auditWait is how long an entry waits for others who add to the log: a run with many gaps holds it for seconds.
const auditWait = 15 * time.Second

// audit adds entries to the log. It is called in the transaction that makes the change, after all of its other writes: the log's head is
// the last lock that anybody takes, so nobody who holds it waits for another.
func (l *Ledger) audit(tx *gorm.DB, entries ...AuditEntry) error {
	return l.auditAll(tx, nil, slices.Values(entries))
}

// auditAll is audit for more entries than should be in memory at once. Without any it takes no lock.
func (l *Ledger) auditAll(tx *gorm.DB, conn *sql.Conn, entries iter.Seq[AuditEntry]) error {
	w := auditWriter{l: l, tx: tx, conn: conn}
	for e := range entries {
		if err := w.add(e); err != nil {
			return err
		}
	}
	return w.close()
}

// auditWriter continues the chain within one transaction.
type auditWriter struct {
	l      *Ledger
	tx     *gorm.DB
	conn   *sql.Conn // see inConnTx
	head   AuditRow  // the last row; only what the chain needs of it
	locked bool
	rows   []AuditRow // not written yet, without their place in the chain
}

func (w *auditWriter) add(e AuditEntry) error {
	detail, err := auditDetail(e.Detail)
	if err != nil {
		return fmt.Errorf("audit log: %s of %s: %w", e.Action, e.Subject, err)
	}
	w.rows = append(w.rows, AuditRow{Actor: storable(e.Actor), Action: e.Action, Subject: storable(e.Subject), Detail: detail})
	if len(w.rows) < auditChunk {
		return nil
	}
	return w.flush()
}

func auditDetail(v any) (string, error) {
	if v == nil {
		return "{}", nil
	}
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	err := out.Encode(v)
	return strings.TrimSuffix(text.String(), "\n"), err
}

// storable is text that both databases give back as they got it: what is hashed must be what is read.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func (w *auditWriter) flush() error {
	if len(w.rows) == 0 {
		return nil
	}
	if !w.locked {
		if err := w.lock(); err != nil {
			return err
		}
	}
	at := w.l.clock()
	for i := range w.rows {
		r := &w.rows[i]
		r.Seq, r.At, r.Previous = w.head.Seq+1, at, w.head.Hash
		r.Hash = r.sum()
		w.head = *r
	}
	err := w.write()
	w.rows = w.rows[:0]
	return err
}

func (w *auditWriter) write() error {
	values := func(i int) ([]any, error) {
		r := &w.rows[i]
		return []any{r.Seq, r.At, r.Actor, r.Action, r.Subject, r.Detail, r.Previous, r.Hash}, nil
	}
	if w.conn != nil && len(w.rows) == auditChunk { // one of very many
		return copyRows(w.tx, w.conn, "audit", auditColumns, len(w.rows), values)
	}
	b := w.l.sized("INSERT INTO audit ("+auditColumns+") VALUES ", 8*len(w.rows))
	for i := range w.rows {
		row, _ := values(i)
		b.row(i == 0, row...)
	}
	_, err := exec(w.tx, b.String(), b.args...)
	return err
}

const auditColumns = "seq, at, actor, action, subject, detail, previous, hash"

// errNoHead stops every change that the log could not tell of.
var errNoHead = errors.New("the audit log has no head, somebody has deleted the row of the table audit_head: nothing is changed that the log cannot tell of; " +
	"see `app audit verify`, and put the row back from a backup")

// lock takes the end of the chain, until the transaction ends.
func (w *auditWriter) lock() error {
	if err := w.l.waitLonger(w.tx, auditWait); err != nil {
		return err
	}
	err := query(w.tx, "UPDATE audit_head SET seq = seq WHERE name = 'audit' RETURNING seq, hash", nil, func(rows *sql.Rows) error {
		w.locked = true
		return rows.Scan(&w.head.Seq, &w.head.Hash)
	})
	if err == nil && !w.locked {
		return errNoHead
	}
	return err
}

func (w *auditWriter) close() error {
	if err := w.flush(); err != nil || !w.locked {
		return err
	}
	b := w.l.sql("UPDATE audit_head SET seq = ").arg(w.head.Seq).add(", hash = ").arg(w.head.Hash).add(" WHERE name = 'audit'")
	_, err := exec(w.tx, b.String(), b.args...)
	return err
}
