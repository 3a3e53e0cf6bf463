package reconcile

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"

	"paybook/models"
)

// list reads a zip's list of members and refuses what cannot be unpacked before any of it is.
func (u *unpacking) list(name string, c content) ([]*zip.File, error) {
	at := &metered{ReaderAt: c.at, left: directoryMax}
	z, err := zip.NewReader(at, c.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // of a name that leaves its folder: a label like any other
		return nil, listError(name, err)
	}
	at.left = math.MaxInt64
	members := slices.DeleteFunc(z.File, isClutter)
	slices.SortStableFunc(members, func(a, b *zip.File) int { return cmp.Compare(a.Name, b.Name) })
	if u.members += len(members); u.members > membersMax {
		return nil, listError(name, errMany)
	}
	if len(members) == 0 {
		return nil, &models.FileError{File: name, What: "the zip holds no file", Next: "download it again, or declare a day without a statement by --no-statement"}
	}
	for i, f := range members {
		if err := checkMember(name, f); err != nil {
			return nil, err
		}
		if i > 0 && f.Name == members[i-1].Name {
			return nil, &models.FileError{File: name + "/" + label(f), What: "the zip holds two members of this name", Next: unpackYourself}
		}
	}
	u.packed.n = max(u.packed.n, c.size) // read from any place, so not counted
	return members, checkSizes(name, members, c.size)
}

// checkSizes believes the list: unpacking fails where a member is longer than it says.
func checkSizes(name string, members []*zip.File, size int64) error {
	const sizeMax = math.MaxInt64 / membersMax
	var packed, unpacked int64
	for _, f := range members {
		if f.CompressedSize64 > sizeMax || f.UncompressedSize64 > sizeMax {
			return listError(name, zip.ErrFormat)
		}
		packed, unpacked = packed+int64(f.CompressedSize64), unpacked+int64(f.UncompressedSize64)
	}
	switch {
	case packed > size: // members that lie over each other, to unpack the same bytes again and again
		return listError(name, zip.ErrFormat)
	case tooMuch(unpacked, size):
		return unpackError(name, errBomb)
	}
	return nil
}

// metered bounds what may be read while the list is being read, since a list can be made as long as one likes.
type metered struct {
	io.ReaderAt
	left int64
}

func (m *metered) ReadAt(p []byte, off int64) (int, error) {
	if m.left -= int64(len(p)); m.left < 0 {
		return 0, errMany
	}
	return m.ReaderAt.ReadAt(p, off)
}

// isClutter is true for what a zip may hold beside its files: folders, and what macOS adds.
func isClutter(f *zip.File) bool {
	base := path.Base(f.Name)
	folder := f.FileInfo().IsDir() || strings.HasSuffix(f.Name, `\`)
	return folder && f.UncompressedSize64 == 0 || strings.HasPrefix(f.Name, "__MACOSX/") || strings.HasPrefix(base, "._") || base == ".DS_Store"
}

// The bit of a member's flags that says it is encrypted (APPNOTE.TXT 4.4.4), in any way.
const flagEncrypted = 1

func checkMember(zipName string, f *zip.File) error {
	bad := func(what, next string) error {
		return &models.FileError{File: zipName + "/" + label(f), What: what, Next: next}
	}
	kind := f.Mode().Type() &^ fs.ModeDir
	switch {
	case f.Name == "[Content_Types].xml":
		return &models.FileError{File: zipName, What: "an Office document such as an xlsx table, not a statement", Next: "take the provider's own file, or export it as CSV"}
	case f.Flags&flagEncrypted != 0:
		return bad("encrypted: no password is known here", unpackYourself)
	case kind != 0:
		return bad("not a regular file ("+kind.String()+")", unpackYourself)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return bad(fmt.Sprintf("packed by method %d; methods %d (stored) and %d (deflated) are read", f.Method, zip.Store, zip.Deflate),
			unpackYourself)
	}
	return nil
}

// label is a member's name for people. Chinese providers write names in GBK without saying so; others write UTF-8 without saying so.
func label(f *zip.File) string {
	name := f.Name
	if !utf8.ValidString(name) {
		if decoded, err := simplifiedchinese.GB18030.NewDecoder().String(name); err == nil {
			name = decoded
		}
	}
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == utf8.RuneError {
			return '·'
		}
		return c
	}, name)
}

var errMany = fmt.Errorf("holds more than %d files", membersMax)

// listError is about a zip whose list of members cannot be used.
func listError(name string, err error) error {
	switch {
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &models.FileError{File: name, What: "the zip is cut or damaged: its list of members, at its end, cannot be read", Next: "download it again"}
	case errors.Is(err, errMany):
		return &models.FileError{File: name, What: err.Error(), Next: unpackYourself}
	}
	return unpackError(name, err)
}
