package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// AlertMessage is something one sink is to be told, kept until it was.
type AlertMessage struct {
	Sink  string
	Key   string // what it is about; a sink is told once of a key
	Body  string // JSON of the message; "": there is nothing to tell, and the key is only remembered
	Tried int64  // before this try
	Made  time.Time
}

// States of rows of alerts.
const (
	alertPending = "pending"
	alertTold    = "told"
	alertQuiet   = "quiet"
	alertGivenUp = "given_up"
	alarmOn      = "on"
	alarmOver    = "over"
)

// TellOfGaps keeps a message about gaps, and remembers what was seen of each (gap id → evidence), in one transaction: so a gap is told of
// once, whoever is killed when. A message whose key is known is not kept again, and its gaps neither.
func (l *Ledger) TellOfGaps(ctx context.Context, m AlertMessage, seen map[string]string) error {
	return l.retryTx(ctx, func(tx *gorm.DB) error {
		kept, err := l.keepMessage(tx, m)
		if err != nil || !kept {
			return err
		}
		now := l.clock()
		return eachChunk(sortedStrings(seen), inChunk, func(ids []string) error {
			b := l.sql("INSERT INTO alerts (sink, key, state, made_at, due_at) VALUES ")
			for i, id := range ids {
				b.row(i == 0, m.Sink, "gap/"+id, seen[id], now, now)
			}
			b.add(" ON CONFLICT (sink, key) DO UPDATE SET state = excluded.state, made_at = excluded.made_at")
			_, err := exec(tx, b.String(), b.args...)
			return err
		})
	})
}

// Tell keeps a message that is about no gaps, unless its key is known.
func (l *Ledger) Tell(ctx context.Context, m AlertMessage) error { return l.TellOfGaps(ctx, m, nil) }

func (l *Ledger) keepMessage(tx *gorm.DB, m AlertMessage) (kept bool, err error) {
	now, state := l.clock(), alertPending
	if m.Body == "" {
		state = alertQuiet
	}
	b := l.sql("INSERT INTO alerts (sink, key, state, body, made_at, due_at) VALUES ").list(m.Sink, m.Key, state, m.Body, now, now)
	res, err := exec(tx, b.add(" ON CONFLICT (sink, key) DO NOTHING").String(), b.args...)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// Alarm says that something is the matter (on), or not any more, and keeps the messages when that is news; changed says whether it is.
// Each occurrence is told with messages of its own: their keys get its number.
func (l *Ledger) Alarm(ctx context.Context, key string, on bool, messages []AlertMessage) (changed bool, err error) {
	state := alarmOver
	if on {
		state = alarmOn
	}
	if is, err := l.alarmState(l.read.WithContext(ctx), key); err != nil || is == state || is == "" && !on {
		return false, err // as nearly always
	}
	err = l.retryTx(ctx, func(tx *gorm.DB) error {
		now := l.clock()
		b := l.sql("INSERT INTO alerts (sink, key, state, tried, made_at, due_at) VALUES ").list("", key, state, 1, now, now)
		b.add(" ON CONFLICT (sink, key) DO UPDATE SET state = excluded.state, tried = alerts.tried + 1, made_at = excluded.made_at WHERE alerts.state <> excluded.state RETURNING tried")
		number := int64(0)
		if err := query(tx, b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&number) }); err != nil {
			return err
		}
		changed = number > 0
		for _, m := range messages {
			m.Key = fmt.Sprintf("%s/%d", key, number)
			if !changed {
				break
			}
			if _, err := l.keepMessage(tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	return changed, err
}

func (l *Ledger) alarmState(tx *gorm.DB, key string) (state string, err error) {
	b := l.sql("SELECT state FROM alerts WHERE sink = '' AND key = ").arg(key)
	err = query(tx, b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&state) })
	return state, err
}

// NextAlert claims the pending message that is due longest, but for those of some sinks, for one try: until its next time, pause from now,
// nobody else gets it. ok is false when none is due.
func (l *Ledger) NextAlert(ctx context.Context, pause func(tried int64) time.Duration, but ...string) (m AlertMessage, ok bool, err error) {
	err = l.retryTx(ctx, func(tx *gorm.DB) error {
		ok = false
		now := l.clock()
		b := l.sql("SELECT sink, key, body, tried, made_at FROM alerts WHERE state = 'pending' AND due_at <= ").arg(now)
		b.add(" AND sink NOT IN ").list(anys(append([]string{""}, but...))...).add(" ORDER BY due_at, sink, key LIMIT 1")
		err := query(tx, b.String(), b.args, func(rows *sql.Rows) error {
			ok = true
			return rows.Scan(&m.Sink, &m.Key, &m.Body, &m.Tried, utc{&m.Made})
		})
		if err != nil || !ok {
			return err
		}
		b = l.sql("UPDATE alerts SET tried = tried + 1, due_at = ").arg(now.Add(pause(m.Tried + 1)))
		b.add(" WHERE sink = ").arg(m.Sink).add(" AND key = ").arg(m.Key).add(" AND state = 'pending' AND tried = ").arg(m.Tried)
		return changedOne(exec(tx, b.String(), b.args...))
	})
	return m, ok, err
}

// AlertTold ends a message: it was delivered, or (problem not "") given up.
func (l *Ledger) AlertTold(ctx context.Context, m AlertMessage, problem string) error {
	state := alertTold
	if problem != "" {
		state = alertGivenUp
	}
	return l.retryTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("UPDATE alerts SET body = '', state = ").arg(state).add(", problem = ").arg(problem).add(", told_at = ").arg(l.clock())
		b.add(" WHERE sink = ").arg(m.Sink).add(" AND key = ").arg(m.Key).add(" AND state = 'pending'")
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

// AlertFailed writes down why a try has failed. The next comes at the time that NextAlert has set.
func (l *Ledger) AlertFailed(ctx context.Context, m AlertMessage, problem string) error {
	return l.retryTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("UPDATE alerts SET problem = ").arg(problem).add(" WHERE sink = ").arg(m.Sink).add(" AND key = ").arg(m.Key)
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

// AlertKnown says whether a message of this key was kept for the sink, told or not.
func (l *Ledger) AlertKnown(ctx context.Context, sink, key string) (known bool, err error) {
	err = l.alertStates(ctx, sink, []string{key}, func(string, string, time.Time) { known = true })
	return known, err
}

// UntoldRuns are the runs since a time that a sink has not been told of, oldest first.
func (l *Ledger) UntoldRuns(ctx context.Context, sink string, since time.Time) (list []models.Run, err error) {
	b := l.sql("SELECT id, account, provider, date, time_zone, result, created_at FROM runs WHERE created_at >= ").arg(micros(since))
	b.add(" ORDER BY created_at, id")
	known := map[string]bool{}
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var r models.Run
		err := rows.Scan(&r.ID, &r.Account, &r.Provider, &r.Date, &r.TimeZone, &r.Result, utc{&r.CreatedAt})
		list = append(list, r)
		return err
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	keys := make([]string, len(list))
	for i, r := range list {
		keys[i] = "run/" + r.ID
	}
	if err := l.alertStates(ctx, sink, keys, func(key, _ string, _ time.Time) { known[strings.TrimPrefix(key, "run/")] = true }); err != nil {
		return nil, err
	}
	untold := list[:0]
	for _, r := range list {
		if !known[r.ID] {
			untold = append(untold, r)
		}
	}
	return untold, nil
}

func (l *Ledger) alertStates(ctx context.Context, sink string, keys []string, each func(key, state string, made time.Time)) error {
	return eachChunk(keys, inChunk, func(chunk []string) error {
		b := l.sql("SELECT key, state, made_at FROM alerts WHERE sink = ").arg(sink).add(" AND key IN ").list(anys(chunk)...)
		return query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
			var key, state string
			var made time.Time
			err := rows.Scan(&key, &state, utc{&made})
			each(key, state, made)
			return err
		})
	})
}

// errNoEvidence is a mistake of the caller.
var errNoEvidence = errors.New("a gap without evidence")

// NewsOfRun hands over the open gaps of a run that a sink has not been told of, by id: those it never saw, and those that look different
// and were opened again since. evidence says in a word how a gap looks.
func (l *Ledger) NewsOfRun(ctx context.Context, sink string, run models.Run, evidence func(*models.Gap) string, each func(g *models.Gap, evidence string)) error {
	const pageSize = 500
	for last := ""; ; {
		b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE account = ").arg(run.Account).add(" AND state = 'open' AND last_run = ").arg(run.ID)
		list, err := selectGaps(l.read.WithContext(ctx), b.add(" AND id > ").arg(last).add(" ORDER BY id LIMIT ").arg(pageSize))
		if err != nil || len(list) == 0 {
			return err
		}
		last = list[len(list)-1].ID
		if err := l.newsOf(ctx, sink, list, evidence, each); err != nil {
			return err
		}
	}
}

func (l *Ledger) newsOf(ctx context.Context, sink string, list []models.Gap, evidence func(*models.Gap) string, each func(*models.Gap, string)) error {
	keys := make([]string, len(list))
	for i, g := range list {
		keys[i] = "gap/" + g.ID
	}
	type told struct {
		state string
		at    time.Time
	}
	before := map[string]told{}
	if err := l.alertStates(ctx, sink, keys, func(key, state string, made time.Time) { before[key] = told{state, made} }); err != nil {
		return err
	}
	for i := range list {
		looks := evidence(&list[i])
		if looks == "" {
			return errNoEvidence
		}
		if was, known := before[keys[i]]; known {
			if was.state == looks {
				continue
			}
			if again, err := l.reopenedSince(ctx, list[i].ID, was.at); err != nil || !again {
				if err != nil {
					return err
				}
				continue
			}
		}
		each(&list[i], looks)
	}
	return nil
}

// reopenedSince asks the audit log.
func (l *Ledger) reopenedSince(ctx context.Context, id string, since time.Time) (again bool, err error) {
	b := l.sql("SELECT 1 FROM audit WHERE subject = ").arg("gap/" + id).add(" AND action = 'gap.reopened' AND at >= ").arg(micros(since)).add(" LIMIT 1")
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(*sql.Rows) error { again = true; return nil })
	return again, err
}
