package reconcile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// TestHashAside: the hash is of what was written, though the writer uses its bytes again.
func TestHashAside(t *testing.T) {
	for _, sizes := range [][]int{nil, {0}, {1, 2, 3}, {100_000, 1, 200_000, 64, 64, 64, 64, 64}} {
		a, all := hashAside(sha256.New()), []byte{}
		buffer := make([]byte, 200_000)
		for i, size := range sizes {
			copy(buffer, bytes.Repeat([]byte{byte(i + 1)}, size))
			if n, err := a.Write(buffer[:size]); n != size || err != nil {
				t.Fatal(n, err)
			}
			all = append(all, buffer[:size]...)
			clear(buffer)
		}
		if want := sha256.Sum256(all); a.hex() != hex.EncodeToString(want[:]) {
			t.Errorf("pieces of %v bytes: another hash than of all at once", sizes)
		}
	}
}
