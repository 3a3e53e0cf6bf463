package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// Inquiry is something that a provider is to be asked about, because its message may have been lost. It is noted in the transaction that
// gives rise to it, and is there until somebody ends it.
type Inquiry struct {
	Subject string // order/ID, payment/ID, or callback/ID of a message that tells only where to look
	Account string // whom to ask; "" for an order: any that may have it
	Query   models.Query
	Since   time.Time
	Tries   int64
	NextAt  *time.Time // nil: given up
	LastAt  *time.Time // nil: not asked yet
	Result  string     // of the last time, for people
}

// What an inquiry's subject begins with.
const (
	AboutOrder    = "order/"
	AboutPayment  = "payment/"
	AboutCallback = "callback/"
)

const inquiryColumns = "subject, account, query, since, tries, next_at, last_at, result"

// lookUp notes events that say no more than where to look.
func (e *engine) lookUp(d *delivery) {
	for n, outcome := range d.outcomes {
		ev := d.events[n]
		id := cmp.Or(ev.TransactionID, ev.ParentID)
		if outcome == models.OutcomeNeedsFetch && (id != "" || ev.OrderID != "") {
			e.inquiries = append(e.inquiries, Inquiry{Subject: AboutCallback + d.callback, Account: d.account, Since: e.now, NextAt: &e.now,
				Query: models.Query{Kind: models.Payment, TransactionID: id, OrderID: ev.OrderID}})
		}
	}
}

// writeInquiries notes orders whose buyer was sent to a provider, and payments that a provider has begun.
func (e *engine) writeInquiries(moved []*orderWork) {
	if e.l.options.AskAfter == 0 {
		return
	}
	later := e.now.Add(e.l.options.AskAfter)
	for _, o := range moved {
		if o.Status == models.Paying && o.was.Status != models.Paying {
			e.inquiries = append(e.inquiries, orderInquiry(o.OrderID, e.now, later))
		}
	}
	for _, k := range sortedKeys(e.rows) {
		if r := e.rows[k]; r.Kind == models.Payment && r.Status == models.StatusPending && r.was == nil && !r.gone {
			e.inquiries = append(e.inquiries, Inquiry{Subject: AboutPayment + r.TransactionID, Account: r.Account, Since: e.now, NextAt: &later,
				Query: models.Query{Kind: models.Payment, TransactionID: r.ShownID(), OrderID: r.OrderID, OrderedAt: r.OccurredAt}})
		}
	}
	e.l.insertInquiries(&e.pipe, e.inquiries)
}

func orderInquiry(id string, at, next time.Time) Inquiry {
	return Inquiry{Subject: AboutOrder + id, Since: at, NextAt: &next, Query: models.Query{Kind: models.Payment, OrderID: id, OrderedAt: at}}
}

// askAbout notes orders that were made as paying.
func (l *Ledger) askAbout(tx *gorm.DB, made []models.Order, now time.Time) error {
	var list []Inquiry
	for _, o := range made {
		if statusOf(o) == models.Paying && l.options.AskAfter > 0 {
			list = append(list, orderInquiry(o.OrderID, now, now.Add(l.options.AskAfter)))
		}
	}
	p := pipe{tx: tx}
	l.insertInquiries(&p, list)
	return p.flush()
}

// insertInquiries notes what is not noted yet.
func (l *Ledger) insertInquiries(w *pipe, list []Inquiry) {
	slices.SortFunc(list, func(a, b Inquiry) int {
		return cmp.Or(strings.Compare(a.Subject, b.Subject), strings.Compare(a.Account, b.Account))
	})
	eachSlice(list, func(chunk []Inquiry) {
		b := l.sql("INSERT INTO inquiries (subject, account, query, since, next_at) VALUES ")
		for n, i := range chunk {
			text, _ := json.Marshal(i.Query) // plain values do not fail
			b.row(n == 0, i.Subject, i.Account, string(text), i.Since, atOrNull(i.NextAt))
		}
		w.write(b.add(" ON CONFLICT (subject, account) DO NOTHING"), anyRows)
	})
}

// DueInquiries lists whom to ask by now, the longest due first, up to limit.
func (l *Ledger) DueInquiries(ctx context.Context, limit int) (list []Inquiry, err error) {
	b := l.sql("SELECT " + inquiryColumns + " FROM inquiries WHERE next_at IS NOT NULL AND next_at <= ").arg(l.clock())
	b.add(" ORDER BY next_at, subject LIMIT ").arg(limit)
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		i, err := scanInquiry(rows)
		list = append(list, i)
		return err
	})
	return list, err
}

// Inquiry is one inquiry; ErrNotFound when there is none, or no more.
func (l *Ledger) Inquiry(ctx context.Context, subject, account string) (i Inquiry, err error) {
	b := l.sql("SELECT " + inquiryColumns + " FROM inquiries WHERE subject = ").arg(subject).add(" AND account = ").arg(account)
	found := false
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) (err error) {
		i, err = scanInquiry(rows)
		found = true
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("inquiry %s: %w", subject, ErrNotFound)
	}
	return i, err
}

func scanInquiry(rows *sql.Rows) (i Inquiry, err error) {
	var text string
	if err := rows.Scan(&i.Subject, &i.Account, &text, utc{&i.Since}, &i.Tries, nullUTC{&i.NextAt}, nullUTC{&i.LastAt}, &i.Result); err != nil {
		return i, err
	}
	return i, json.Unmarshal([]byte(text), &i.Query)
}

// PutInquiry notes how often an inquiry was tried, with what result, and when it is tried again; a NextAt of nil gives it up.
func (l *Ledger) PutInquiry(ctx context.Context, i Inquiry) error {
	return l.retryTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("UPDATE inquiries SET tries = ").arg(i.Tries).add(", next_at = ").arg(atOrNull(i.NextAt)).add(", last_at = ").arg(atOrNull(i.LastAt))
		b.add(", result = ").arg(short(i.Result, textMax)).add(" WHERE subject = ").arg(i.Subject).add(" AND account = ").arg(i.Account)
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

// EndInquiry takes away what needs no answer any more.
func (l *Ledger) EndInquiry(ctx context.Context, i Inquiry) error {
	return l.retryTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("DELETE FROM inquiries WHERE subject = ").arg(i.Subject).add(" AND account = ").arg(i.Account)
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}
