package alert

import (
	"context"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// digestLate is for how long after its hour a digest is still told, when the server was away then.
const digestLate = 12 * time.Hour

// digest keeps the day's digest once its hour has come.
func (p *Post) digest(ctx context.Context, r *Route) error {
	zone := r.Zone
	if zone == nil {
		zone = time.UTC
	}
	now := p.Now().In(zone)
	y, m, d := now.Date()
	at := time.Date(y, m, d, int(r.Digest.Hours()), int(r.Digest.Minutes())%60, 0, 0, zone)
	if r.Digest < 0 || now.Before(at) || now.Sub(at) > digestLate {
		return nil
	}
	today := now.Format(time.DateOnly)
	key := "digest/" + today
	if known, err := p.Book.AlertKnown(ctx, r.Name, key); err != nil || known {
		return err
	}
	text, err := p.digestText(ctx, r, today)
	if err != nil {
		return err
	}
	return p.Book.Tell(ctx, ledger.AlertMessage{Sink: r.Name, Key: key, Body: text})
}

// overview is what a digest speaks of.
type overview struct {
	kinds   []kindOverview
	open    int64
	carried int64
	overdue int64
	due     int64
	runs    []models.Run // the last of each account
	none    []string     // accounts without any
}

type kindOverview struct {
	kind             models.GapKind
	day, week, older int64
}

func (p *Post) digestText(ctx context.Context, r *Route, today string) (string, error) {
	counts, err := p.Book.CountGaps(ctx, p.Now(), today)
	if err != nil {
		return "", err
	}
	o := summarise(r, counts)
	for _, account := range p.Accounts {
		if !r.wantsAccount(account) {
			continue
		}
		run, err := p.Book.LastRunOf(ctx, account)
		switch {
		case err != nil:
			return "", err
		case run.ID == "":
			o.none = append(o.none, account)
		default:
			o.runs = append(o.runs, run)
		}
	}
	if o.open == 0 && o.overdue == 0 && !r.Balanced {
		return "", nil
	}
	a := Alert{ID: "digest-" + today + "-" + r.Name, Kind: Digest, Date: today, At: p.Now().UTC()}
	phrases(r.Lang).digest(&a, o)
	return body(a)
}

// summarise adds up over the accounts that the sink wants.
func summarise(r *Route, counts []ledger.GapCount) overview {
	var o overview
	at := map[models.GapKind]int{}
	for _, c := range counts {
		if !r.wantsAccount(c.Account) || !r.wants(&models.Gap{Kind: c.Kind}) {
			continue
		}
		if c.State == models.GapCarried {
			o.carried += c.Day + c.Week + c.Older
			continue
		}
		if _, ok := at[c.Kind]; !ok {
			at[c.Kind] = len(o.kinds)
			o.kinds = append(o.kinds, kindOverview{kind: c.Kind})
		}
		k := &o.kinds[at[c.Kind]]
		k.day, k.week, k.older = k.day+c.Day, k.week+c.Week, k.older+c.Older
		o.open += c.Day + c.Week + c.Older
		o.overdue, o.due = o.overdue+c.Overdue, o.due+c.Due
	}
	return o
}
