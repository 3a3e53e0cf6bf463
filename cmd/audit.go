package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"paybook/ledger"
)

func newAuditCommand(a *app) *cobra.Command {
	return newGroup("audit", "Look at the log of all that was done to gaps, and check that nobody has changed it",
		newAuditVerifyCommand(a), newAuditHeadCommand(a), newAuditListCommand(a))
}

func newAuditVerifyCommand(a *app) *cobra.Command {
	format, head := "", ""
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check the audit log, row by row, and the gaps, runs and repairs against it",
		Long: `Check the audit log: every row holds the hash of the one before it, the last one is the one that the log's head names, and every gap,
run and repair is as the log says. The first row that was changed, deleted, inserted or moved is named, or that the end was cut off.

Whoever can write to the database and knows how the hashes are made can write the whole log anew. So note its head, which is printed as
SEQ:HASH here and by "app audit head", where they cannot reach it, and hold the log against the note by --head.

Exit codes:
  0  the log holds, and all is as it says
  1  it does not: what is printed says where
  2  could not be done: usage, configuration, database`,
		Example: "  app audit verify\n  app audit verify --format json\n" +
			"  app audit verify --head 1:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var anchor *ledger.AuditAnchor
			if c.Flags().Changed("head") {
				noted, err := ledger.ParseAuditAnchor(head)
				if err != nil {
					return fmt.Errorf("--head: %w", err)
				}
				anchor = &noted
			}
			return a.verifyAudit(c.Context(), format, anchor)
		},
	}
	formatFlag(c, &format, "table", "json")
	c.Flags().StringVar(&head, "head", "", "a head that was noted before, `SEQ:HASH`: the log must still have this row")
	return c
}

// auditCheckJSON is what `app audit verify --format json` prints.
type auditCheckJSON struct {
	Result  string             `json:"result"` // intact, broken
	Entries int64              `json:"entries"`
	Head    string             `json:"head"` // SEQ:HASH of the last row that holds
	First   string             `json:"first,omitempty"`
	Last    string             `json:"last,omitempty"`
	Gaps    int64              `json:"gaps"` // compared with the log
	Runs    int64              `json:"runs"`
	Repairs int64              `json:"repairs"`
	Broken  *auditProblemJSON  `json:"broken"` // the first bad row; null: none
	Differ  int64              `json:"differ"` // what of them is not as the log says
	Differs []auditProblemJSON `json:"differing"`
}

type auditProblemJSON struct {
	What    string `json:"what"`
	Seq     int64  `json:"seq,omitempty"`
	Subject string `json:"subject,omitempty"`
	Text    string `json:"text"`
}

func (a *app) verifyAudit(ctx context.Context, format string, anchor *ledger.AuditAnchor) error {
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	c, err := book.VerifyAudit(ctx, anchor)
	if err != nil {
		return err
	}
	if format == "json" {
		err = printJSON(a.out, newAuditCheckJSON(c))
	} else {
		a.printAuditCheck(c)
	}
	if err == nil && !c.Whole() {
		return errLook
	}
	return err
}

func newAuditCheckJSON(c *ledger.AuditCheck) auditCheckJSON {
	out := auditCheckJSON{Result: "intact", Entries: c.Entries, Head: c.Head.String(), Gaps: c.Gaps, Runs: c.Runs, Repairs: c.Repairs, Differ: c.Differ,
		Differs: []auditProblemJSON{}}
	if !c.Whole() {
		out.Result = "broken"
	}
	if c.Entries > 0 {
		out.First, out.Last = c.First.Format(time.RFC3339Nano), c.Last.Format(time.RFC3339Nano)
	}
	if c.Broken != nil {
		p := auditProblemJSON(*c.Broken)
		out.Broken = &p
	}
	for _, p := range c.Differing {
		out.Differs = append(out.Differs, auditProblemJSON(p))
	}
	return out
}

func (a *app) printAuditCheck(c *ledger.AuditCheck) {
	p, l := a.colours(), a.language()
	line := func(name, value string) {
		fmt.Fprintf(a.out, "%s %s\n", p.dim(text.Pad(l.Text(name), 12, ' ')), value)
	}
	entries := l.Count(int(c.Entries), "row")
	if c.Entries > 0 {
		entries = l.Text("%s that hold, from %s to %s", entries, c.First.Format(time.RFC3339), c.Last.Format(time.RFC3339))
	}
	line("audit log", entries)
	line("head", c.Head.String())
	line("checked", l.Count(int(c.Gaps), "gap")+l.Text(", ")+l.Count(int(c.Runs), "run")+l.Text(", ")+l.Count(int(c.Repairs), "repair"))
	if c.Broken != nil {
		line("broken", p.bad(cell(c.Broken.Text)))
	}
	for _, d := range c.Differing {
		line("differs", p.bad(cell(d.Text)))
	}
	if more := c.Differ - int64(len(c.Differing)); more > 0 {
		line("", l.Text("and %d more", more))
	}
	if c.Whole() {
		line("result", p.good(l.Text("the log holds, and all is as it says")))
	} else {
		line("result", p.bad(l.Text("broken: keep this database as it is, and look at a backup from before")))
	}
}

// noteAuditHead shows a person the end of the log, to be noted where those who write to the database cannot reach it.
func (a *app) noteAuditHead(ctx context.Context, book *ledger.Ledger) {
	if head, err := book.AuditHead(ctx); err == nil {
		fmt.Fprintln(a.err, a.language().Text("audit head %s", head))
	}
}

func newAuditHeadCommand(a *app) *cobra.Command {
	format := ""
	c := &cobra.Command{
		Use:   "head",
		Short: "Print where the audit log ends, to be noted elsewhere",
		Long: "Print the number and the hash of the audit log's last row as SEQ:HASH, 0: of an empty one. Note it where those who write to the database\n" +
			"cannot reach it, every day; \"app audit verify --head SEQ:HASH\" holds the log against the note.\n\n" + exitCodesHelp,
		Example: "  app audit head",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.printAuditHead(c.Context(), format) },
	}
	formatFlag(c, &format, "table", "json")
	return c
}

func (a *app) printAuditHead(ctx context.Context, format string) error {
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	head, err := book.AuditHead(ctx)
	switch {
	case err != nil:
		return err
	case format == "json":
		return printJSON(a.out, map[string]string{"head": head.String()})
	}
	_, err = fmt.Fprintln(a.out, head)
	return err
}

type auditListOptions struct {
	subject, actor, after, format string
	limit                         int
}

func newAuditListCommand(a *app) *cobra.Command {
	var o auditListOptions
	c := &cobra.Command{
		Use:   "list",
		Short: "List the audit log, newest first",
		Long: "List the audit log, newest first: what was done, when, by whom, and to what. A subject is gap/ID, run/ID, repair/ID or archive/….\n\n" +
			exitCodesHelp,
		Example: "  app audit list --actor wang\n  app audit list --subject gap/3f9a12bc00aa11bb --format json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.listAudit(c.Context(), o) },
	}
	formatFlag(c, &o.format, "table", "json")
	c.Flags().StringVar(&o.subject, "subject", "", "only what was done to this `SUBJECT`, such as gap/ID; of a gap a beginning of the id will do")
	c.Flags().StringVar(&o.actor, "actor", "", "only what was done by this `NAME`; run is the daily runs")
	pageFlags(c, &o.limit, &o.after)
	return c
}

// auditEntryJSON is an entry of the log as it is printed.
type auditEntryJSON struct {
	historyJSON        // the time is in UTC
	Subject     string `json:"subject"`
	Hash        string `json:"hash"`
}

func (a *app) listAudit(ctx context.Context, o auditListOptions) error {
	page, err := pageOf(o.limit, o.after)
	if err != nil {
		return err
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	subject, err := wholeSubject(ctx, book, o.subject)
	if err != nil {
		return err
	}
	rows, next, err := book.AuditLog(ctx, ledger.AuditFilter{Subject: subject, Actor: o.actor, Page: page})
	if err != nil {
		return err
	}
	defer a.printNext(next)
	list := make([]auditEntryJSON, len(rows))
	for i, r := range rows {
		list[i] = auditEntryJSON{newHistory(r, time.UTC), r.Subject, r.Hash}
	}
	if o.format == "json" {
		return printJSON(a.out, list)
	}
	t := newTable(a.heads("row", "at", "by", "subject", "what")...)
	for _, e := range list {
		t.AppendRow([]any{e.Seq, e.At, cell(e.Actor), cell(e.Subject), cell(a.language().Sentence(e.Text))})
	}
	return printTable(a.out, t, a.language().Text("nothing"))
}

// wholeSubject completes the beginning of a gap's id.
func wholeSubject(ctx context.Context, book *ledger.Ledger, subject string) (string, error) {
	id, isGap := strings.CutPrefix(subject, "gap/")
	if !isGap {
		return subject, nil
	}
	g, err := book.Gap(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return subject, nil // the log may tell of one that somebody has deleted
	}
	if err != nil {
		return "", fmt.Errorf("--subject: %w", err)
	}
	return "gap/" + g.ID, nil
}
