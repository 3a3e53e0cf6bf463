package ledger

import "sync"

// group does together what many ask for at the same time: while one bunch is being done the next gathers. There is no timer, a lone one
// goes at once; and at rest there is no goroutine.
type group[W any] struct {
	most int       // in one bunch
	do   func([]W) // returns when all of them have been told

	mu      sync.Mutex
	waiting []W
	busy    bool
	closed  bool
	running sync.WaitGroup
}

// add hands something over; false when the group is closed.
func (g *group[W]) add(w W) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.waiting = append(g.waiting, w)
	if !g.busy {
		g.busy = true
		g.running.Go(g.run)
	}
	return true
}

func (g *group[W]) run() {
	for {
		bunch := g.next()
		if len(bunch) == 0 {
			return
		}
		g.do(bunch)
	}
}

func (g *group[W]) next() []W {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), g.most)
	bunch := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.busy = n > 0
	return bunch
}

// close waits for what was handed over, and takes nothing any more.
func (g *group[W]) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.running.Wait()
}
