package reconcile_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

// splitting reads statements as the default layout does; each begins with a line that says which file of a report it is.
type splitting struct{ reconcile.Provider }

func (p splitting) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return models.Statement{}, err
	}
	first, rest, _ := strings.Cut(string(raw), "\n")
	var part models.Part
	if _, err := fmt.Sscanf(first, "%s %d %t %d %d", &part.Of, &part.Number, &part.Last, &part.Rows, &part.Total); err != nil {
		return models.Statement{}, err
	}
	s, err := p.Provider.ReadStatement(name, strings.NewReader(rest), zone, each)
	s.Part = part
	return s, err
}

// TestParts: a report in several files is read when all of them are there, in any order, and refused else.
func TestParts(t *testing.T) {
	const one, two = "STL 1 false 1 0\n" + morning, "STL 2 true 1 2\n" + evening
	for _, c := range []struct {
		name  string
		files []string
		words []string // nil: balanced
	}{
		{"both", []string{one, two}, nil},
		{"the second first", []string{two, one}, nil},
		{"one that is all", []string{"STL 1 true 2 2\n" + morning + evening[len(header):]}, nil},
		{"nobody has counted all", []string{"STL 1 false 1 -1\n" + morning, "STL 2 true 1 -1\n" + evening}, nil},
		{"of two reports", []string{"STL 1 true 1 1\n" + morning, "TRR 1 true 1 1\n" + evening}, nil},
		{"no report of files", []string{"STL 0 false 0 0\n" + morning, "STL 0 false 0 0\n" + evening}, nil},
		{"the first alone", []string{one}, []string{"0.csv", "it is file 1 of its report and does not end it: file 2 is missing"}},
		{"the last alone", []string{two}, []string{"0.csv", "it is file 2 of its report, file 1 is missing"}},
		{"one between is missing", []string{one, "STL 3 true 1 3\n" + evening}, []string{"1.csv", "it is file 3 of its report, file 2 is missing"}},
		{"one number twice", []string{one, "STL 1 false 1 0\n" + evening}, []string{"it is file 1 of its report, and so is"}},
		{"one behind the end", []string{"STL 1 true 1 1\n" + morning, two}, []string{"1.csv", "it is file 2 of a report that ends with file 1, 0.csv"}},
		{"rows are missing", []string{one, "STL 2 true 1 3\n" + evening}, []string{"1.csv", "its report has 3 rows in all files, those given have 2"}},
		{"the other report's is missing", []string{"STL 1 true 1 1\n" + morning, "TRR 1 false 1 0\n" + evening}, []string{"1.csv", "file 2 is missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sqlite(t)
			paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 20:00:00")
			a := plainAccount(t)
			a.Provider = splitting{a.Provider}
			var files []string
			for i, text := range c.files {
				files = append(files, file(t, fmt.Sprintf("%d.csv", i), []byte(text)))
			}
			r, err := tryRun(t.Context(), b, a, day(t, "2026-11-28"), files...)
			if c.words != nil {
				wantFileError(t, err, c.words...)
				wantNothingWritten(t, b)
			} else if err != nil || r.Result != models.Balanced {
				t.Errorf("%+v, %v; want it balanced", r, err)
			}
		})
	}
}

// finalStates reads each row's status as the last word on it.
type finalStates struct{ reconcile.Provider }

func (p finalStates) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	return p.Provider.ReadStatement(name, r, zone, func(e models.Entry) error {
		e.Final = true
		return each(e)
	})
}

// TestFinalPending: what is pending in a snapshot may have come since; what is not paid in a bill made behind the day has not.
func TestFinalPending(t *testing.T) {
	for _, c := range []struct {
		status string
		final  bool
		want   models.GapKind
	}{
		{"pending", true, models.GapStatus}, {"pending", false, ""}, {"succeeded", true, ""}, {"succeeded", false, ""}, {"closed", true, models.GapStatus}, {"closed", false, models.GapStatus},
	} {
		b := sqlite(t)
		paid(t, b, "p1 2026-11-28 10:00:00")
		a := plainAccount(t)
		if c.final {
			a.Provider = finalStates{a.Provider}
		}
		r, err := tryRun(t.Context(), b, a, day(t, "2026-11-28"), file(t, "a.csv", []byte(strings.Replace(morning, "succeeded", c.status, 1))))
		if err != nil {
			t.Fatal(err)
		}
		var got models.GapKind
		if len(r.Gaps) > 0 {
			got = r.Gaps[0].Kind
		}
		if len(r.Gaps) > 1 || got != c.want {
			t.Errorf("%s, final %t: gaps %+v, want %q", c.status, c.final, r.Gaps, c.want)
		}
	}
}
