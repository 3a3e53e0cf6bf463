package testdata

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKitHoldsNoPrivateKey(t *testing.T) {
	files := 0
	err := fs.WalkDir(Kit, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		raw, err := fs.ReadFile(Kit, path)
		if bytes.Contains(raw, []byte("PRIVATE KEY")) || strings.Contains(path, "TEST_ONLY") {
			t.Errorf("%s: a private key is part of the program", path)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// Whatever a kit's settings name must be there after unpacking, and every provider with a statement must say what it expects.
func TestUnpackedKitIsWhole(t *testing.T) {
	dir := t.TempDir()
	if err := Unpack(dir); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		folder, _, _ := strings.Cut(filepath.ToSlash(path), "/")
		skip := d.IsDir() || folder == "bench" || strings.Contains(path, "TEST_ONLY") || strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, ".md") || path == filepath.Join("demopay", "signature_vectors.json")
		if err != nil || skip {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not in the unpacked kit: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
