package alert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// Route is a sink with what it wants to be told.
type Route struct {
	Name     string
	Sink     Sink
	Accounts []string         // nil: all
	Kinds    []models.GapKind // nil: all
	Min      int              // fewer new gaps of a run are left to the digest
	Balanced bool             // tell also that there is nothing
	Digest   time.Duration    // when the daily digest is told, after midnight of Zone; negative: never
	Zone     *time.Location   // of the digest's hour and of times in texts; nil: UTC
	Lang     string           // en, zh
}

// Post keeps what is to be told, and delivers it. Any number of replicas may have one, as a ledger.Chore.
type Post struct {
	Book     *ledger.Ledger
	Routes   []Route
	Accounts []string // of which the digest speaks, beside those that have gaps
	Now      func() time.Time
	Log      *slog.Logger
}

const (
	lookBack   = 24 * time.Hour // a run that is older is left to the digest: a new sink is not told what was long ago
	giveUp     = 72 * time.Hour
	pauseFirst = 30 * time.Second
	pauseMost  = time.Hour
	sinkTime   = 20 * time.Second
	shownGaps  = 10
)

// Tick keeps a message for each sink and run that has news, the digest when its hour has come, and delivers what is due.
func (p *Post) Tick(ctx context.Context) error {
	var failed []error
	for i := range p.Routes {
		failed = append(failed, p.gather(ctx, &p.Routes[i]), p.digest(ctx, &p.Routes[i]))
	}
	return errors.Join(append(failed, p.deliver(ctx))...)
}

func (r *Route) wantsAccount(account string) bool {
	return len(r.Accounts) == 0 || slices.Contains(r.Accounts, account)
}

func (r *Route) wants(g *models.Gap) bool {
	return len(r.Kinds) == 0 || slices.Contains(r.Kinds, g.Kind)
}

// gather looks at the runs that the sink was not told of.
func (p *Post) gather(ctx context.Context, r *Route) error {
	runs, err := p.Book.UntoldRuns(ctx, r.Name, p.Now().Add(-lookBack))
	if err != nil {
		return err
	}
	for _, run := range runs {
		m := ledger.AlertMessage{Sink: r.Name, Key: "run/" + run.ID}
		seen := map[string]string{}
		if r.wantsAccount(run.Account) {
			if m.Body, err = p.news(ctx, r, run, seen); err != nil {
				return err
			}
		}
		if err := p.Book.TellOfGaps(ctx, m, seen); err != nil {
			return err
		}
	}
	return nil
}

// news is the message of one run, "" when there is nothing to tell. seen are the gaps that count as told by it.
func (p *Post) news(ctx context.Context, r *Route, run models.Run, seen map[string]string) (string, error) {
	counts := map[models.GapKind]int{}
	a := Alert{ID: "run-" + run.ID + "-" + r.Name, Kind: Gaps, Account: run.Account, Date: run.Date, RunID: run.ID, At: p.Now().UTC()}
	err := p.Book.NewsOfRun(ctx, r.Name, run, evidence, func(g *models.Gap, looks string) {
		if !r.wants(g) {
			return
		}
		seen[g.ID] = looks
		counts[g.Kind]++
		if len(a.Gaps) < shownGaps {
			a.Gaps = append(a.Gaps, short(g))
		}
	})
	switch {
	case err != nil:
		return "", err
	case len(seen) > 0 && len(seen) >= r.Min:
		a.Counts = sortCounts(counts)
		phrases(r.Lang).gaps(&a, len(seen))
	case run.Result == models.Balanced && r.Balanced:
		a.Kind = Balanced
		phrases(r.Lang).balanced(&a)
	default:
		return "", nil
	}
	return body(a)
}

// evidence is how a gap looks, in a word.
func evidence(g *models.Gap) string {
	raw, _ := json.Marshal([]any{g.Kind, g.Differs, look(g.Statement), look(g.Ledger), look(g.Order)}) //nolint:errchkjson // texts only
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// look leaves out where a side stands: a corrected file may have moved the row.
func look(s *models.Side) []string {
	if s == nil {
		return nil
	}
	return []string{s.Amount, s.Currency, s.Status}
}

func short(g *models.Gap) Gap {
	out := Gap{ID: g.ID, Kind: string(g.Kind), TransactionID: g.TransactionID, OrderID: g.OrderID, Statement: money(g.Statement), Ledger: money(g.Ledger), Order: money(g.Order)}
	if s := g.Statement; s != nil {
		out.StatementStatus, out.StatementFee = s.Status, s.Fee
	}
	if s := g.Ledger; s != nil {
		out.LedgerStatus, out.LedgerFee = s.Status, s.Fee
	}
	return out
}

func money(s *models.Side) string {
	if s == nil {
		return ""
	}
	return s.Amount + " " + s.Currency
}

func sortCounts(counts map[models.GapKind]int) []Count {
	var out []Count
	for kind, n := range counts {
		out = append(out, Count{string(kind), n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		if a.N != b.N {
			return b.N - a.N
		}
		if a.Kind < b.Kind {
			return -1
		}
		return 1
	})
	return out
}

func body(a Alert) (string, error) {
	if a.Lines == nil {
		a.Lines = []string{} // a list with nothing in it, for those who read it as JSON
	}
	raw, err := jsonOf(a)
	return string(raw), err
}

// Trouble is something that is the matter with an account until it is over.
type Trouble struct {
	Kind    Kind // LateDay, Failed or Silent
	Account string
	Date    string         // business day; "" when it is about none
	By      time.Time      // late: when it should have been there
	Zone    *time.Location // of By
	Over    bool
	Problem string        // what the last try said
	For     time.Duration // silent: for how long at least
	Orders  int           // silent: that many at least wait
}

// Say tells every sink that something is the matter, or is over: once for each time that it begins and ends, however often it is said.
// It is in the log in any case.
func (p *Post) Say(ctx context.Context, t Trouble) error {
	key := string(t.Kind) + "/" + t.Account
	if t.Date != "" {
		key += "/" + t.Date
	}
	var messages []ledger.AlertMessage
	for _, r := range p.Routes {
		if !r.wantsAccount(t.Account) {
			continue
		}
		text, err := body(p.trouble(r.Lang, r.Name, t))
		if err != nil {
			return err
		}
		messages = append(messages, ledger.AlertMessage{Sink: r.Name, Body: text})
	}
	news, err := p.Book.Alarm(ctx, key, !t.Over, messages)
	if err == nil && news {
		a := p.trouble("en", "", t)
		level := slog.LevelWarn
		if t.Over {
			level = slog.LevelInfo
		}
		p.Log.Log(ctx, level, a.Title, "kind", string(a.Kind), "account", t.Account, "date", t.Date, "problem", t.Problem)
	}
	return err
}

func (p *Post) trouble(lang, sink string, t Trouble) Alert {
	a := Alert{ID: fmt.Sprintf("%s-%s-%s-%d-%s", t.Kind, t.Account, t.Date, p.Now().Unix(), sink), Kind: t.Kind, Account: t.Account, Date: t.Date, At: p.Now().UTC()}
	phrases(lang).trouble(&a, t)
	if t.Over {
		a.Kind = Recovered
	}
	return a
}

// deliver sends what is due. A sink that fails is left alone for the rest of the tick.
func (p *Post) deliver(ctx context.Context) error {
	var away []string
	for ctx.Err() == nil {
		m, ok, err := p.Book.NextAlert(ctx, pause, away...)
		if err != nil || !ok {
			return err
		}
		told, err := p.try(ctx, m)
		if err != nil {
			return err
		}
		if !told {
			away = append(away, m.Sink)
		}
	}
	return ctx.Err()
}

// pause is how long after the n-th try the next may be made.
func pause(n int64) time.Duration {
	if n > 8 {
		return pauseMost
	}
	return min(pauseFirst<<(n-1), pauseMost)
}

// try sends one message. told says whether the sink can be given another.
func (p *Post) try(ctx context.Context, m ledger.AlertMessage) (told bool, err error) {
	i := slices.IndexFunc(p.Routes, func(r Route) bool { return r.Name == m.Sink })
	if i < 0 {
		return true, p.Book.AlertTold(ctx, m, "no such sink is configured any more")
	}
	var a Alert
	if err := json.Unmarshal([]byte(m.Body), &a); err != nil {
		return true, p.Book.AlertTold(ctx, m, "unreadable: "+err.Error())
	}
	one, cancel := context.WithTimeout(ctx, sinkTime)
	defer cancel()
	failed := p.Routes[i].Sink.Alert(one, a)
	log := p.Log.With("sink", m.Sink, "about", m.Key)
	var partly *PartlyError
	switch {
	case failed == nil:
		return true, p.Book.AlertTold(ctx, m, "")
	case errors.As(failed, &partly):
		log.Error("alert delivered, but not to all", "error", failed.Error())
		return true, p.Book.AlertTold(ctx, m, failed.Error())
	case ctx.Err() != nil:
		return false, ctx.Err()
	case p.Now().Sub(m.Made) > giveUp:
		log.Error("alert given up", "tries", m.Tried+1, "error", failed.Error())
		return false, p.Book.AlertTold(ctx, m, failed.Error())
	}
	log.Warn("alert not delivered, it is tried again", "tries", m.Tried+1, "error", failed.Error())
	return false, p.Book.AlertFailed(ctx, m, failed.Error())
}
