package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

// stage is a folder inside the archive in which files lie until all of a look are there: whatever ends it before, nothing half is seen.
type stage struct {
	archive       *Archive
	dir           string
	account, date string
	source        string
	now           time.Time
	known         []models.Archive
	look          []models.Archive
	staged        map[string]string // hash → where the file lies meanwhile
}

const (
	stagePrefix = ".incoming-"
	copyBuffer  = 1 << 20     // SFTP asks for so much at a time
	stageStale  = 2 * TimeMax // what is older was left behind by a process that was killed
)

func (a *Archive) stage(account, date string) (*stage, error) {
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	a.sweep()
	dir, err := os.MkdirTemp(a.Dir, stagePrefix)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return &stage{archive: a, dir: dir, account: account, date: date, staged: map[string]string{}}, nil
}

// sweep removes what killed processes have left behind.
func (a *Archive) sweep() {
	entries, err := os.ReadDir(a.Dir)
	if err != nil {
		return // the next step says so
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), stagePrefix) && time.Since(info.ModTime()) > stageStale {
			_ = os.RemoveAll(filepath.Join(a.Dir, e.Name())) // else the next look tries again
		}
	}
}

func (s *stage) clear() { _ = os.RemoveAll(s.dir) } // sweep takes what stays

func (s *stage) fetch(ctx context.Context, from Remote, day reconcile.Day) error {
	err := from.Fetch(ctx, day, s.now, func(f File) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(s.look) == filesMax {
			return fmt.Errorf("more than %d files for one day; make the pattern narrower", filesMax)
		}
		return s.take(ctx, f)
	})
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("not done within %v: %w", TimeMax, err)
	case err != nil:
		return err
	case len(s.look) == 0:
		return &models.NotReady{What: "no file of " + s.date}
	}
	return nil
}

// take downloads one file, unless the archive has this very version.
func (s *stage) take(ctx context.Context, f File) error {
	for _, k := range s.known {
		if f.Mark != "" && k.Mark == f.Mark && k.Source == s.source && k.Name == SafeName(f.Name) && s.archive.has(k) {
			s.add(k)
			return nil
		}
	}
	src, err := f.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	path := filepath.Join(s.dir, strconv.Itoa(len(s.look)))
	sum, n, err := s.write(ctx, path, src, f.Name)
	if err != nil {
		return err
	}
	s.staged[sum] = path
	s.add(models.Archive{Account: s.account, Date: s.date, SHA256: sum, Name: s.nameOf(sum, f.Name), Bytes: n, Source: s.source, Mark: f.Mark, FetchedAt: s.now})
	return nil
}

// nameOf is the name a file is kept under: bytes that are known keep their first one.
func (s *stage) nameOf(sum, name string) string {
	for _, k := range s.known {
		if k.SHA256 == sum {
			return k.Name
		}
	}
	return SafeName(name)
}

// add puts a file into the look, once: two files with the same bytes are one row.
func (s *stage) add(f models.Archive) {
	for _, have := range s.look {
		if have.SHA256 == f.SHA256 {
			return
		}
	}
	s.look = append(s.look, f)
}

// write stores one file for good, though under a name of the stage.
func (s *stage) write(ctx context.Context, path string, src io.Reader, name string) (sum string, n int64, err error) {
	most := s.archive.BytesMax
	if most == 0 {
		most = BytesMax
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", 0, fmt.Errorf("archive: %w", err)
	}
	hash := sha256.New()
	n, err = io.CopyBuffer(io.MultiWriter(file, hash), io.LimitReader(&whileAlive{ctx, src}, most+1), make([]byte, copyBuffer))
	if err == nil && n > most {
		err = fmt.Errorf("%s: larger than %d bytes; if it is genuine, set fetch.max", SafeName(name), most)
	}
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return hex.EncodeToString(hash.Sum(nil)), n, err
}

// whileAlive ends a download when its time is over.
type whileAlive struct {
	ctx context.Context
	src io.Reader
}

func (r *whileAlive) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.src.Read(p)
}

// settle gives the files their places. One that is there already, from a try that was killed before it was listed, is put there again.
func (s *stage) settle() error {
	folder := filepath.Join(s.archive.Dir, s.account, s.date)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	for _, f := range s.look {
		path, downloaded := s.staged[f.SHA256]
		if !downloaded {
			continue
		}
		if err := os.Rename(path, s.archive.Path(f)); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
	}
	for _, dir := range []string{folder, filepath.Dir(folder), s.archive.Dir} { // a name is on the disk when its folder is
		if err := syncDir(dir); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
	}
	return nil
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
