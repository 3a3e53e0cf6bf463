package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// gapWithHistory is what `app gaps show` prints.
type gapWithHistory struct {
	reconcile.GapReport
	History []historyJSON `json:"history"` // in the order in which it happened
}

// historyJSON is one change of a gap.
type historyJSON struct {
	Seq    int64           `json:"seq"` // in the audit log
	At     string          `json:"at"`  // RFC 3339 in the account's zone
	Actor  string          `json:"actor"`
	Action string          `json:"action"`
	Text   string          `json:"text"` // what happened, in words
	Detail json.RawMessage `json:"detail"`
}

func newGapsShowCommand(a *app) *cobra.Command {
	format := ""
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show one gap: what each side says, why it is one, what to do next, and all that was done to it",
		Long: "Show one gap: what each side says, why it is one, what to do next, and its history: who did what to it, and when. A beginning of the id\n" +
			"will do.\n\n" + exitCodesHelp,
		Example: "  app gaps show 3f9a12bc",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return a.showGap(c.Context(), format, args[0])
		},
	}
	formatFlag(c, &format, "table", "json")
	return c
}

func (a *app) showGap(ctx context.Context, format, id string) error {
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	found, err := book.Gap(ctx, id)
	if err != nil {
		return listedBy("app gaps list", err)
	}
	log, err := book.GapHistory(ctx, found.ID)
	if err != nil {
		return err
	}
	g := gapWithHistory{a.shownGap(found), make([]historyJSON, 0, len(log))}
	zone := a.zoneOf(found.Account)
	for _, r := range log {
		g.History = append(g.History, newHistory(r, zone))
	}
	if format == "json" {
		return printJSON(a.out, g)
	}
	a.printGap(g.GapReport)
	p := a.colours()
	for i, h := range g.History {
		name := ""
		if i == 0 {
			name = a.language().Text("history")
		}
		fmt.Fprintf(a.out, "%s %s  %s: %s\n", p.dim(text.Pad(name, 12, ' ')), h.At, cell(h.Actor), cell(a.language().Sentence(h.Text)))
	}
	return nil
}

// zoneOf is an account's zone, or UTC when it is configured no more.
func (a *app) zoneOf(name string) *time.Location {
	if c, err := a.config(); err == nil {
		if account, err := c.account(name); err == nil && account.Name == name {
			return account.Zone
		}
		if b := c.bankOf(name); b != nil {
			return b.Zone
		}
	}
	return time.UTC
}

// shownGap dates a gap in its account's zone.
func (a *app) shownGap(g models.Gap) reconcile.GapReport {
	zone := a.zoneOf(g.Account)
	shown := reconcile.NewGapReport(g, zone, a.now())
	if g.ResolvedAt != nil {
		shown.ResolvedAt = g.ResolvedAt.In(zone).Format(time.RFC3339)
	}
	return shown
}

// side is what one side says, for a table.
func side(s *models.Side, l lang.Language) string {
	if s == nil {
		return "–"
	}
	said := s.Amount + " " + s.Currency + " " + l.Word(s.Status)
	if s.Fee != "" {
		said += l.Text(", fee %s", s.Fee)
	}
	return cell(said)
}

func (a *app) printGap(g reconcile.GapReport) {
	p, l := a.colours(), a.language()
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.out, "%s %s\n", p.dim(text.Pad(l.Text(name), 12, ' ')), value)
		}
	}
	line("gap", g.ID)
	line("kind", p.kind(g.Kind, l))
	line("account", g.Account)
	line("day", g.Date)
	line("state", l.Word(string(g.State)))
	line("owner", cell(g.Owner))
	if line("due", g.DueOn); g.Overdue != nil && *g.Overdue {
		line("", p.bad(l.Text("overdue")))
	}
	line("first seen", l.Text("%s, %s ago", g.FirstSeen, l.Count(g.AgeDays, "day")))
	line("of", l.Word(string(g.EntryKind))+" "+cell(g.TransactionID))
	line("order", cell(g.OrderID))
	line("payment", cell(g.ParentID))
	line("refund", cell(g.RefundOrderID))
	statement := side(g.Statement, l)
	if s := g.Statement; s != nil && s.File != "" {
		statement += l.Text("  (%s, row %d)", cell(s.File), s.Line)
	}
	line("statement", statement)
	line("book", side(g.Ledger, l))
	line("order asks", side(g.Order, l))
	line("why", cell(l.Sentence(g.Reason)))
	if g.State == models.GapOpen {
		line("next", cell(g.Next))
	}
	line("resolved", g.ResolvedAt)
	line("resolution", cell(g.Resolution))
}

func newHistory(r ledger.AuditRow, zone *time.Location) historyJSON {
	return historyJSON{Seq: r.Seq, At: r.At.In(zone).Format(time.RFC3339), Actor: r.Actor, Action: r.Action, Text: r.Sentence(), Detail: rawDetail(r.Detail)}
}

// rawDetail is an entry's detail as JSON, also when somebody has spoilt it.
func rawDetail(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null")
	}
	return quoted
}
