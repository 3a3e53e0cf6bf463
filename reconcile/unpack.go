package reconcile

import (
	"archive/zip"
	"compress/flate"
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // the digest that WeChat Pay names for its bills; a check for damage, not a signature
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/maphash"
	"io"
	"io/fs"

	"paybook/models"
)

// Limits of unpacking, far beyond any day's statement: what grows further is made to fill a machine, not to be read.
const (
	unpackedMax  = 16 << 30 // bytes
	unpackedFree = 64 << 20 // bytes of any file that may be packed as tightly as it likes
	ratioMax     = 200      // real statements shrink to a tenth, at the very best to a fiftieth
)

// outer is a file as it lies.
type outer struct {
	file   File
	label  string // its name in the report
	packed string // sha256 of it, hex
}

// input is one statement: a file, or what lies in one, with what is known of it.
type input struct {
	*outer
	leaf
	label     string // its name in the report
	content   string // sha256 of it unpacked, hex
	mark      uint64 // a hash of it unpacked that costs little, of this process only: it is read twice, and must be the same
	statement models.Statement
	size      int64  // bytes, unpacked
	rows      int64  // that it had
	twin      *input // an earlier one with the same content, which is read instead
	ownedBy   string // the date of the run that has read this batch, if it is another's
}

// hash is what the input is kept under: of the file as it lies, or of what lies in it beside others.
func (in *input) hash() string {
	if len(in.way) == 0 {
		return in.packed
	}
	return in.content
}

var markSeed = maphash.MakeSeed()

func newMark() *maphash.Hash {
	h := &maphash.Hash{}
	h.SetSeed(markSeed)
	return h
}

// inspect reads a file to its end and hashes all that lies in it, before anything is made of its content.
func inspect(f File, p Provider) (*outer, []*input, error) {
	o := &outer{file: f}
	var inputs []*input
	packed := hashAside(sha256.New())
	err := o.walk(packed, unpacking{provider: p, leaf: func(l leaf, r io.Reader) error {
		mark, content := newMark(), sha256.New()
		into := io.Writer(mark)
		if !l.plain {
			into = io.MultiWriter(mark, content)
		}
		size, err := io.Copy(into, r)
		if err != nil {
			return unpackError(l.name, err)
		}
		inputs = append(inputs, &input{outer: o, leaf: l, size: size, content: hexOf(content), mark: mark.Sum64()})
		return nil
	}})
	o.packed = packed.hex()
	for _, in := range inputs {
		if in.plain {
			in.content = o.packed
		}
	}
	if err == nil {
		err = asArchived(o)
	}
	return o, inputs, err
}

// asArchived refuses a file that is not what was put into the archive, if it is of one.
func asArchived(o *outer) error {
	want := o.file.SHA256
	if want == "" || want == o.packed {
		return nil
	}
	return &models.FileError{File: o.file.Name, What: "is not what was archived: its hash is " + o.packed[:12] + "…, the archive lists " + want[:min(12, len(want))] + "…",
		Next: "somebody changed it; move it away and fetch it again by `app fetch`"}
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// walk opens the file and goes through what lies in it. Every byte of the file itself goes through raw, unless one leaf only is
// wanted.
func (o *outer) walk(raw io.Writer, u unpacking) error {
	file, err := o.file.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	u.packed = &counter{r: io.TeeReader(file, raw)}
	c := streamed(u.packed)
	if f, ok := file.(interface {
		io.ReaderAt
		Stat() (fs.FileInfo, error)
	}); ok {
		info, err := f.Stat()
		if err != nil {
			return fileError(o.file.Name, err)
		}
		c.at, c.size = f, info.Size()
	}
	if err := u.unpack(leaf{name: o.file.Name}, c, 0); err != nil || u.only != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		return unpackError(o.file.Name, err)
	}
	return nil
}

// read hands over the unpacked content, checked once more at its end: a file that somebody else is still writing is not compared.
func (in *input) read(p Provider, each func(io.Reader) error) error {
	found := false
	err := in.walk(io.Discard, unpacking{provider: p, only: in.way, leaf: func(l leaf, r io.Reader) error {
		found = l.lists == in.lists
		if !found {
			return nil
		}
		c := &checked{Reader: r, in: in, seen: newMark()}
		if err := each(c); err != nil {
			return err
		}
		return c.same()
	}})
	if err == nil && !found {
		return in.changed()
	}
	return err
}

// sha1 reads the content once more: hardly any provider asks for it.
func (in *input) sha1(p Provider) (string, error) {
	h := sha1.New() //nolint:gosec // as above
	err := in.read(p, func(r io.Reader) error {
		_, err := io.Copy(h, r)
		return err
	})
	return hexOf(h), err
}

func (in *input) changed() error {
	return &models.FileError{File: in.name, What: "changed while it was read", Next: "run again when it is complete"}
}

type checked struct {
	io.Reader
	in   *input
	seen *maphash.Hash
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	_, _ = c.seen.Write(p[:n]) // it never fails
	return n, err
}

// same reads what is left and fails when the content is not what it was at first.
func (c *checked) same() error {
	if _, err := io.Copy(io.Discard, c); err != nil {
		return unpackError(c.in.name, err)
	}
	if c.seen.Sum64() != c.in.mark {
		return c.in.changed()
	}
	return nil
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

var errBomb = errors.New("unpacks to far more than a statement ever is")

// budget is what all that lies in one file may unpack to together.
type budget struct {
	packed   *counter
	unpacked int64
}

func (b *budget) limited(r io.Reader) io.Reader { return &limited{r, b} }

type limited struct {
	io.Reader
	*budget
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if l.unpacked += int64(n); tooMuch(l.unpacked, l.packed.n) {
		return 0, errBomb
	}
	return n, err
}

func tooMuch(unpacked, packed int64) bool {
	return unpacked > unpackedMax || unpacked > unpackedFree && unpacked > ratioMax*packed
}

// unpackError turns a broken file into what people can act on.
func unpackError(name string, err error) error {
	switch {
	case errors.As(err, new(*models.FileError)):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &models.FileError{File: name, What: "the packed file is cut", Next: "download it again"}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, new(flate.CorruptInputError)),
		errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum):
		return &models.FileError{File: name, What: fmt.Sprintf("damaged: %v", err), Next: "download it again"}
	case errors.Is(err, errBomb), errors.Is(err, errHeld):
		return &models.FileError{File: name, What: err.Error(), Next: "if it is genuine, " + unpackYourself}
	}
	return fileError(name, err)
}
