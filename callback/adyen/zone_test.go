package adyen_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

func TestTimeZoneLetters(t *testing.T) {
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		local, letters string
		account        *time.Location
		setting, want  string
	}{
		{"2026-11-27 10:00:00", "CET", amsterdam, "", "2026-11-27 09:00:00"},
		{"2026-06-27 10:00:00", "CEST", amsterdam, "", "2026-06-27 08:00:00"},
		{"2026-06-27 10:00:00", "CET", amsterdam, "", "2026-06-27 08:00:00"}, // the zone, not the offset
		{"2026-10-25 02:30:00", "CEST", amsterdam, "", "2026-10-25 00:30:00"},
		{"2026-10-25 02:30:00", "CET", amsterdam, "", "2026-10-25 01:30:00"},
		{"2026-11-27 10:00:00", "PST", amsterdam, "", "2026-11-27 18:00:00"},
		{"2026-06-27 10:00:00", "PDT", amsterdam, "", "2026-06-27 17:00:00"},
		{"2026-06-27 10:00:00", "BST", amsterdam, "", "2026-06-27 09:00:00"},
		{"2026-11-27 10:00:00", "UTC", amsterdam, "", "2026-11-27 10:00:00"},
		{"2026-11-27 10:00:00", "", amsterdam, "", "2026-11-27 09:00:00"},
		{"2026-11-27 10:00", "CET", amsterdam, "", "2026-11-27 09:00:00"},
		{"2026-11-27 10:00:00", "IST", kolkata, "", "2026-11-27 04:30:00"}, // the account's own
		{"2026-11-27 10:00:00", "CST", amsterdam, `"time_zone_letters":{"CST":"Asia/Shanghai"}`, "2026-11-27 02:00:00"},
		{"2026-06-27 10:00:00", "BST", amsterdam, `"time_zone_letters":{"BST":"Asia/Dhaka"}`, "2026-06-27 04:00:00"},
		{"2026-11-27 10:00:00", "IST", kolkata, `"time_zone_letters":{"IST":"Asia/Jerusalem"}`, "2026-11-27 08:00:00"},
	} {
		text := report("", strings.Replace(row("PSP1|SettledExternally||EUR||5.00"), "2026-11-27 10:00:00,CET", tc.local+","+tc.letters, 1))
		var got models.Entry
		_, err := mustNew(t, settings(tc.setting)).ReadStatement("x.csv", strings.NewReader(text), tc.account, func(e models.Entry) error { got = e; return nil })
		if name := fmt.Sprintf("%s %s %s", tc.local, tc.letters, tc.setting); err != nil || got.OccurredAt.Format(time.DateTime) != tc.want || got.OccurredAt.Location() != time.UTC {
			t.Errorf("%s = %s, %v; want %s", name, got.OccurredAt, err, tc.want)
		}
	}
}
