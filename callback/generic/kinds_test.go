package generic_test

import (
	"testing"

	"paybook/models"
)

// The default layout's words for kinds are all there are; in a layout of the user's own an unmapped word is kept and told.
func TestUnknownKinds(t *testing.T) {
	for _, word := range []string{"paymnet", "sale", ""} {
		text := header + "T1,O1,payment,1.00,CNY,paid,2026-11-29 10:00:00\nT2,O2," + word + ",1.00,CNY,paid,2026-11-29 10:00:00\n"
		_, _, err := readStatement(mustNew(t, settings(nil)), text)
		checkFileError(t, err, 3, "column type: ")
		own := mustNew(t, settings(func(s object) { s["statement"] = object{"kinds": object{"payment": "payment"}} }))
		entries, _, err := readStatement(own, text)
		if err != nil || len(entries) != 2 || entries[1].Kind != models.EntryAdjustment || entries[1].UnknownKind == "" || entries[0].UnknownKind != "" {
			t.Errorf("%q in a configured layout: %+v, %v; want an adjustment that tells its word", word, entries, err)
		}
	}
}
