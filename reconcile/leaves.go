package reconcile

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"paybook/models"
)

// Leaf is what lies in a statement file: the file itself, or one that is packed in it.
type Leaf struct {
	Name  string // its path, for errors: "zip/member"
	Label string // its last element, for reports, unless two files are called the same
	// Content is the hash (sha256, hex) of what was read, once read has returned: of two with the same one is a copy.
	Content string
}

// EachLeaf finds the files of a day and hands over what lies in them, unpacked and bounded, for readers of statements that are no
// provider's. What read leaves unread is hashed all the same. files is nil for a day declared to have none; a source that found nothing
// is a *NoFileError.
func EachLeaf(ctx context.Context, src Source, day Day, read func(leaf *Leaf, r io.Reader) error) ([]models.RunFile, error) {
	found, err := src(ctx, day)
	switch {
	case errors.Is(err, errDeclaredNone):
		return nil, nil
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, &NoFileError{}
	}
	used := map[string]int{}
	for _, f := range found {
		used[filepath.Base(f.Name)]++
	}
	var files []models.RunFile
	for _, f := range found {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o := &outer{file: f, label: f.Name}
		if base := filepath.Base(f.Name); used[base] == 1 {
			o.label = base
		}
		if err := o.eachLeaf(read); err != nil {
			return nil, err
		}
		files = append(files, models.RunFile{Name: o.label, SHA256: o.packed})
	}
	return files, nil
}

func (o *outer) eachLeaf(read func(*Leaf, io.Reader) error) error {
	packed := sha256.New()
	err := o.walk(packed, unpacking{leaf: func(l leaf, r io.Reader) error {
		content := sha256.New()
		r = io.TeeReader(r, content)
		out := &Leaf{Name: l.name, Label: o.label + strings.TrimPrefix(l.name, o.file.Name)}
		if err := read(out, r); err != nil {
			return unpackError(out.Name, err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return unpackError(l.name, err)
		}
		out.Content = hexOf(content)
		return nil
	}})
	o.packed = hexOf(packed)
	if err == nil {
		err = asArchived(o)
	}
	return err
}
