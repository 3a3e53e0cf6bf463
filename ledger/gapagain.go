package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"paybook/models"
)

// How much a person may say of a gap, in characters.
const (
	gapTextMax  = 4000
	gapOwnerMax = 100
)

// check says what is wrong with a change, whatever gap it is of.
func (c *GapChange) check() (field string, err error) {
	c.Text = strings.TrimSpace(c.Text)
	if utf8.RuneCountInString(c.Text) > gapTextMax || storable(c.Text) != c.Text {
		return "text", fmt.Errorf("the text is longer than %d characters, or no text", gapTextMax)
	}
	switch c.Action {
	case ResolveGap, ReopenGap:
		if c.Text == "" {
			return "text", fmt.Errorf("%s: a reason is needed, it is what an auditor will read", c.Action)
		}
	case CommentGap:
		if c.Text == "" {
			return "text", errors.New("comment: the words are missing")
		}
	case AssignGap:
		return c.checkAssigned()
	default:
		return "action", fmt.Errorf("%q is nothing that can be done to a gap; there is: resolve, reopen, assign, comment", c.Action)
	}
	return "", nil
}

func (c *GapChange) checkAssigned() (field string, err error) {
	if c.Owner == nil && c.DueOn == nil {
		return "owner", errors.New("assign: neither an owner nor a due date is given")
	}
	if c.Owner != nil {
		if name := *c.Owner; utf8.RuneCountInString(name) > gapOwnerMax || storable(name) != name || hasControl(name) {
			return "owner", fmt.Errorf("an owner is a name of up to %d characters on one line", gapOwnerMax)
		}
	}
	if c.DueOn != nil && *c.DueOn != "" {
		if _, err := time.Parse(time.DateOnly, *c.DueOn); err != nil {
			return "due_on", fmt.Errorf("%q is no date; expected YYYY-MM-DD", short(*c.DueOn, 40))
		}
	}
	return "", nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 })
}

// row names a change of a gap as it was seen; "" of one that is made however the gap stands.
func (c *GapChange) row() string {
	if c.Mark == "" {
		return ""
	}
	parts := []string{c.ID, string(c.Action), c.Text, c.Mark}
	for _, p := range []*string{c.Owner, c.DueOn} {
		if p != nil {
			parts = append(parts, "+", *p)
		} else {
			parts = append(parts, "-")
		}
	}
	return hash16(parts...)
}

// appliedRow is a change with a mark that was made before.
type appliedRow struct {
	by  string
	at  time.Time
	now GapFacts // as it left the gap
}

// readApplied finds the changes with marks that were ever made to these gaps.
func (s *gapSession) readApplied(ids []string) error {
	s.applied = map[string]appliedRow{}
	return eachChunk(ids, inChunk, func(chunk []string) error {
		subjects := make([]any, len(chunk))
		for i, id := range chunk {
			subjects[i] = gapSubject(id)
		}
		b := s.l.sql("SELECT actor, at, detail FROM audit WHERE subject IN ").list(subjects...).add(` AND detail LIKE '%"row":"%' ORDER BY seq`)
		return query(s.tx, b.String(), b.args, func(rows *sql.Rows) error {
			var a appliedRow
			var detail string
			if err := rows.Scan(&a.by, utc{&a.at}, &detail); err != nil {
				return err
			}
			d, err := gapDetail(detail)
			a.now = d.Now
			s.applied[d.Row] = a
			return err
		})
	})
}

// before looks at a change with a mark: made says that it was made before, an error that the gap is no longer what the person saw.
func (s *gapSession) before(g *models.Gap, c *GapChange) (made bool, field string, err error) {
	if c.Mark == "" {
		return false, "", nil
	}
	now := standing(g)
	switch a, applied := s.applied[c.row()]; {
	case applied && (c.Action == CommentGap || a.now.sameLife(&now) && a.now.Evidence == now.Evidence):
		return true, "", nil
	case applied:
		return false, "mark", fmt.Errorf("this very decision was applied already (%s, by %s), and the gap has changed since: %s; "+
			"to decide so again, write the list anew and say it in other words", a.at.Format(time.RFC3339), a.by, s.stands(g))
	case c.Mark != GapMark(g):
		return false, "mark", fmt.Errorf("it has changed since the list was written: %s; write the list anew and decide again", s.stands(g))
	}
	return false, "", nil
}

// stands says in short how a gap stands, and what was done to it last.
func (s *gapSession) stands(g *models.Gap) string {
	text := fmt.Sprintf("it is %s", g.State)
	if g.Owner != "" {
		text += fmt.Sprintf(", of %s", g.Owner)
	}
	b := s.l.sql("SELECT at, actor, action FROM audit WHERE subject = ").arg(gapSubject(g.ID)).add(" ORDER BY seq DESC LIMIT 1")
	_ = query(s.tx, b.String(), b.args, func(rows *sql.Rows) error { // without it the sentence is true as well
		var at time.Time
		var by, action string
		err := rows.Scan(utc{&at}, &by, &action)
		if err == nil {
			text += fmt.Sprintf(", last %s at %s by %s", strings.TrimPrefix(action, "gap."), at.Format(time.RFC3339), by)
		}
		return err
	})
	return text
}
