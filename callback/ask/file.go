package ask

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
)

// File is a download that is here as a whole. It lies in the temporary folder, readable by nobody else, until it is closed.
type File struct {
	file *os.File
	Size int64 // in bytes
}

// Download fetches a file of at most limit bytes. It is read to its end before anybody sees a byte of it, so that it can be checked
// first: what is handed on is whole. The caller closes it.
func Download(client *http.Client, req *http.Request, limit int64) (*File, error) {
	resp, err := send(client, req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	host := req.URL.Host
	if err := (Answer{Host: host, Status: resp.StatusCode}).OK(""); err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp("", "statement-*")
	if err != nil {
		return nil, fmt.Errorf("a download needs the temporary folder (TMPDIR): %w", err)
	}
	f := &File{file: temp}
	f.Size, err = io.Copy(temp, io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		err = fmt.Errorf("%s: the file was cut off after %d bytes: %w", host, f.Size, cause(err))
	case f.Size > limit:
		err = fmt.Errorf("%s: a file longer than %d bytes", host, limit)
	case f.Size == 0:
		err = fmt.Errorf("%s: an empty file", host)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Reader reads the file from its beginning. Readers do not disturb each other.
func (f *File) Reader() io.Reader { return io.NewSectionReader(f.file, 0, f.Size) }

// ReadAt is for readers that jump, as those of zip files do.
func (f *File) ReadAt(p []byte, off int64) (int, error) { return f.file.ReadAt(p, off) }

// Close deletes the file.
func (f *File) Close() error { return errors.Join(f.file.Close(), os.Remove(f.file.Name())) }

// Exists asks for a file and leaves it unread. A status that is neither 200 nor one of those that say it is not there is an error.
func Exists(client *http.Client, req *http.Request, absent ...int) (bool, error) {
	resp, err := send(client, req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if slices.Contains(absent, resp.StatusCode) {
		return false, nil
	}
	err = Answer{Host: req.URL.Host, Status: resp.StatusCode}.OK("")
	return err == nil, err
}
