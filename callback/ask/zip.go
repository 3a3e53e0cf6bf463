package ask

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
)

// CheckZip reads all of a zip, so that what was cut or damaged on the way shows by its checksums. look is told each name in it; its
// error ends the reading.
func CheckZip(r io.ReaderAt, size int64, look func(name string) error) error {
	z, err := zip.NewReader(r, size)
	switch {
	case err != nil:
		return fmt.Errorf("not a whole zip: %w; download it again", err)
	case len(z.File) == 0:
		return errors.New("a zip with nothing in it; download it again")
	}
	for _, f := range z.File {
		if err := look(f.Name); err != nil {
			return err
		}
		if err := readThrough(f); err != nil {
			return fmt.Errorf("damaged: %w; download it again", err)
		}
	}
	return nil
}

func readThrough(f *zip.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(r, FileMax+1))
	if err == nil && n > FileMax {
		err = errors.New("unpacks to far more than a statement ever is")
	}
	return err
}
