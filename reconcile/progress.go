package reconcile

import "io"

// Progress is how far the reading of a run's statements has come. Once all is read, Done is Total, and the rest is settled and saved.
type Progress struct {
	Rows        int64 // of all of them together, so far
	Done, Total int64 // bytes, unpacked
}

// progressEvery is how many rows pass between two calls of Options.Progress.
const progressEvery = 10_000

func (r *run) tellProgress() {
	if r.progress != nil {
		r.progress(r.read)
	}
}

// counted adds what is read of a statement to what is done.
type counted struct {
	io.Reader
	done *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.done += int64(n)
	return n, err
}

// sizes is what there is to be read.
func sizes(inputs []*input) (total int64) {
	for _, in := range inputs {
		if in.twin == nil {
			total += in.size
		}
	}
	return total
}
