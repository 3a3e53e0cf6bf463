package xlsx

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// sortedZip writes its members by name and without times, so that the same workbook has the same bytes: the library hands its streams
// over in any order. The members wait packed.
type sortedZip struct {
	out     *zip.Writer
	members []*member
}

type member struct {
	name   string
	packed bytes.Buffer
	packer *flate.Writer
	size   uint64
	sum    uint32
}

func newSortedZip(w io.Writer) excelize.ZipWriter { return &sortedZip{out: zip.NewWriter(w)} }

// Create begins a member. The ones before it may be written on.
func (z *sortedZip) Create(name string) (io.Writer, error) {
	m := &member{name: name}
	var err error
	if m.packer, err = flate.NewWriter(&m.packed, flate.DefaultCompression); err != nil {
		return nil, err
	}
	z.members = append(z.members, m)
	return m, nil
}

func (m *member) Write(p []byte) (int, error) {
	m.size += uint64(len(p))
	m.sum = crc32.Update(m.sum, crc32.IEEETable, p)
	return m.packer.Write(p)
}

// Close writes all members.
func (z *sortedZip) Close() error {
	slices.SortFunc(z.members, func(a, b *member) int { return strings.Compare(a.name, b.name) })
	for _, m := range z.members {
		if err := m.packer.Close(); err != nil {
			return err
		}
		out, err := z.out.CreateRaw(&zip.FileHeader{Name: m.name, Method: zip.Deflate, CRC32: m.sum,
			CompressedSize64: uint64(m.packed.Len()), UncompressedSize64: m.size})
		if err != nil {
			return err
		}
		if _, err := m.packed.WriteTo(out); err != nil {
			return err
		}
	}
	return z.out.Close()
}

// AddFS is not used by a workbook that is made anew.
func (z *sortedZip) AddFS(fs.FS) error { return errors.ErrUnsupported }
