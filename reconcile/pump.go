package reconcile

import "errors"

// pump runs one reader beside another: rows come over in batches, for handing over each by itself would cost more than reading it.
type pump[T any] struct {
	full, empty chan []T
	stop        chan struct{}
	failed      error // good once full is closed
	size        int   // of a batch

	batch []T
	at    int
}

// What rows travel by.
const (
	pumpBatch   = 256
	pumpBatches = 4
)

// errStopped ends a reader whose rows nobody wants any more.
var errStopped = errors.New("stopped")

// startPump starts read, which gives its rows one by one; a row it has given is its own again. They travel size together, with at most so
// many batches on their way. The caller closes the pump.
func startPump[T any](read func(give func(*T) error) error, size, batches int) *pump[T] {
	p := &pump[T]{size: size, full: make(chan []T, batches), empty: make(chan []T, batches+2), stop: make(chan struct{})}
	for range cap(p.empty) { // one is being filled, and one read
		p.empty <- nil
	}
	go func() {
		defer close(p.full)
		p.failed = p.run(read)
	}()
	return p
}

func (p *pump[T]) run(read func(give func(*T) error) error) error {
	batch := <-p.empty
	send := func() error {
		select {
		case p.full <- batch:
		case <-p.stop:
			return errStopped
		}
		batch = <-p.empty // there are more of them than can be on their way
		return nil
	}
	err := read(func(row *T) error {
		if batch == nil {
			batch = make([]T, 0, p.size)
		}
		if batch = append(batch, *row); len(batch) < p.size {
			return nil
		}
		return send()
	})
	if len(batch) > 0 && !errors.Is(err, errStopped) { // what came before an error came
		err = errors.Join(err, send())
	}
	return err
}

// next is the next row, good until the one after it is asked for; nil at the end, or when reading has failed.
func (p *pump[T]) next() (*T, error) {
	if p.at == len(p.batch) {
		if p.batch != nil {
			p.empty <- p.batch[:0]
		}
		batch, more := <-p.full
		if p.batch, p.at = batch, 0; !more {
			return nil, p.failed
		}
	}
	p.at++
	return &p.batch[p.at-1], nil
}

// close ends the reading and waits until the reader has let go of what it holds.
func (p *pump[T]) close() {
	close(p.stop)
	for range p.full {
		p.empty <- nil
	}
}
