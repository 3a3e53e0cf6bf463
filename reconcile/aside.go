package reconcile

import "hash"

// aside hashes beside the reading: a day's file is read to its end before anything else is done, and that is all there is to do then.
type aside struct {
	hash        hash.Hash
	full, empty chan []byte
	done        chan struct{}
}

const asideBuffers = 4

// hashAside starts to hash what is written. It ends with hex, which must be called.
func hashAside(h hash.Hash) *aside {
	a := &aside{hash: h, full: make(chan []byte, asideBuffers), empty: make(chan []byte, asideBuffers), done: make(chan struct{})}
	for range asideBuffers {
		a.empty <- nil
	}
	go func() {
		defer close(a.done)
		for b := range a.full {
			_, _ = a.hash.Write(b) // it never fails
			a.empty <- b
		}
	}()
	return a
}

// Write implements io.Writer.
func (a *aside) Write(p []byte) (int, error) {
	a.full <- append((<-a.empty)[:0], p...)
	return len(p), nil
}

// hex is the hash of all that was written.
func (a *aside) hex() string {
	close(a.full)
	<-a.done
	return hexOf(a.hash)
}
