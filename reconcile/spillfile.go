package reconcile

import (
	"encoding/binary"
	"fmt"
	"os"

	"paybook/models"
)

const (
	spillParts = 256
	spillBlock = 32 << 10 // bytes of a part that are written together
)

// parts are rows in a temporary file, cut into parts whose blocks lie among each other. Nobody finds the file: its name is taken away
// before anything is written to it, so that nothing of a day's customers is left behind, however the run ends.
type parts struct {
	file *os.File
	size int64
	part [spillParts]struct {
		rows   int
		buf    []byte
		blocks []spilled
	}
	block []byte // one that was read back, used again
	arena models.Arena
}

// spilled is a block in the file.
type spilled struct {
	at   int64
	size int
}

func newParts() (*parts, error) {
	f, err := os.CreateTemp("", "paybook-run-*")
	if err != nil {
		return nil, diskError(err)
	}
	_ = os.Remove(f.Name()) // where an open file cannot be removed, close does it
	return &parts{file: f}, nil
}

func (p *parts) close() {
	_ = p.file.Close()
	_ = os.Remove(p.file.Name())
}

// diskError is about the folder of temporary files, which people may not know to be in use.
func diskError(err error) error {
	return fmt.Errorf("%s, where a day that comes in no order of time is sorted: %w; make room there, or name another folder in TMPDIR", os.TempDir(), err)
}

func (p *parts) rows(part int) int { return p.part[part].rows }

// add appends a row to a part.
func (p *parts) add(part int, row []byte) error {
	q := &p.part[part]
	if len(q.buf)+len(row)+binary.MaxVarintLen64 > spillBlock && len(q.buf) > 0 {
		if _, err := p.file.WriteAt(q.buf, p.size); err != nil {
			return diskError(err)
		}
		q.blocks = append(q.blocks, spilled{p.size, len(q.buf)})
		p.size += int64(len(q.buf))
		q.buf = q.buf[:0]
	}
	q.rows++
	q.buf = append(binary.AppendUvarint(q.buf, uint64(len(row))), row...)
	return nil
}

// each hands over the rows of a part in the order in which they were added. The rows of a part share pieces of memory.
func (p *parts) each(part int, f func(row string) error) error {
	q := &p.part[part]
	for _, b := range q.blocks {
		if cap(p.block) < b.size {
			p.block = make([]byte, max(b.size, spillBlock))
		}
		block := p.block[:b.size]
		if _, err := p.file.ReadAt(block, b.at); err != nil {
			return diskError(err)
		}
		if err := p.eachRow(block, f); err != nil {
			return err
		}
	}
	defer func() { q.buf, q.blocks, p.arena = nil, nil, models.Arena{} }()
	return p.eachRow(q.buf, f)
}

func (p *parts) eachRow(block []byte, f func(row string) error) error {
	for len(block) > 0 {
		size, n := binary.Uvarint(block)
		if n <= 0 || size > uint64(len(block)-n) {
			return errSpilled
		}
		if err := f(p.arena.Text(block[n : n+int(size)])); err != nil {
			return err
		}
		block = block[n+int(size):]
	}
	return nil
}
