package unionpay

import (
	"strings"
	"testing"
	"time"
)

// Times have no year: the settlement day gives it, or the queryId where the file has lost its name.
func TestYears(t *testing.T) {
	p := mustNew(t, nil)
	for _, c := range []struct{ name, queryID, cell, want string }{
		{"INN27010100ZM_777000000000001", "x", "1231233000", "2026-12-31 23:30:00"},
		{"INN27010100ZM_777000000000001", "x", "0101000100", "2027-01-01 00:01:00"},
		{"INN26123100ZM_777000000000001", "x", "1231000000", "2026-12-31 00:00:00"},
		{"INN26123100ZM_777000000000001", "x", "0101100000", "2027-01-01 10:00:00"}, // of another day, not of another year
		{"INN26112900ZM_777000000000001", "x", "1130100000", "2026-11-30 10:00:00"},
		{"INN26112900ZM_777000000000001", "x", "1128100000", "2026-11-28 10:00:00"},
		{"INN27020100ZM_777000000000001", "x", "1129100000", "2026-11-29 10:00:00"},
		{"INN28022900ZM_777000000000001", "x", "0229120000", "2028-02-29 12:00:00"},
		{"inn26112900zm_777000000000001", "x", "1129231000", "2026-11-29 23:10:00"},
		{"2027-01-01.txt", "x", "1231233000", "2026-12-31 23:30:00"},
		{"bill.txt", "202612312330000000001", "1231233000", "2026-12-31 23:30:00"},
		{"bill.txt", "202701010000010000001", "1231235959", "2026-12-31 23:59:59"},
		{"bill.txt", "202612312359590000001", "0101000001", "2027-01-01 00:00:01"},
		{"bill-20991399.txt", "202611291000000000001", "1129100000", "2026-11-29 10:00:00"},
		{"bill.txt", "x", "1129100000", "row 1: column 交易传输时间: nothing tells its year"},
		{zmName, "x", "0230100000", "row 1: column 交易传输时间: "},
		{zmName, "x", "1129 10000", "row 1: column 交易传输时间: "},
		{zmName, "x", "", "row 1: column 交易传输时间: "},
		{"bill.txt", "202611291000000000001", "1329100000", `row 1: column 交易传输时间: "1329100000" is no time`},
		{"INN27022800ZM_777000000000001", "x", "0229120000", "row 1: column 交易传输时间: "},
	} {
		_, entries, err := read(p, c.name, strings.NewReader(file(paid(t, 1, fields{"查询流水号": c.queryID, "交易传输时间": c.cell}))))
		switch {
		case strings.HasPrefix(c.want, "row"):
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v, want %s", c.name, c.cell, err, c.want)
			}
		case err != nil || !entries[0].OccurredAt.Equal(at(c.want)):
			t.Errorf("%s %s: %v, %v; want %s", c.name, c.cell, entries, err, c.want)
		}
	}
}

// A file's own name says which settlement day it is of, so that another day's is refused; a name with any date only helps with years.
func TestSettlementDay(t *testing.T) {
	p := mustNew(t, nil)
	for name, day := range map[string]string{
		zmName: "2026-11-29", "x.zip/" + zmName + ".txt": "2026-11-29", "INN27030100ZM_777000000000001": "2027-03-01", "2026-11-30/" + zmName: "2026-11-29",
		"statement-2026-11-29.txt": "", "bill.txt": "", "INN26139900ZM_777000000000001": "", "inn26113000zme_777000000000001": "2026-11-30",
	} {
		text := file(paid(t, 1, nil))
		if strings.Contains(name, "zme") {
			text = ""
		}
		s, _, err := read(p, name, strings.NewReader(text))
		from, to := time.Time{}, time.Time{}
		if day != "" {
			to = at(day + " 23:00:00")
			from = to.AddDate(0, 0, -1)
		}
		if err != nil || !s.From.Equal(from) || !s.To.Equal(to) {
			t.Errorf("%s: from %s to %s, %v; want %s to %s", name, s.From, s.To, err, from, to)
		}
	}
}
