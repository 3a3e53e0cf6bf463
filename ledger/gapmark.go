package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"paybook/models"
)

// GapMark is a short text that changes with whatever a gap says and wherever it stands in its life: a decision that names it was made about
// the gap as it is. It begins with a letter, for a spreadsheet would take digits alone for a number. Which run or repair has ended the gap
// is not in it: their ids are made anew in every book, and the same input is the same mark.
func GapMark(g *models.Gap) string {
	resolution := ""
	if g.HealedRun == "" {
		resolution = g.Resolution
	}
	return "h" + hash16(g.ID, GapEvidence(g), string(g.State), g.Owner, g.DueOn, resolution)
}

// GapEvidence is a short hash of what a gap says: its kind and both sides, wherever in a file they stand.
func GapEvidence(g *models.Gap) string {
	parts := []string{string(g.Kind), strings.Join(g.Differs, " ")}
	for _, s := range []*models.Side{g.Statement, g.Ledger, g.Order} {
		if s == nil {
			parts = append(parts, "-")
			continue
		}
		parts = append(parts, "+", s.Amount, s.Currency, s.Status, s.Fee)
	}
	return hash16(parts...)
}

// gapOrigin is a short hash of what a gap is about, since when, and which run or repair has ended it.
func gapOrigin(g *models.Gap) string {
	return hash16(g.Account, g.Date, string(g.EntryKind), g.TransactionID, g.OrderID, g.ParentID, g.RefundOrderID,
		strconv.FormatInt(g.FirstSeen.UnixMicro(), 10), g.HealedRun)
}

func hash16(parts ...string) string {
	sum := sha256.Sum256(netstrings(parts...))
	return hex.EncodeToString(sum[:8])
}

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// netstrings are the parts, each as length:bytes, so that no two lists of parts look alike.
func netstrings(parts ...string) []byte {
	size := 0
	for _, part := range parts {
		size += len(part) + 8
	}
	out := make([]byte, 0, size)
	for _, part := range parts {
		out = append(strconv.AppendInt(out, int64(len(part)), 10), ':')
		out = append(append(out, part...), ',')
	}
	return out
}
