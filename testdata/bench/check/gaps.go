package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// report is what is needed of one run of `app reconcile --format json`.
type report struct {
	Account  string          `json:"account"`
	Error    json.RawMessage `json:"error"`
	Matched  int64           `json:"matched"`
	Compared int64           `json:"compared"`
	Gaps     []gap           `json:"gaps"`
	Carried  []gap           `json:"carried"`
}

type gap struct {
	Kind          string `json:"kind"`
	EntryKind     string `json:"entry_kind"`
	TransactionID string `json:"transaction_id"`
	State         string `json:"state"`
}

func (g gap) key() string { return g.EntryKind + " " + g.TransactionID }

// gaps: a row expected as carried must not be an open gap; whether it is in the run's carried list depends on which side has it,
// so that list may only hold rows that are expected there.
func gaps(expectedFile, reportFile string) error {
	expected, carried, err := readExpected(expectedFile)
	if err != nil {
		return err
	}
	r, err := readReport(reportFile)
	if err != nil {
		return err
	}
	var wrong []string
	for _, g := range r.Gaps {
		if kind, ok := expected[g.key()]; !ok || kind != g.Kind || g.State != "open" {
			wrong = append(wrong, fmt.Sprintf("%s: found %s (%s), expected %q", g.key(), g.Kind, g.State, kind))
			continue
		}
		delete(expected, g.key()) // found twice is wrong the second time
	}
	for key, kind := range expected {
		wrong = append(wrong, fmt.Sprintf("%s: %s not found", key, kind))
	}
	for _, g := range r.Carried {
		if !carried[g.key()] {
			wrong = append(wrong, fmt.Sprintf("%s: carried, not expected", g.key()))
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return fmt.Errorf("%w: %d differences, the first:\n  %s", errWrong, len(wrong), strings.Join(wrong[:min(10, len(wrong))], "\n  "))
	}
	fmt.Printf("gaps     %d found, exactly those planted; %d carried, %d of %d compared rows match\n", len(r.Gaps), len(r.Carried), r.Matched, r.Compared)
	return nil
}

// readExpected reads transaction_id,type,kind: the open gaps by key, and the keys of the carried.
func readExpected(file string) (open map[string]string, carried map[string]bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(rows) == 0 || strings.Join(rows[0], ",") != "transaction_id,type,kind" {
		return nil, nil, fmt.Errorf("%s: the header is not transaction_id,type,kind", file)
	}
	open, carried = map[string]string{}, map[string]bool{}
	for _, row := range rows[1:] {
		key := row[1] + " " + row[0]
		if row[2] == "carried" {
			carried[key] = true
		} else {
			open[key] = row[2]
		}
	}
	return open, carried, nil
}

func readReport(file string) (report, error) {
	var runs []report
	b, err := os.ReadFile(file)
	if err != nil {
		return report{}, err
	}
	if err := json.Unmarshal(b, &runs); err != nil {
		return report{}, fmt.Errorf("%s: %w", file, err)
	}
	if len(runs) != 1 {
		return report{}, fmt.Errorf("%s: %d runs, want one", file, len(runs))
	}
	if len(runs[0].Error) > 0 {
		return report{}, fmt.Errorf("%s: the run failed: %s", file, runs[0].Error)
	}
	return runs[0], nil
}
