package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

const verdictGenuine = "genuine"

// textMax bounds what is kept of a request's path, query and detail.
const textMax = 4096

// callbackID is the primary key: the same account, body and verdict is the same row, however often and from wherever it comes.
func callbackID(account, verdict string, body []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00", account, verdict)
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil)[:20])
}

// addEvidence merges repeats within one batch: an upsert cannot touch a row twice.
func addEvidence(evidence map[string]*models.Callback, cb models.Callback) {
	if first := evidence[cb.ID]; first != nil {
		first.Deliveries++
		if cb.ReceivedAt.After(first.LastReceivedAt) {
			first.LastReceivedAt = cb.ReceivedAt
		}
		return
	}
	cb.Deliveries, cb.LastReceivedAt = 1, cb.ReceivedAt
	cb.Path, cb.Query, cb.Detail = short(cb.Path, textMax), short(cb.Query, textMax), short(cb.Detail, textMax)
	evidence[cb.ID] = &cb
}

// onRepeat counts a repeat. What could not be read then and can be now (replayed after a fix) takes what it now says.
const onRepeat = ` ON CONFLICT (id) DO UPDATE SET deliveries = callbacks.deliveries + excluded.deliveries,
 last_received_at = CASE WHEN excluded.last_received_at > callbacks.last_received_at THEN excluded.last_received_at ELSE callbacks.last_received_at END,
 reason = CASE WHEN callbacks.outcome = 'unreadable' THEN excluded.reason ELSE callbacks.reason END,
 detail = CASE WHEN callbacks.outcome = 'unreadable' THEN excluded.detail ELSE callbacks.detail END,
 event = CASE WHEN callbacks.outcome = 'unreadable' THEN excluded.event ELSE callbacks.event END,
 transaction_id = CASE WHEN callbacks.outcome = 'unreadable' THEN excluded.transaction_id ELSE callbacks.transaction_id END,
 order_id = CASE WHEN callbacks.outcome = 'unreadable' THEN excluded.order_id ELSE callbacks.order_id END,
 status = CASE WHEN callbacks.outcome = 'unreadable' THEN excluded.status ELSE callbacks.status END,
 outcome = CASE WHEN callbacks.outcome = 'unreadable' THEN excluded.outcome ELSE callbacks.outcome END`

const callbackColumns = `id, account, method, path, query, headers, body, received_at, last_received_at, deliveries, verified, reason,
 detail, outcome, event, transaction_id, order_id, status`

func (l *Ledger) keepCallbacks(w *pipe, evidence map[string]*models.Callback) error {
	ids := make([]string, 0, len(evidence))
	for id := range evidence {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return eachChunk(ids, inChunk, func(chunk []string) error {
		b := l.sized("INSERT INTO callbacks ("+callbackColumns+") VALUES ", 18*len(chunk))
		for i, id := range chunk {
			cb := evidence[id]
			headers, err := json.Marshal(cb.Headers)
			if err != nil {
				return err
			}
			body := cb.Body
			if body == nil {
				body = []byte{}
			}
			b.row(i == 0, cb.ID, cb.Account, cb.Method, cb.Path, cb.Query, string(headers), body, micros(cb.ReceivedAt), micros(cb.LastReceivedAt),
				cb.Deliveries, cb.Verified, string(cb.Reason), cb.Detail, string(cb.Outcome), string(cb.Event), cb.TransactionID, cb.OrderID, cb.Status)
		}
		w.write(b.add(onRepeat), anyRows)
		return nil
	})
}

// CallbackFilter narrows a list of callbacks. Zero fields do not filter.
type CallbackFilter struct {
	Account  string
	Outcome  models.Outcome
	Reason   models.Reason
	Event    models.EventKind
	From, To time.Time // received, from ≤ t < to
	Page
}

// ErrNotFound is wrapped when a row asked for by its id is not there.
var ErrNotFound = errors.New("not found")

// Callbacks lists callbacks, newest first, and the cursor of the next page ("" at the end).
func (l *Ledger) Callbacks(ctx context.Context, f CallbackFilter) ([]models.Callback, string, error) {
	b := l.sql("SELECT " + callbackColumns + " FROM callbacks WHERE 1=1")
	if f.Account != "" {
		b.add(" AND account = ").arg(f.Account)
	}
	if f.Outcome != "" {
		b.add(" AND outcome = ").arg(string(f.Outcome))
	}
	if f.Reason != "" {
		b.add(" AND reason = ").arg(string(f.Reason))
	}
	if f.Event != "" {
		b.add(" AND event = ").arg(string(f.Event))
	}
	if !f.From.IsZero() {
		b.add(" AND received_at >= ").arg(micros(f.From))
	}
	if !f.To.IsZero() {
		b.add(" AND received_at < ").arg(micros(f.To))
	}
	if err := b.page(f.Page, "received_at", "id"); err != nil {
		return nil, "", err
	}
	var list []models.Callback
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		cb, err := scanCallback(rows)
		list = append(list, cb)
		return err
	})
	list, next := cutPage(f.Page, list, func(last *models.Callback) string { return cursor(last.ReceivedAt, last.ID) })
	return list, next, err
}

// Callback is one callback by its id, or by the beginning of it when only one begins so.
func (l *Ledger) Callback(ctx context.Context, id string) (models.Callback, error) {
	b := l.sql("SELECT " + callbackColumns + " FROM callbacks WHERE id >= ").arg(id).add(" AND id < ").arg(id + "g") // ids are hexadecimal
	var found []models.Callback
	err := query(l.read.WithContext(ctx), b.add(" ORDER BY id LIMIT 2").String(), b.args, func(rows *sql.Rows) error {
		cb, err := scanCallback(rows)
		found = append(found, cb)
		return err
	})
	switch {
	case err != nil:
		return models.Callback{}, err
	case len(found) == 0 || id == "":
		return models.Callback{}, fmt.Errorf("callback %q: %w", id, ErrNotFound)
	case len(found) > 1 && found[0].ID != id:
		return models.Callback{}, fmt.Errorf("callback %q: several begin so, give more of the id", id)
	}
	return found[0], nil
}

func scanCallback(rows *sql.Rows) (models.Callback, error) {
	var cb models.Callback
	var headers string
	err := rows.Scan(&cb.ID, &cb.Account, &cb.Method, &cb.Path, &cb.Query, &headers, &cb.Body, utc{&cb.ReceivedAt}, utc{&cb.LastReceivedAt},
		&cb.Deliveries, &cb.Verified, &cb.Reason, &cb.Detail, &cb.Outcome, &cb.Event, &cb.TransactionID, &cb.OrderID, &cb.Status)
	if err != nil {
		return cb, err
	}
	return cb, json.Unmarshal([]byte(headers), &cb.Headers)
}

// pruneRefused drops the oldest refused callbacks beyond the bounds of rows and of bytes.
func (l *Ledger) pruneRefused(ctx context.Context) error {
	b := l.sql(`SELECT received_at, id FROM (SELECT received_at, id,
 row_number() OVER (ORDER BY received_at DESC, id DESC) AS place, sum(length(body) + 1024) OVER (ORDER BY received_at DESC, id DESC) AS total
 FROM callbacks WHERE NOT verified) AS refused WHERE place > `).arg(l.options.RefusedRows).add(" OR total > ").arg(l.options.RefusedTotal)
	b.add(" ORDER BY received_at DESC, id DESC LIMIT 1")
	var at time.Time
	var id string
	if err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(utc{&at}, &id) }); err != nil || id == "" {
		return err
	}
	d := l.sql("DELETE FROM callbacks WHERE NOT verified AND (received_at < ").arg(at).add(" OR received_at = ").arg(at).add(" AND id <= ").arg(id).add(")")
	return l.retryTx(ctx, func(tx *gorm.DB) error {
		_, err := exec(tx, d.String(), d.args...)
		return err
	})
}
