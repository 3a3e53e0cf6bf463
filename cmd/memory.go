package cmd

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	sampled "runtime/metrics"
)

// A long run makes much that is garbage at once, and keeps little. Up to a fixed size its memory is therefore let grow, whatever is in
// use, so that it is the same on a small day and a large one; when more than that comes to be in use, which only very many gaps do, it
// may grow by a part of what is.
const (
	memoryRoom   = 54 << 20 // bytes
	liveCrowded  = 64 << 20 // bytes in use that leave too little of the room
	growCrowded  = 33       // percent of what is in use
	liveHeapName = "/gc/heap/live:bytes"
)

// steadyMemory holds the process to that until restore is called. What the environment says about memory goes first.
func steadyMemory() (restore func()) {
	if os.Getenv("GOGC") != "" || debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() {}
	}
	limit, percent := debug.SetMemoryLimit(memoryRoom), debug.SetGCPercent(-1)
	done := make(chan struct{})
	afterEachCollection(func() (again bool) {
		select {
		case <-done:
			return false
		default:
		}
		live := []sampled.Sample{{Name: liveHeapName}}
		sampled.Read(live)
		if live[0].Value.Uint64() < liveCrowded {
			return true
		}
		debug.SetGCPercent(growCrowded)
		debug.SetMemoryLimit(math.MaxInt64)
		return false
	})
	return func() {
		close(done)
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}

// afterEachCollection calls f when the garbage collector has been at work, for as long as f says so.
func afterEachCollection(f func() (again bool)) {
	runtime.SetFinalizer(&struct{ _ [64]byte }{}, func(*struct{ _ [64]byte }) {
		if f() {
			afterEachCollection(f)
		}
	})
}
