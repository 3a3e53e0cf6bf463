package reconcile

import (
	"hash/maphash"
	"iter"
	"math/bits"

	"paybook/models"
)

// localTable holds the book's rows that wait, by every name. Every row of the book passes through it, so it is no map: it hashes the id
// alone, with a seed of its own since ids are chosen by strangers, and looks at a row itself before it takes it for another. Slots are
// probed one after the other, and filled again when one becomes free, so that it never grows by use.
type localTable struct {
	seed  maphash.Seed
	slots []localSlot // their number is a power of two
	n     int         // slots in use
}

type localSlot struct {
	hash uint64
	row  *local // nil: free
}

const localsLeast = 1 << 10

func newLocalTable() localTable {
	return localTable{seed: maphash.MakeSeed(), slots: make([]localSlot, localsLeast)}
}

func (t *localTable) hash(id string) uint64 { return maphash.String(t.seed, id) }

func (t *localTable) home(hash uint64) int { return int(hash & uint64(len(t.slots)-1)) }

// find is the slot that a name has, -1 when it has none.
func (t *localTable) find(hash uint64, kind models.TransactionKind, id string) int {
	for i := t.home(hash); t.slots[i].row != nil; i = (i + 1) & (len(t.slots) - 1) {
		if s := &t.slots[i]; s.hash == hash && s.row.kind == kind && (s.row.id == id || s.row.providerID == id) {
			return i
		}
	}
	return -1
}

// get is the row that has the name; nil where none has.
func (t *localTable) get(kind models.TransactionKind, id string) *local {
	if i := t.find(t.hash(id), kind, id); i >= 0 {
		return t.slots[i].row
	}
	return nil
}

// add keeps a row under its names: its own id is nobody else's; a further name may be, and is then theirs who had it first.
func (t *localTable) add(l *local) {
	t.put(l, l.id, true)
	if l.providerID != "" {
		t.put(l, l.providerID, false)
	}
}

func (t *localTable) put(l *local, id string, own bool) {
	hash := t.hash(id)
	if i := t.find(hash, l.kind, id); i >= 0 {
		if own {
			t.slots[i].row = l
		}
		return
	}
	if 2*(t.n+1) > len(t.slots) {
		t.grow()
	}
	t.n++
	t.insert(localSlot{hash, l})
}

func (t *localTable) insert(s localSlot) {
	i := t.home(s.hash)
	for t.slots[i].row != nil {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = s
}

func (t *localTable) grow() {
	old := t.slots
	t.slots = make([]localSlot, 1<<bits.Len(uint(len(old))))
	for _, s := range old {
		if s.row != nil {
			t.insert(s)
		}
	}
}

// drop takes a row out.
func (t *localTable) drop(l *local) {
	t.dropName(l, l.id)
	if l.providerID != "" {
		t.dropName(l, l.providerID)
	}
}

func (t *localTable) dropName(l *local, id string) {
	if i := t.find(t.hash(id), l.kind, id); i >= 0 && t.slots[i].row == l {
		t.free(i)
	}
}

// free empties a slot and moves what was pushed behind it back to where it is looked for.
func (t *localTable) free(i int) {
	t.n--
	mask := len(t.slots) - 1
	for j := (i + 1) & mask; t.slots[j].row != nil; j = (j + 1) & mask {
		if home := t.home(t.slots[j].hash); (j-home)&mask >= (j-i)&mask {
			t.slots[i], i = t.slots[j], j
		}
	}
	t.slots[i] = localSlot{}
}

// all are the rows, each once, in no order.
func (t *localTable) all() iter.Seq[*local] {
	return func(yield func(*local) bool) {
		for _, s := range t.slots {
			if s.row != nil && s.hash == t.hash(s.row.id) && !yield(s.row) {
				return
			}
		}
	}
}
