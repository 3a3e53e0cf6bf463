package reconcile

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // the digest that WeChat Pay names for its bills; a check for damage, not a signature
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"paybook/models"
)

// Limits of unpacking, far beyond any day's statement: what grows further is made to fill a machine, not to be read.
const (
	unpackedMax  = 16 << 30 // bytes
	unpackedFree = 64 << 20 // bytes of any file that may be packed as tightly as it likes
	ratioMax     = 200      // real statements shrink to a tenth, at the very best to a fiftieth
)

// input is one statement file with what is known of it.
type input struct {
	file      File
	label     string // its name in the report
	packed    string // sha256 of the file as it lies, hex
	content   string // sha256 of it unpacked, hex
	sha1      string // of it unpacked, hex
	statement models.Statement
	twin      *input // an earlier file with the same content, which is read instead
}

// inspect reads a file to its end and hashes it, before anything is made of its content.
func inspect(f File) (*input, error) {
	in := &input{file: f, label: f.Name}
	packed := sha256.New()
	r, closer, err := unpacked(f, packed)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	content, weak := sha256.New(), sha1.New() //nolint:gosec // as above
	if _, err := io.Copy(io.MultiWriter(content, weak), r); err != nil {
		return nil, unpackError(f.Name, err)
	}
	in.packed, in.content, in.sha1 = sum(packed), sum(content), sum(weak)
	return in, nil
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// open is the unpacked content, checked once more at its end: a file that somebody else is still writing is not compared.
func (in *input) open() (*checked, error) {
	r, closer, err := unpacked(in.file, io.Discard)
	if err != nil {
		return nil, err
	}
	return &checked{Reader: r, Closer: closer, in: in, seen: sha256.New()}, nil
}

type checked struct {
	io.Reader
	io.Closer
	in   *input
	seen hash.Hash
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.seen.Write(p[:n])
	return n, err
}

// same reads what is left and fails when the content is not what it was at first.
func (c *checked) same() error {
	if _, err := io.Copy(io.Discard, c); err != nil {
		return unpackError(c.in.file.Name, err)
	}
	if sum(c.seen) != c.in.content {
		return &models.FileError{File: c.in.file.Name, What: "changed while it was read", Next: "run again when it is complete"}
	}
	return nil
}

// unpacked opens a file and takes off gzip, told by its first bytes. Every byte of the file itself goes through raw.
func unpacked(f File, raw io.Writer) (io.Reader, io.Closer, error) {
	file, err := f.Open()
	if err != nil {
		return nil, nil, err
	}
	counted := &counter{r: io.TeeReader(file, raw)}
	buf := bufio.NewReaderSize(counted, 128<<10)
	magic, err := buf.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, errors.Join(unpackError(f.Name, err), file.Close())
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return buf, file, nil
	}
	z, err := gzip.NewReader(buf)
	if err != nil {
		return nil, nil, errors.Join(unpackError(f.Name, err), file.Close())
	}
	return &limited{r: z, packed: counted}, file, nil
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

type limited struct {
	r      io.Reader
	packed *counter
	n      int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.n += int64(n)
	if l.n > unpackedMax || l.n > unpackedFree && l.n > ratioMax*l.packed.n {
		return 0, errBomb
	}
	return n, err
}

// unpackError turns a broken file into what people can act on.
func unpackError(name string, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &models.FileError{File: name, What: "the packed file is cut", Next: "download it again"}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, new(flate.CorruptInputError)):
		return &models.FileError{File: name, What: fmt.Sprintf("damaged: %v", err), Next: "download it again"}
	case errors.Is(err, errBomb):
		return &models.FileError{File: name, What: err.Error()}
	}
	return fileError(name, err)
}
