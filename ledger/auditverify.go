package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
)

// AuditAnchor is a place in the log, to be noted elsewhere: whoever changes the log and all hashes behind the change cannot change the note.
type AuditAnchor struct {
	Seq  int64
	Hash string // of the row Seq; "" of an empty log, with Seq 0
}

func (a AuditAnchor) String() string { return strconv.FormatInt(a.Seq, 10) + ":" + a.Hash }

// ParseAuditAnchor reads what String has printed.
func ParseAuditAnchor(text string) (a AuditAnchor, err error) {
	number, hash, found := strings.Cut(strings.TrimSpace(text), ":")
	a.Hash = strings.ToLower(hash)
	a.Seq, err = strconv.ParseInt(number, 10, 64)
	whole := len(hash) == 64 && strings.Trim(a.Hash, "0123456789abcdef") == "" || hash == "" && a.Seq == 0
	if !found || err != nil || a.Seq < 0 || !whole {
		return a, fmt.Errorf("%q is no head of the log; expected SEQ:HASH as `app audit verify` prints it, with all 64 digits of the hash", text)
	}
	return a, nil
}

// What may be wrong with the log, or with what it tells of.
const (
	AuditChangedRow  = "changed"  // a row is not as it was written
	AuditMissingRow  = "missing"  // rows were deleted
	AuditInsertedRow = "inserted" // a row that the product has not written there
	AuditTail        = "tail"     // the end was cut off
	AuditHeadLost    = "head"     // the row that says where the log ends is gone
	AuditAnchorLost  = "anchor"   // the log is not the one whose head was noted
	AuditDiffers     = "differs"  // a gap, a run or a repair is not as the log says
)

// AuditProblem is one thing that is wrong.
type AuditProblem struct {
	What    string
	Seq     int64  // the row of the log; 0: none
	Subject string // gap/ID, run/ID or repair/ID; "": the log itself
	Text    string // a sentence
}

// auditProblemsMax bounds what is named of gaps, runs and repairs.
const auditProblemsMax = 100

// AuditCheck is what VerifyAudit has found.
type AuditCheck struct {
	Entries     int64 // rows that hold, from the first
	First, Last time.Time
	Head        AuditAnchor // of the last row that holds
	// Gaps, Runs and Repairs were compared with what the log says of them last.
	Gaps, Runs, Repairs int64
	// Broken is the first bad row of the log; nil: it holds. Behind it nothing can be said.
	Broken *AuditProblem
	// Differing are gaps, runs and repairs that are not as the log says, the first hundred of Differ.
	Differing []AuditProblem
	Differ    int64
}

// Whole says that nothing is wrong.
func (c *AuditCheck) Whole() bool { return c.Broken == nil && c.Differ == 0 }

// VerifyAudit walks the whole log, and holds every gap, run and repair against what the log says of it last. anchor is a head that was noted before;
// nil: none. It reads one moment's state, whoever writes meanwhile, and holds little of it in memory.
func (l *Ledger) VerifyAudit(ctx context.Context, anchor *AuditAnchor) (*AuditCheck, error) {
	c := &AuditCheck{}
	err := l.snapshot(ctx, func(tx *gorm.DB) error {
		*c = AuditCheck{}
		if err := l.walkAudit(tx, c, anchor); err != nil {
			return err
		}
		return l.compareLogged(tx, c)
	})
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return c, nil
}

// errBroken ends the walk at the first bad row.
type errBroken struct{ AuditProblem }

func (e *errBroken) Error() string { return e.Text }

func broken(what string, seq int64, format string, args ...any) error {
	return &errBroken{AuditProblem{What: what, Seq: seq, Text: fmt.Sprintf("row %d ", seq) + fmt.Sprintf(format, args...)}}
}

func (l *Ledger) walkAudit(tx *gorm.DB, c *AuditCheck, anchor *AuditAnchor) error {
	w := auditWalk{c: c, anchor: anchor}
	err := query(tx, "SELECT "+auditColumns+" FROM audit ORDER BY seq", nil, func(rows *sql.Rows) error { return w.row(rows) })
	if err == nil {
		var head *AuditAnchor
		head, err = readHead(tx)
		if err == nil {
			err = w.end(head)
		}
	}
	if b, isBroken := err.(*errBroken); isBroken { //nolint:errorlint // it comes from here, unwrapped
		c.Broken = &b.AuditProblem
		return nil
	}
	return err
}

// readHead is the head as it is stored; nil: it is gone.
func readHead(tx *gorm.DB) (head *AuditAnchor, err error) {
	err = query(tx, "SELECT seq, hash FROM audit_head WHERE name = 'audit'", nil, func(rows *sql.Rows) error {
		head = &AuditAnchor{}
		return rows.Scan(&head.Seq, &head.Hash)
	})
	return head, err
}

// auditWalk goes along the chain.
type auditWalk struct {
	c      *AuditCheck
	anchor *AuditAnchor
	last   AuditRow
}

func (w *auditWalk) row(rows *sql.Rows) error {
	var r AuditRow
	at := lenientUTC{at: &r.At}
	if err := rows.Scan(&r.Seq, &at, &r.Actor, &r.Action, &r.Subject, &r.Detail, &r.Previous, &r.Hash); err != nil {
		return err
	}
	switch {
	case r.Seq < w.last.Seq+1:
		return broken(AuditInsertedRow, r.Seq, "was inserted: the log begins with row 1")
	case r.Seq > w.last.Seq+1:
		return broken(AuditMissingRow, w.last.Seq+1, "is missing: after row %d comes row %d", w.last.Seq, r.Seq)
	case at.bad || r.sum() != r.Hash:
		return broken(AuditChangedRow, r.Seq, "is not as it was written: its hash does not fit what it says (%s)", r.names())
	case r.Previous != w.last.Hash && w.last.Seq == 0:
		return broken(AuditChangedRow, r.Seq, "is not the first of this log: it names a row before it (%s)", r.names())
	case r.Previous != w.last.Hash:
		return broken(AuditChangedRow, w.last.Seq, "is not as it was written: row %d follows another one (%s)", r.Seq, w.last.names())
	}
	if a := w.anchor; a != nil && a.Seq == r.Seq && a.Hash != r.Hash {
		return broken(AuditAnchorLost, r.Seq, "is another than the one that was noted: the log was written anew, from this row or one before it (%s)", r.names())
	}
	if w.c.Entries == 0 {
		w.c.First = r.At
	}
	w.c.Entries, w.c.Last, w.c.Head, w.last = w.c.Entries+1, r.At, AuditAnchor{r.Seq, r.Hash}, r
	return nil
}

func (r *AuditRow) names() string {
	return fmt.Sprintf("%s of %s by %s", short(r.Action, 60), short(r.Subject, 80), short(r.Actor, 60))
}

// end holds the end of the log against its head, and against the anchor.
func (w *auditWalk) end(head *AuditAnchor) error {
	last := w.last.Seq
	switch {
	case w.anchor != nil && w.anchor.Seq > last:
		return broken(AuditAnchorLost, last+1, "is missing: the log ends with row %d, and the head that was noted is row %d", last, w.anchor.Seq)
	case head == nil:
		return &errBroken{AuditProblem{What: AuditHeadLost, Seq: last, Text: fmt.Sprintf("the head is gone: no row of audit_head says whether row %d is the last", last)}}
	case head.Seq > last:
		return broken(AuditTail, last+1, "is missing: the log ends with row %d, its head says that row %d is the last", last, head.Seq)
	case head.Seq < last:
		return broken(AuditInsertedRow, head.Seq+1, "was inserted: the head says that row %d is the last", head.Seq)
	case head.Hash != w.last.Hash:
		return broken(AuditChangedRow, last, "is not as it was written: the head knows it by another hash (%s)", w.last.names())
	}
	return nil
}

// lenientUTC is utc for a column that somebody may have spoilt.
type lenientUTC struct {
	at  *time.Time
	bad bool
}

// Scan implements sql.Scanner.
func (u *lenientUTC) Scan(value any) error {
	u.bad = utc{u.at}.Scan(value) != nil
	return nil
}
