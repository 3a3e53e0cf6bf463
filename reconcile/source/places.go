package source

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

// Places are all the places that one account's statements come from.
type Places struct {
	Account string
	Archive *Archive
	Folder  reconcile.Source // the patterns on our own disk; nil: none
	Keep    bool             // keep what the folder has in the archive too
	Remotes []Remote
	Again   bool   // look at the remotes also when files of the day are there already
	Scratch string // where a run that writes nothing puts what it downloads; "": into the archive
	Now     func() time.Time
	// Note is told of a place that could not be looked at while another look's files do; nil: nobody.
	Note func(error)

	// Missing is set by Files: what failed was only that nothing is there yet.
	Missing bool

	looked map[reconcile.Day]bool
}

// Files is the reconcile.Source of the account. Without Again a remote is asked only while neither the folder nor the archive has
// anything of the day.
func (p *Places) Files(ctx context.Context, day reconcile.Day) ([]reconcile.File, error) {
	files, missed, err := p.ownFiles(ctx, day)
	if err != nil {
		return nil, err
	}
	archived, err := p.Archive.Files(ctx, p.Account, day, p.names())
	if err != nil {
		return nil, err
	}
	switch {
	case len(p.Remotes) == 0 || p.looked[day]:
	case p.Again || len(files) == 0 && len(archived) == 0:
		if archived, err = p.look(ctx, day, archived); err != nil {
			p.Missing = missing(err)
			return nil, explain(err, missed)
		}
		if p.looked == nil {
			p.looked = map[reconcile.Day]bool{}
		}
		p.looked[day] = true // a run that is made again reads the same files
	}
	files = append(files, archived...)
	if p.Missing = len(files) == 0; p.Missing {
		return nil, missed
	}
	return files, nil
}

// Renew looks once more at every place whose files are archived, and returns how many files were not known before.
func (p *Places) Renew(ctx context.Context, day reconcile.Day) (fresh int, err error) {
	remotes := p.Remotes
	if p.Keep && p.Folder != nil {
		remotes = append([]Remote{folder{p.Folder}}, remotes...)
	}
	var failed error
	for _, r := range remotes {
		_, n, err := p.Archive.Fetch(ctx, p.Account, r, day, p.Now())
		if fresh += n; err != nil && !missing(err) {
			failed = err
		}
	}
	if fresh > 0 {
		return fresh, nil
	}
	return 0, failed
}

// ownFiles are the folder's, unless the archive has taken them; missed is where it looked in vain.
func (p *Places) ownFiles(ctx context.Context, day reconcile.Day) (files []reconcile.File, missed *reconcile.NoFileError, err error) {
	missed = &reconcile.NoFileError{}
	switch {
	case p.Folder == nil:
		return nil, missed, nil
	case p.Keep && p.Scratch == "":
		_, _, err = p.Archive.Fetch(ctx, p.Account, folder{p.Folder}, day, p.Now())
	default:
		files, err = p.Folder(ctx, day)
	}
	if errors.As(err, &missed) {
		return nil, missed, nil
	}
	return files, missed, err
}

// look asks every remote, and returns what the archive has then. A remote that fails does no harm when the archive has its files from an
// earlier look.
func (p *Places) look(ctx context.Context, day reconcile.Day, before []reconcile.File) ([]reconcile.File, error) {
	if p.Scratch != "" {
		return p.peek(ctx, day)
	}
	var failed error
	for _, r := range p.Remotes {
		_, _, err := p.Archive.Fetch(ctx, p.Account, r, day, p.Now())
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, err
		}
		had, readErr := p.Archive.shown(ctx, p.Account, day, r)
		switch {
		case readErr != nil:
			return nil, readErr
		case !had:
			failed = worse(failed, err)
		case p.Note != nil:
			p.Note(fmt.Errorf("%w; what was archived before is read", err))
		}
	}
	if failed != nil {
		return before, failed
	}
	return p.Archive.Files(ctx, p.Account, day, p.names())
}

// worse is the error to tell of two: one that waiting does not heal.
func worse(a, b error) error {
	if a == nil || missing(a) && !missing(b) {
		return b
	}
	return a
}

// shown says whether the archive has files of the day from a place.
func (a *Archive) shown(ctx context.Context, account string, day reconcile.Day, from Remote) (bool, error) {
	list, err := a.Book.Archived(ctx, account, day.String())
	for _, f := range list {
		if f.Source == from.String() {
			return true, err
		}
	}
	return false, err
}

// peek downloads into the scratch folder: nothing is listed, nothing is kept.
func (p *Places) peek(ctx context.Context, day reconcile.Day) ([]reconcile.File, error) {
	ctx, cancel := context.WithTimeout(ctx, TimeMax)
	defer cancel()
	scratch := &Archive{Dir: p.Scratch, BytesMax: p.Archive.BytesMax}
	var files []reconcile.File
	for _, r := range p.Remotes {
		s, err := scratch.stage(filepath.Base(p.Account), day.String())
		if err != nil {
			return nil, err
		}
		s.source, s.now = r.String(), p.Now()
		if err := s.fetch(ctx, r, day); err != nil {
			return nil, fmt.Errorf("%s: %w", r, err)
		}
		if err := s.settle(); err != nil {
			return nil, err
		}
		for _, f := range s.look {
			files = append(files, scratch.file(f))
		}
	}
	return files, nil
}

// names are the places' names in the archive.
func (p *Places) names() []string {
	var names []string
	if p.Folder != nil {
		names = append(names, folderName)
	}
	for _, r := range p.Remotes {
		names = append(names, r.String())
	}
	return names
}

// explain makes of a remote that has nothing yet what a run makes of a folder without a file.
func explain(err error, missed *reconcile.NoFileError) error {
	var early *models.NotReady
	if !errors.As(err, &early) {
		return err
	}
	return &reconcile.NoFileError{Looked: append(missed.Looked, err.Error())}
}
