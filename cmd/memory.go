package cmd

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	sampled "runtime/metrics"
	"sync"
)

// A long run makes much that is garbage at once, and keeps little. Up to a fixed size its memory is therefore let grow, whatever is in
// use, so that it is the same on a small day and a large one. When more than that comes to be in use, which only very many gaps do, it
// may grow by a part of what is.
const (
	memoryRoom     = 60 << 20  // bytes
	sortingRoom    = 112 << 20 // where rows that come in no order of time are sorted
	crowdedPercent = 115       // of the room: in use, it leaves too little of it
	growCrowded    = 33        // percent of what is in use
)

// memory holds the process to that until it is restored. The zero value holds it to nothing.
type memory struct {
	mu      sync.Mutex
	room    uint64 // 0: the collector is at its own again
	limit   int64  // what it was before
	percent int
}

// steadyMemory begins. What the environment says about memory goes first.
func steadyMemory() *memory {
	m := &memory{}
	if os.Getenv("GOGC") == "" && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		m.limit, m.percent = debug.SetMemoryLimit(memoryRoom), debug.SetGCPercent(-1)
		m.room = memoryRoom
		afterEachCollection(m.watch)
	}
	return m
}

// sorting gives more room.
func (m *memory) sorting() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.room == memoryRoom {
		m.room = sortingRoom
		debug.SetMemoryLimit(sortingRoom)
	}
}

func (m *memory) watch() (again bool) {
	live := []sampled.Sample{{Name: "/gc/heap/live:bytes"}}
	sampled.Read(live)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.room == 0 || live[0].Value.Uint64() < m.room/100*crowdedPercent {
		return m.room != 0
	}
	m.end(math.MaxInt64, growCrowded)
	return false
}

func (m *memory) restore() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.percent != 0 {
		m.end(m.limit, m.percent)
	}
}

func (m *memory) end(limit int64, percent int) {
	m.room = 0
	debug.SetGCPercent(percent)
	debug.SetMemoryLimit(limit)
}

// afterEachCollection calls f when the garbage collector has been at work, for as long as f says so.
func afterEachCollection(f func() (again bool)) {
	runtime.SetFinalizer(&struct{ _ [64]byte }{}, func(*struct{ _ [64]byte }) {
		if f() {
			afterEachCollection(f)
		}
	})
}
