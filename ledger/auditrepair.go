package ledger

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"

	"paybook/models"
)

// repairDetail is what the log tells of one step of a repair. The subject is repair/ID.
type repairDetail struct {
	Account      string             `json:"account"`
	Date         string             `json:"date"`
	Hash         string             `json:"hash"` // of all that the plan says
	State        models.RepairState `json:"state"`
	MadeBy       string             `json:"made_by,omitempty"` // "": an older entry, which names nobody but its actor
	ApprovedBy   string             `json:"approved_by,omitempty"`
	AppliedBy    string             `json:"applied_by,omitempty"`
	ReversedBy   string             `json:"reversed_by,omitempty"`
	Reason       string             `json:"reason,omitempty"`
	Planned      int                `json:"planned,omitempty"` // items in that state, here and below
	Booked       int                `json:"booked,omitempty"`
	AlreadyThere int                `json:"already_there,omitempty"`
	Refused      int                `json:"refused,omitempty"`
	Reversed     int                `json:"reversed,omitempty"`
}

// repairEntry is a repair's step in the audit log.
func repairEntry(r models.Repair, who, action string) AuditEntry {
	return AuditEntry{Actor: who, Action: action, Subject: repairPrefix + r.ID, Detail: repairDetail{Account: r.Account, Date: r.Date, Hash: r.Hash,
		State: r.State, MadeBy: r.MadeBy, ApprovedBy: r.ApprovedBy, AppliedBy: r.AppliedBy, ReversedBy: r.ReversedBy, Reason: r.Reason,
		Planned: r.Count(models.ItemPlanned), Booked: r.Count(models.ItemBooked), AlreadyThere: r.Count(models.ItemAlready),
		Refused: r.Count(models.ItemRefused), Reversed: r.Count(models.ItemReversed)}}
}

func (l *Ledger) noteRepair(tx *gorm.DB, r models.Repair, who, action string) error {
	return l.audit(tx, repairEntry(r, who, action))
}

// unlike says in what a repair is not as the log says of it last; "": it is.
func (d *repairDetail) unlike(r models.Repair) string {
	switch {
	case r.Hash != d.Hash || contentHash(r) != d.Hash:
		return "has other content than the log says"
	case d.MadeBy == "":
		return ""
	case r.State != d.State:
		return fmt.Sprintf("is %s, the log says %s", r.State, d.State)
	case r.MadeBy != d.MadeBy || r.ApprovedBy != d.ApprovedBy || r.ReversedBy != d.ReversedBy || !r.Open() && r.AppliedBy != d.AppliedBy:
		return "names other persons than the log"
	case storable(r.Reason) != d.Reason:
		return "has another reason than the log says"
	}
	return ""
}

// unlikeLog says in what a repair, with its items, is not as the log says of it last; "": it is.
func (l *Ledger) unlikeLog(tx *gorm.DB, r models.Repair) (string, error) {
	var logged sql.NullString
	b := l.sql("SELECT " + lastLogged("repair", "repairs.id") + " FROM repairs WHERE id = ").arg(r.ID)
	err := query(tx, b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&logged) })
	if err != nil || !logged.Valid {
		return "is not in the log: it was not written by the product", err
	}
	return unlikeDetail(r, logged.String), nil
}

func unlikeDetail(r models.Repair, logged string) string {
	var d repairDetail
	if err := json.Unmarshal([]byte(logged), &d); err != nil {
		return "cannot be compared: what the log says of it is not readable"
	}
	return d.unlike(r)
}

func (l *Ledger) compareRepairs(tx *gorm.DB, c *AuditCheck) error {
	list, err := selectRepairs(tx, l.sql("SELECT "+repairColumns+" FROM repairs ORDER BY id"))
	for n := 0; n < len(list) && err == nil; n++ {
		r := list[n]
		if r.Items, err = l.repairItems(tx, r.ID); err != nil {
			break
		}
		c.Repairs++
		var unlike string
		if unlike, err = l.unlikeLog(tx, r); unlike != "" {
			c.differs(repairPrefix+r.ID, "%s", unlike)
		}
	}
	return err
}
