package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paybook/models"
)

// Source finds the statement files of a day, in a fixed order. One that looks and finds none returns a *NoFileError.
type Source func(ctx context.Context, day Day) ([]File, error)

// File is one statement file. It is opened more than once: first to be hashed, then to be read. What is opened should be an *os.File:
// a zip is read from any place of it, where anything else is held in memory first, and bounded.
type File struct {
	Name  string // its path, or what else people know it by
	Named bool   // given by name for this very day, and not found by a pattern
	// SHA256 is what the file must hash to (hex), for one that lies in an archive; "": anything.
	SHA256 string
	Open   func() (io.ReadCloser, error)
}

// NoFileError is a source that found nothing. It is never a balanced day.
type NoFileError struct {
	Looked []string // the places
}

func (e *NoFileError) Error() string { return "no file" + e.places() }

func (e *NoFileError) places() string {
	if e == nil || len(e.Looked) == 0 {
		return ""
	}
	return ": looked for " + strings.Join(e.Looked, ", ")
}

// Files is the source of files given by name, whatever the day.
func Files(paths ...string) Source {
	return func(context.Context, Day) ([]File, error) {
		files := make([]File, 0, len(paths))
		for _, path := range paths {
			if err := checkRegular(path); err != nil {
				return nil, err
			}
			file := fileAt(path)
			file.Named = true
			files = append(files, file)
		}
		return files, nil
	}
}

// Folder is the source of files found by pattern (filepath.Match, in which {date} stands for 2026-11-29, {yyyymmdd} for 20261129,
// {yymmdd} for 261129), sorted by path.
func Folder(globs []string) Source {
	return func(_ context.Context, day Day) ([]File, error) {
		var looked, paths []string
		for _, glob := range globs {
			pattern := day.Fill(glob)
			found, err := filepath.Glob(pattern)
			if err != nil {
				return nil, fmt.Errorf("statements: %q is no pattern: %w", glob, err)
			}
			looked, paths = append(looked, pattern), append(paths, found...)
		}
		slices.Sort(paths)
		paths = slices.DeleteFunc(slices.Compact(paths), isFolder)
		if len(paths) == 0 {
			return nil, &NoFileError{Looked: looked}
		}
		files, err := Files(paths...)(context.Background(), day)
		for i := range files {
			files[i].Named = false
		}
		return files, err
	}
}

// NoStatement declares that the provider has no statement for the day: whatever the book holds of it is missing there.
func NoStatement() Source {
	return func(context.Context, Day) ([]File, error) { return nil, errDeclaredNone }
}

// errDeclaredNone tells a day that was declared to have no statement from a source that came back with empty hands.
var errDeclaredNone = errors.New("declared to have no statement")

func fileAt(path string) File {
	return File{Name: path, Open: func() (io.ReadCloser, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, fileError(path, err)
		}
		return f, nil
	}}
}

// checkRegular refuses what cannot be read twice, or would block: a named pipe has no end until somebody else closes it.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fileError(path, err)
	case info.IsDir():
		return &models.FileError{File: path, What: "a folder, not a file", Next: "name the files in it"}
	case !info.Mode().IsRegular():
		return &models.FileError{File: path, What: "not a regular file (" + info.Mode().Type().String() + ")", Next: "save the statement to a file first"}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func fileError(path string, err error) error {
	what := err.Error()
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		what = pathErr.Err.Error()
	}
	return &models.FileError{File: path, What: what}
}
