package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"paybook/reconcile/lang"
)

// destination is where --output goes, opened before any work is done: a report that cannot be written must not cost a saved run.
type destination struct {
	path string   // what was asked for, as the user wrote it
	at   string   // behind symbolic links
	file *os.File // a temporary file beside at, or the very one that was named where that is no regular file
	temp bool
}

// openDestination opens what --output names. The statements of the run are refused: the report would replace what it is about.
func openDestination(ctx context.Context, path string, statements []string) (*destination, error) {
	d := &destination{path: path}
	if err := d.open(ctx, statements); err != nil {
		return nil, d.fail(err)
	}
	return d, nil
}

func (d *destination) fail(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err // the path is named already, and the temporary one is nobody's business
	}
	return fmt.Errorf("--output %s: %w", d.path, err)
}

func (d *destination) open(ctx context.Context, statements []string) (err error) {
	if info, err := os.Stat(d.path); err == nil && !info.Mode().IsRegular() && !info.IsDir() { // as /dev/stdout is, whose link leads nowhere
		d.file, err = openWaiting(ctx, d.path)
		return err
	}
	if d.at, err = behindLinks(d.path); err != nil {
		return err
	}
	info, err := os.Stat(d.at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d.openTemp(0)
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("a folder; name a file in it")
	}
	for _, s := range statements {
		if other, err := os.Stat(s); err == nil && os.SameFile(info, other) {
			return fmt.Errorf("is the statement %s; name another file", s)
		}
	}
	if f, err := os.OpenFile(d.at, os.O_WRONLY, 0); err != nil { // to be replaced it must be ours to write
		return err
	} else if err := f.Close(); err != nil {
		return err
	}
	return d.openTemp(info.Mode().Perm())
}

// openTemp opens a file beside the wanted one, so that a reader finds the old file or the new one, never half of one. mode is that
// of the file it replaces, 0 when there is none: it is then its owner's only.
func (d *destination) openTemp(mode fs.FileMode) (err error) {
	d.temp = true
	if d.file, err = os.CreateTemp(filepath.Dir(d.at), "."+filepath.Base(d.at)+".*"); err != nil {
		return err
	}
	if mode == 0 {
		return nil
	}
	if err = d.file.Chmod(mode); err != nil {
		d.discard()
	}
	return err
}

// linksMax is how many links in a row are followed, as systems do.
const linksMax = 40

// behindLinks follows symbolic links, also to a file that is not there yet.
func behindLinks(path string) (string, error) {
	for range linksMax {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("too many symbolic links, one behind the other")
}

// openWaiting opens a device or a named pipe, which waits for its reader, as a shell's > does; a signal ends the waiting.
func openWaiting(ctx context.Context, path string) (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// write writes the whole content and puts it in its place.
func (d *destination) write(content func(io.Writer) error) error {
	if err := content(d.file); err != nil {
		d.discard()
		return d.fail(err)
	}
	if err := d.file.Close(); err != nil {
		d.discard()
		return d.fail(err)
	}
	if !d.temp {
		return nil
	}
	if err := os.Rename(d.file.Name(), d.at); err != nil {
		d.discard()
		return d.fail(err)
	}
	d.temp = false
	return nil
}

// marked puts a byte order mark before CSV in Chinese that becomes a file: without one Excel takes its characters for those of the
// system's code page. What goes down a pipe is read by programs and has none.
func (d *destination) marked(format string, l lang.Language, content func(io.Writer) error) func(io.Writer) error {
	if format != "csv" || l != lang.Chinese || !d.temp {
		return content
	}
	return func(w io.Writer) error {
		if _, err := io.WriteString(w, "\uFEFF"); err != nil {
			return err
		}
		return content(w)
	}
}

// discard leaves nothing of a report that was not written. After write it does nothing.
func (d *destination) discard() {
	_ = d.file.Close()
	if d.temp {
		_ = os.Remove(d.file.Name())
		d.temp = false
	}
}
