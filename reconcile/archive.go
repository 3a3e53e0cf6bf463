package reconcile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"paybook/models"
)

// Limits of what may lie in one file. A day's statement is one member, or a handful of them.
const (
	membersMax   = 100
	layersMax    = 3        // a zip in an answer of the provider's API, with packed members
	heldMax      = 20 << 20 // bytes of a zip that does not lie on the disk by itself, and is held in memory
	heldFree     = 1 << 20  // bytes of it that may be packed once more as tightly as they like
	heldRatio    = 50       // what is packed already hardly shrinks again; stored in it, a statement may
	directoryMax = 1 << 20  // bytes of a zip's list of members: it is read before their number is known
	bufferSize   = 128 << 10
)

// unpackYourself is the way out of what is not unpacked here.
const unpackYourself = "unpack it and name the statement itself"

// content is a layer of a file: what lies on the disk, or what comes out of it by unpacking once.
type content struct {
	*bufio.Reader
	at   io.ReaderAt // of the same bytes; nil where only a stream can be had
	size int64       // of at
}

func streamed(r io.Reader) content { return content{Reader: bufio.NewReaderSize(r, bufferSize)} }

// unpacking goes through one file, layer by layer, and hands over what is packed no further, in a fixed order. Nothing is written
// to the disk, so a member's name is a label and no path.
type unpacking struct {
	provider Provider
	budget
	only    []int // not nil: the way to the one leaf that is wanted; what lies beside it is left packed
	members int
	leaf    func(l leaf, r io.Reader) error
}

// leaf is what a reader of statements gets to read.
type leaf struct {
	name  string // "zip/member", or the file's own
	way   []int  // the member's place in each zip on the way to it
	lists string // what those zips said that they hold
	plain bool   // it is the file as it lies
}

// unpack takes off one layer. The provider is asked first: its answer may look like anything.
func (u *unpacking) unpack(l leaf, c content, layers int) error {
	if layers > layersMax {
		return &models.FileError{File: l.name, What: fmt.Sprintf("packed more than %d times over", layersMax), Next: unpackYourself}
	}
	carried, err := u.unwrap(l.name, c)
	if err != nil {
		return err
	}
	if carried.at != nil {
		return u.unpack(l, carried, layers+1)
	}
	head, err := c.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return unpackError(l.name, err)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(c)
		if err != nil {
			return unpackError(l.name, err)
		}
		return u.unpack(l, streamed(u.limited(z)), layers+1)
	case isZip(head):
		return u.unzip(l, c, layers)
	}
	for magic, name := range otherArchives {
		if bytes.HasPrefix(head, []byte(magic)) {
			return &models.FileError{File: l.name, What: name + ", which is not read here", Next: unpackYourself}
		}
	}
	if u.only != nil && !slices.Equal(l.way, u.only) {
		return nil
	}
	l.plain = layers == 0
	return u.leaf(l, c)
}

// isZip knows the first member of a zip, the end of an empty one, and the mark of one that was to be split.
func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) || bytes.HasPrefix(head, []byte("PK\x07\x08"))
}

// otherArchives are refused by name, by how they begin: a reader of statements would only find bytes that are no text.
var otherArchives = map[string]string{
	"7z\xbc\xaf\x27\x1c": "a 7z archive", "Rar!\x1a\x07": "a RAR archive", "\xfd7zXZ\x00": "packed by xz", "\x28\xb5\x2f\xfd": "packed by zstd",
	"BZh91AY": "packed by bzip2",
}

// unwrap is what an answer of the provider's API carries; without at when the content is no such answer. The answer is read to its
// end, where a checksum may be.
func (u *unpacking) unwrap(name string, c content) (content, error) {
	p, ok := u.provider.(Unwrapper)
	if !ok {
		return content{}, nil
	}
	carried, err := p.Unwrap(name, c.Reader)
	if err != nil {
		return content{}, unpackError(name, err)
	}
	if carried == nil {
		return content{}, nil
	}
	held, err := u.hold(carried)
	if err == nil {
		_, err = io.Copy(io.Discard, c)
	}
	if err != nil {
		return content{}, unpackError(name, err)
	}
	return held, nil
}

var errHeld = fmt.Errorf("an archive within another file, of more than %d MiB", heldMax>>20)

// hold reads into memory what has to be read from any place, unless it lies there already.
func (u *unpacking) hold(r io.Reader) (content, error) {
	at, ok := r.(*bytes.Reader)
	if !ok || int64(at.Len()) != at.Size() {
		raw, err := io.ReadAll(&holding{Reader: r, packed: u.packed})
		if err != nil {
			return content{}, err
		}
		at = bytes.NewReader(raw)
	}
	c := streamed(at)
	c.at, c.size = at, at.Size()
	return c, nil
}

// holding bounds what is held of one archive within another.
type holding struct {
	io.Reader
	packed *counter
	n      int64
}

func (h *holding) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	switch h.n += int64(n); {
	case h.n > heldMax:
		return 0, errHeld
	case h.n > heldFree && h.n > heldRatio*h.packed.n:
		return 0, errBomb
	}
	return n, err
}

func (u *unpacking) unzip(l leaf, c content, layers int) error {
	if c.at == nil {
		var err error
		if c, err = u.hold(c); err != nil {
			return unpackError(l.name, err)
		}
	}
	members, err := u.list(l.name, c)
	if err != nil {
		return err
	}
	lists := l.lists + describe(members)
	for i, f := range members {
		inner := leaf{name: l.name + "/" + label(f), way: append(slices.Clip(l.way), i), lists: lists}
		if !u.wants(inner.way) {
			continue
		}
		if err := u.member(inner, f, layers); err != nil {
			return err
		}
	}
	return nil
}

// describe is the same for two zips only if they hold the same. Each member's own content is hashed where it is read; this tells of
// one that was added or taken away.
func describe(members []*zip.File) string {
	var b strings.Builder
	for _, f := range members {
		fmt.Fprintf(&b, "%q %08x %d ", f.Name, f.CRC32, f.UncompressedSize64)
	}
	return b.String() + "/"
}

func (u *unpacking) wants(way []int) bool {
	return u.only == nil || len(way) <= len(u.only) && slices.Equal(way, u.only[:len(way)])
}

func (u *unpacking) member(l leaf, f *zip.File, layers int) error {
	r, err := f.Open()
	if err != nil {
		return unpackError(l.name, err)
	}
	defer r.Close()
	return u.unpack(l, streamed(u.limited(r)), layers+1)
}
