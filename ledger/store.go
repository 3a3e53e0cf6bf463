package ledger

import (
	"database/sql"
	"sort"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// key is a transaction's primary key, or an alias's.
type key struct {
	account string
	kind    models.TransactionKind
	id      string
}

func (k key) less(o key) bool {
	if k.account != o.account {
		return k.account < o.account
	}
	if k.kind != o.kind {
		return k.kind < o.kind
	}
	return k.id < o.id
}

// sortedKeys lists a set in the one order in which every transaction touches rows.
func sortedKeys[V any](set map[key]V) []key {
	list := make([]key, 0, len(set))
	for k := range set {
		list = append(list, k)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].less(list[j]) })
	return list
}

// inChunk bounds the arguments of one statement, far below PostgreSQL's 65,535 and SQLite's 32,766.
const inChunk = 1000

// whereKeys adds "(account = ? AND kind = ? AND id IN (…)) OR …": one index lookup a key on both databases, which a row-value IN
// over a VALUES list is not always. The account is compared in a way that no index serves: in a database without statistics the
// planner takes an index that begins with the account for as good as the key, and would read the account's whole book.
func (b *builder) whereKeys(id string, keys []key) *builder {
	for i := 0; i < len(keys); {
		j := i
		for j < len(keys) && keys[j].account == keys[i].account && keys[j].kind == keys[i].kind {
			j++
		}
		if i > 0 {
			b.add(" OR ")
		}
		b.add("(account || '' = ").arg(keys[i].account).add(" AND kind = ").arg(string(keys[i].kind)).add(" AND " + id + " IN ")
		ids := make([]any, 0, j-i)
		for _, k := range keys[i:j] {
			ids = append(ids, k.id)
		}
		b.list(ids...).add(")")
		i = j
	}
	return b
}

// eachChunk calls f with the keys, sorted, a chunk at a time.
func eachChunk[T any](list []T, size int, f func([]T) error) error {
	for len(list) > 0 {
		n := min(size, len(list))
		if err := f(list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// loadAliases reads what names stand for; names that are no alias are left out.
func (l *Ledger) loadAliases(tx *gorm.DB, names map[key]bool) (map[key]string, error) {
	found, p := map[key]string{}, pipe{tx: tx}
	l.pipeAliases(&p, names, found)
	return found, p.flush()
}

// pipeAliases adds selects of names to a pipe.
func (l *Ledger) pipeAliases(p *pipe, names map[key]bool, into map[key]string) {
	eachSlice(sortedKeys(names), func(keys []key) {
		p.read(l.sql("SELECT account, kind, alias, transaction_id FROM aliases WHERE ").whereKeys("alias", keys), func(rows scanner) error {
			var k key
			var id string
			err := rows.Scan(&k.account, &k.kind, &k.id, &id)
			into[k] = id
			return err
		})
	})
}

const transactionColumns = `account, kind, transaction_id, provider_id, parent_id, order_id, refund_order_id, amount_minor, currency,
 payer_minor, refunded_minor, derived, status, event, outcome, detail, source, callback_id, occurred_at, lost_at, created_at, updated_at`

// scanner is a row of either driver's result.
type scanner interface{ Scan(dest ...any) error }

func scanTransaction(rows scanner, t *models.Transaction) error {
	return rows.Scan(&t.Account, &t.Kind, &t.TransactionID, &t.ProviderID, &t.ParentID, &t.OrderID, &t.RefundOrderID, &t.AmountMinor,
		&t.Currency, &t.PayerMinor, &t.RefundedMinor, &t.Derived, &t.Status, &t.Event, &t.Outcome, &t.Detail, &t.Source, &t.CallbackID,
		utc{&t.OccurredAt}, zeroUTC{&t.LostAt}, utc{&t.CreatedAt}, utc{&t.UpdatedAt})
}

// selectTransactions runs "SELECT … FROM transactions" with the builder's rest.
func selectTransactions(tx *gorm.DB, b *builder, each func(models.Transaction) error) error {
	return query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		var t models.Transaction
		if err := scanTransaction(rows, &t); err != nil {
			return err
		}
		return each(t)
	})
}

// readInto adds a select of whole transactions to a pipe.
func readInto(p *pipe, b *builder, each func(models.Transaction) error) {
	p.read(b, func(rows scanner) error {
		var t models.Transaction
		if err := scanTransaction(rows, &t); err != nil {
			return err
		}
		return each(t)
	})
}

// readTransactions adds selects of rows by key to a pipe.
func (l *Ledger) readTransactions(p *pipe, keys map[key]bool, each func(models.Transaction) error) {
	eachSlice(sortedKeys(keys), func(chunk []key) {
		readInto(p, l.sql("SELECT "+transactionColumns+" FROM transactions WHERE ").whereKeys("transaction_id", chunk), each)
	})
}

// loadTransactions reads rows by key.
func (l *Ledger) loadTransactions(tx *gorm.DB, keys map[key]bool, each func(models.Transaction) error) error {
	p := pipe{tx: tx}
	l.readTransactions(&p, keys, each)
	return p.flush()
}

// pipeOrders adds selects of orders to a pipe.
func (l *Ledger) pipeOrders(p *pipe, ids []string, each func(models.Order) error) {
	eachSlice(ids, func(chunk []string) {
		p.read(l.sql("SELECT "+orderColumns+" FROM orders WHERE order_id IN ").list(anys(chunk)...), func(rows scanner) error {
			var o models.Order
			if err := scanOrder(rows, &o); err != nil {
				return err
			}
			return each(o)
		})
	})
}

// insertTransactions writes fresh rows, sorted by key. A row that is there by now means that somebody else was first: the unique key
// refuses it, and the whole transaction is repeated (retriable), which is cheaper than asking for each row whether it would be.
func (l *Ledger) insertTransactions(w *pipe, fresh []*models.Transaction) {
	eachSlice(fresh, func(chunk []*models.Transaction) {
		b := l.sized("INSERT INTO transactions ("+transactionColumns+") VALUES ", 22*len(chunk))
		for i, t := range chunk {
			b.row(i == 0, t.Account, string(t.Kind), t.TransactionID, t.ProviderID, t.ParentID, t.OrderID, t.RefundOrderID, t.AmountMinor,
				t.Currency, t.PayerMinor, t.RefundedMinor, t.Derived, string(t.Status), string(t.Event), string(t.Outcome), t.Detail, t.Source,
				t.CallbackID, t.OccurredAt, orNull(t.LostAt), t.CreatedAt, t.UpdatedAt)
		}
		w.write(b, len(chunk))
	})
}

// updateTransaction moves one row on, if it still is as it was read.
func (l *Ledger) updateTransaction(w *pipe, now *models.Transaction, was models.Transaction) {
	b := l.sql("UPDATE transactions SET ")
	for i, set := range []struct {
		column string
		value  any
	}{
		{"provider_id", now.ProviderID}, {"parent_id", now.ParentID}, {"order_id", now.OrderID}, {"refund_order_id", now.RefundOrderID},
		{"amount_minor", now.AmountMinor}, {"currency", now.Currency}, {"payer_minor", now.PayerMinor},
		{"refunded_minor", now.RefundedMinor}, {"derived", now.Derived}, {"status", string(now.Status)}, {"event", string(now.Event)},
		{"outcome", string(now.Outcome)}, {"detail", now.Detail}, {"source", now.Source}, {"callback_id", now.CallbackID},
		{"occurred_at", now.OccurredAt}, {"lost_at", orNull(now.LostAt)}, {"updated_at", now.UpdatedAt},
	} {
		if i > 0 {
			b.add(", ")
		}
		b.add(set.column + " = ").arg(set.value)
	}
	b.add(" WHERE ").whereKeys("transaction_id", []key{{was.Account, was.Kind, was.TransactionID}})
	b.add(" AND status = ").arg(string(was.Status)).add(" AND event = ").arg(string(was.Event)).add(" AND outcome = ").arg(string(was.Outcome))
	b.add(" AND refunded_minor = ").arg(was.RefundedMinor).add(" AND provider_id = ").arg(was.ProviderID).add(" AND amount_minor = ").arg(was.AmountMinor)
	w.write(b, 1)
}

const orderColumns = `order_id, amount_minor, currency, status, version, refunded_minor, shipped, prior_status, stock, paid_account,
 paid_transaction_id, expires_at, created_at, updated_at`

func scanOrder(rows scanner, o *models.Order) error {
	return rows.Scan(&o.OrderID, &o.AmountMinor, &o.Currency, &o.Status, &o.Version, &o.RefundedMinor, &o.Shipped, &o.PriorStatus,
		&o.Stock, &o.PaidAccount, &o.PaidTransactionID, nullUTC{&o.ExpiresAt}, utc{&o.CreatedAt}, utc{&o.UpdatedAt})
}

// lockOrders locks and reads orders in one statement that works on a cluster and on SQLite alike, where FOR UPDATE does not.
func (l *Ledger) lockOrders(tx *gorm.DB, ids []string, each func(models.Order)) error {
	sort.Strings(ids)
	return eachChunk(ids, inChunk, func(chunk []string) error {
		b := l.sql("UPDATE orders SET version = version WHERE order_id IN ").list(anys(chunk)...).add(" RETURNING " + orderColumns)
		return query(tx, b.String(), b.args, func(rows *sql.Rows) error {
			var o models.Order
			err := scanOrder(rows, &o)
			each(o)
			return err
		})
	})
}

var movedTypes = []string{"TEXT", "TEXT", "BIGINT", "TEXT", "BIGINT", "BIGINT", "TEXT", "TEXT", "TEXT", "BOOLEAN", "TEXT"}

// moveOrders writes the new states by compare-and-set: status and version must be what they were when the decision was made.
func (l *Ledger) moveOrders(w *pipe, moved []*orderWork, now time.Time) {
	eachSlice(moved, func(chunk []*orderWork) {
		b := l.sized(`UPDATE orders SET status = v.column4, version = v.column5, refunded_minor = v.column6, prior_status = v.column7, paid_account = v.column8,
 paid_transaction_id = v.column9, shipped = v.column10, stock = v.column11, updated_at = `, 11*len(chunk)+1)
		b.arg(now).add(" FROM (VALUES ")
		for i, o := range chunk {
			b.valuesRow(i == 0, movedTypes, o.OrderID, string(o.was.Status), o.was.Version, string(o.Status), o.Version, o.RefundedMinor,
				string(o.PriorStatus), o.PaidAccount, o.PaidTransactionID, o.Shipped, string(o.Stock))
		}
		w.write(b.add(") AS v WHERE orders.order_id = v.column1 AND orders.status = v.column2 AND orders.version = v.column3"), len(chunk))
	})
}

func (l *Ledger) insertTransitions(w *pipe, list []models.Transition) {
	eachSlice(list, func(chunk []models.Transition) {
		b := l.sized(`INSERT INTO transitions (order_id, version, "from", "to", event, account, kind, transaction_id, at) VALUES `, 9*len(chunk))
		for i, t := range chunk {
			b.row(i == 0, t.OrderID, t.Version, string(t.From), string(t.To), t.Event, t.Account, string(t.Kind), t.TransactionID, t.At)
		}
		w.write(b, len(chunk))
	})
}

func (l *Ledger) insertMessages(w *pipe, list []models.Message) {
	eachSlice(list, func(chunk []models.Message) {
		b := l.sized("INSERT INTO messages (order_id, id, topic, payload, created_at) VALUES ", 5*len(chunk))
		for i, m := range chunk {
			b.row(i == 0, m.OrderID, m.ID, m.Topic, m.Payload, m.CreatedAt)
		}
		w.write(b, len(chunk))
	})
}

// eachSlice calls f with a chunk of the list at a time.
func eachSlice[T any](list []T, f func([]T)) {
	_ = eachChunk(list, inChunk, func(chunk []T) error { f(chunk); return nil })
}
