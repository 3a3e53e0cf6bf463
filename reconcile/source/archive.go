package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
)

// Archive keeps statement files as they came: DIR/ACCOUNT/DATE/HASH-NAME, readable by its owner alone, and listed in the book. Nothing in
// it is ever changed or removed by the program.
type Archive struct {
	Dir      string
	Book     *ledger.Ledger
	BytesMax int64 // of one file; 0: BytesMax
}

// Fetch looks once at a place and keeps what it shows of the day. fresh is how many files were not known before. A place that shows
// nothing is a *models.NotReady.
func (a *Archive) Fetch(ctx context.Context, account string, from Remote, day reconcile.Day, now time.Time) (look []models.Archive, fresh int, err error) {
	ctx, cancel := context.WithTimeout(ctx, TimeMax)
	defer cancel()
	known, err := a.Book.Archived(ctx, account, day.String())
	if err != nil {
		return nil, 0, err
	}
	s, err := a.stage(account, day.String())
	if err != nil {
		return nil, 0, err
	}
	defer s.clear()
	s.source, s.now, s.known = from.String(), now, known
	if err := s.fetch(ctx, from, day); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", from, err)
	}
	if err := s.settle(); err != nil {
		return nil, 0, err
	}
	fresh, err = a.Book.KeepArchived(ctx, s.look)
	return s.look, fresh, err
}

// Files are the day's files as the run shall read them: of every place named what it has shown last. Of an archive that knows other
// places only, what those have shown last.
func (a *Archive) Files(ctx context.Context, account string, day reconcile.Day, places []string) ([]reconcile.File, error) {
	list, err := a.Book.Archived(ctx, account, day.String())
	if err != nil {
		return nil, err
	}
	var files []reconcile.File
	for _, f := range current(list, places) {
		files = append(files, a.file(f))
	}
	return files, nil
}

// current are the files of which their place's newest look was.
func current(list []models.Archive, places []string) []models.Archive {
	asked, named, newest := map[string]bool{}, false, map[string]time.Time{}
	for _, p := range places {
		asked[p] = true
	}
	for _, f := range list {
		named = named || asked[f.Source]
		if f.SeenAt.After(newest[f.Source]) {
			newest[f.Source] = f.SeenAt
		}
	}
	var out []models.Archive
	for _, f := range list {
		if f.SeenAt.Equal(newest[f.Source]) && (asked[f.Source] || !named) {
			out = append(out, f)
		}
	}
	return out
}

// file is an archived file for the run, which knows it by the name it came with, and checks its hash.
func (a *Archive) file(f models.Archive) reconcile.File {
	path := a.Path(f)
	return reconcile.File{Name: f.Name, SHA256: f.SHA256, Open: func() (io.ReadCloser, error) {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &models.FileError{File: path, What: "is listed in the archive, and is not there",
				Next: fmt.Sprintf("put it back, or fetch it again: app fetch --account %s --date %s", f.Account, f.Date)}
		}
		if err != nil {
			return nil, fmt.Errorf("archive: %w", err)
		}
		return file, nil
	}}
}

// Path is where an archived file lies.
func (a *Archive) Path(f models.Archive) string {
	return filepath.Join(a.Dir, f.Account, f.Date, f.SHA256[:min(12, len(f.SHA256))]+"-"+f.Name)
}

// has says whether an archived file is there, at its length.
func (a *Archive) has(f models.Archive) bool {
	info, err := os.Stat(a.Path(f))
	return err == nil && info.Mode().IsRegular() && info.Size() == f.Bytes
}
