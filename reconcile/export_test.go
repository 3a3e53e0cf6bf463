package reconcile

import "io"

// Unpacked is one statement that lies in a file.
type Unpacked struct {
	Name string
	Size int64 // bytes
}

// Unpack goes through a file as a run does: first it hashes all that lies in it, then it reads each statement, without a database.
func Unpack(f File, p Provider) ([]Unpacked, error) {
	_, inputs, err := inspect(f, p)
	if err != nil {
		return nil, err
	}
	var list []Unpacked
	for _, in := range inputs {
		err := in.read(p, func(r io.Reader) error {
			n, err := io.Copy(io.Discard, r)
			list = append(list, Unpacked{in.name, n})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// SetWaitingMax sets how many rows may wait in memory, and returns how many could before.
func SetWaitingMax(n int) int {
	was := waitingMax
	waitingMax = n
	return was
}

// SetManyLines sets how many gaps are read back for the report, and returns how many were before.
func SetManyLines(n int) int {
	was := manyLines
	manyLines = n
	return was
}
