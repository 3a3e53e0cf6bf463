package ledger

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"gorm.io/gorm"

	"paybook/models"
)

// compareLogged holds what is stored against what the log says of it last, and the other way round.
func (l *Ledger) compareLogged(tx *gorm.DB, c *AuditCheck) error {
	for _, step := range []func(*gorm.DB, *AuditCheck) error{l.compareGaps, l.compareRuns, l.compareRepairs, l.compareGone} {
		if err := step(tx, c); err != nil {
			return err
		}
	}
	return nil
}

func (c *AuditCheck) differs(subject, format string, args ...any) {
	c.Differ++
	if len(c.Differing) < auditProblemsMax {
		c.Differing = append(c.Differing, AuditProblem{What: AuditDiffers, Subject: subject, Text: subject + " " + fmt.Sprintf(format, args...)})
	}
}

// lastLogged is the detail of the last entry about a row, of the actions that tell how it stands.
func lastLogged(kind, id string) string {
	return "(SELECT a.detail FROM audit a WHERE a.subject = '" + kind + "/' || " + id + " AND a.action LIKE '" + kind + ".%' ORDER BY a.seq DESC LIMIT 1)"
}

func (l *Ledger) compareGaps(tx *gorm.DB, c *AuditCheck) error {
	return query(tx, "SELECT "+gapColumns+", "+lastLogged("gap", "gaps.id")+" FROM gaps ORDER BY id", nil, func(rows *sql.Rows) error {
		var logged sql.NullString
		g, err := scanGap(rows, &logged)
		if err == nil {
			c.Gaps++
			c.gap(&g, logged)
		}
		return err
	})
}

func (c *AuditCheck) gap(g *models.Gap, logged sql.NullString) {
	subject := gapSubject(g.ID)
	d, err := gapDetail(logged.String)
	now := standing(g)
	switch {
	case !logged.Valid:
		c.differs(subject, "is not in the log: it was not written by the product")
	case err != nil:
		c.differs(subject, "cannot be compared: what the log says of it is not readable")
	case now.State != d.Now.State:
		c.differs(subject, "is %s, the log says %s", now.State, d.Now.State)
	case now.Owner != d.Now.Owner:
		c.differs(subject, "is of %q, the log says %q", now.Owner, d.Now.Owner)
	case now.DueOn != d.Now.DueOn:
		c.differs(subject, "is due on %q, the log says %q", now.DueOn, d.Now.DueOn)
	case now.Resolution != d.Now.Resolution:
		c.differs(subject, "has another resolution than the log says")
	case d.Now.Of != "" && now.Of != d.Now.Of:
		c.differs(subject, "is of another movement, day or age, or ended by another run, than the log says")
	case now.Evidence != d.Now.Evidence:
		c.differs(subject, "says something else than the log: its kind or one of its sides was changed")
	}
}

func (l *Ledger) compareRuns(tx *gorm.DB, c *AuditCheck) error {
	return query(tx, "SELECT "+runColumns+", "+lastLogged("run", "runs.id")+" FROM runs ORDER BY id", nil, func(rows *sql.Rows) error {
		var logged sql.NullString
		r, err := scanRun(rows, &logged)
		if err == nil {
			c.Runs++
			c.run(&r, logged)
		}
		return err
	})
}

func (c *AuditCheck) run(r *models.Run, logged sql.NullString) {
	subject := runSubject(r.ID)
	var d RunDetail
	err := json.Unmarshal([]byte(logged.String), &d)
	switch {
	case !logged.Valid:
		c.differs(subject, "is not in the log: it was not written by the product")
	case err != nil:
		c.differs(subject, "cannot be compared: what the log says of it is not readable")
	case r.Account != d.Account || r.Date != d.Date:
		c.differs(subject, "is of %s, %s, the log says %s, %s", r.Account, r.Date, d.Account, d.Date)
	case r.Result != d.Result || r.Fingerprint != d.Fingerprint:
		c.differs(subject, "has another result or fingerprint than the log says")
	case !slices.Equal(r.Files, d.Files):
		c.differs(subject, "was made of other files than the log says")
	case hashText(r.Report) != d.Report:
		c.differs(subject, "has another report than the one that was saved")
	}
}

// compareGone finds what the log tells of and is not there any more: neither gaps nor runs nor repairs are ever deleted.
func (l *Ledger) compareGone(tx *gorm.DB, c *AuditCheck) error {
	for kind, table := range map[string]string{"gap": "gaps", "run": "runs", "repair": "repairs"} {
		text := "SELECT DISTINCT a.subject FROM audit a WHERE a.subject LIKE '" + kind + "/%' AND NOT EXISTS (SELECT 1 FROM " + table +
			" t WHERE t.id = substr(a.subject, " + strconv.Itoa(len(kind)+2) + ")) ORDER BY a.subject"
		err := query(tx, text, nil, func(rows *sql.Rows) error {
			var subject string
			err := rows.Scan(&subject)
			if err == nil {
				c.differs(subject, "is gone: the log tells of it, the table %s does not have it", table)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
