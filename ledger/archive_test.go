package ledger_test

import (
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// The same bytes twice are one row, with its first name and time; every look has a time of its own, also where the clock stands still.
func TestArchivedFilesAreKeptOnce(t *testing.T) {
	at := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		file := func(sum, name string) models.Archive {
			return models.Archive{Account: "shop", Date: "2026-11-29", SHA256: sum, Name: name, Bytes: 7, Source: "folder", Mark: "m", FetchedAt: at}
		}
		for i, look := range [][]models.Archive{{file("aa", "bill.csv")}, {file("bb", "bill.csv")}, {file("aa", "other.csv"), file("cc", "more.csv")}} {
			if fresh, err := book.KeepArchived(t.Context(), look); err != nil || fresh != 1 {
				t.Errorf("look %d: %d fresh, %v; want 1", i, fresh, err)
			}
		}
		list, err := book.Archived(t.Context(), "shop", "2026-11-29")
		if err != nil || len(list) != 3 {
			t.Fatalf("%v, %v", list, err)
		}
		a, b, c := list[0], list[1], list[2]
		if a.SHA256 != "aa" || a.Name != "bill.csv" || b.SHA256 != "bb" || c.SHA256 != "cc" {
			t.Errorf("%v", list)
		}
		if !a.SeenAt.Equal(c.SeenAt) || !b.SeenAt.Before(a.SeenAt) || !b.SeenAt.After(at) || a.Bytes != 7 || a.Mark != "m" || !a.FetchedAt.Equal(at) {
			t.Errorf("%+v\n%+v\n%+v", a, b, c)
		}
		if none, err := book.Archived(t.Context(), "shop", "2026-11-28"); err != nil || len(none) != 0 {
			t.Errorf("another day: %v, %v", none, err)
		}
		if _, err := book.KeepArchived(t.Context(), nil); err == nil {
			t.Error("a look that has shown nothing was written down")
		}
	}, ledger.Options{Now: func() time.Time { return at }})
}

func TestTriesAreCounted(t *testing.T) {
	at := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		for _, problem := range []string{"not there yet", ""} {
			if err := book.NoteFetch(t.Context(), "shop", "2026-11-29", problem); err != nil {
				t.Fatal(err)
			}
		}
		got, err := book.Fetches(t.Context(), "shop", "2026-11-29")
		if f := got["2026-11-29"]; err != nil || len(got) != 1 || f.Tries != 2 || f.Problem != "" || !f.TriedAt.Equal(at) {
			t.Errorf("%v, %v", got, err)
		}
		if later, err := book.Fetches(t.Context(), "shop", "2026-11-30"); err != nil || len(later) != 0 {
			t.Errorf("%v, %v", later, err)
		}
		first, run, err := book.Began(t.Context(), "shop")
		if err != nil || !first.IsZero() || run != "" {
			t.Errorf("an account of which nothing is known began %v, %q (%v)", first, run, err)
		}
	}, ledger.Options{Now: func() time.Time { return at }})
}
