package reconcile_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"paybook/callback/providertest"
	"paybook/models"
	"paybook/reconcile"
)

// What archives may hold and unpack to, as said in doc and errors.
const (
	filesMost   = 100
	freeOfRatio = 64 << 20 // bytes
	ratioMost   = 200
)

// FuzzArchive: whatever lies in a file, all of it is read within the limits, the same each time, or it is refused with its place.
func FuzzArchive(f *testing.F) {
	for _, bad := range badArchives(f) {
		f.Add([]byte(bad.content))
	}
	both := []packedMember{{"a.csv", morning}, {"b.csv", evening}}
	for _, good := range []string{morning, string(packed(f, []byte(morning))), zipped(f, both...), zippedBy(f, zip.Store, both...), "answer:" + zipped(f, both...),
		string(packed(f, []byte(zipped(f, both...)))), string(packed(f, make([]byte, 1<<20))),
		zipped(f, packedMember{"in.zip", zipped(f, both...)}, packedMember{"c.gz", string(packed(f, []byte(evening)))})} {
		f.Add([]byte(good))
	}
	for _, kit := range []string{"alipay", "unionpay", "wechatpay"} {
		for _, raw := range providertest.Statements(f, testdata+"/"+kit) {
			f.Add(raw)
		}
	}
	p := answeringAccount(f).Provider
	f.Fuzz(func(t *testing.T, raw []byte) {
		onDisk := reconcile.File{Name: "x", Open: func() (io.ReadCloser, error) { return openDisk(raw) }}
		streamed := reconcile.File{Name: "x", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewBuffer(slices.Clone(raw))), nil }}
		var got []reconcile.Unpacked
		var err error
		providertest.Bounded(t, len(raw), func() { got, err = reconcile.Unpack(onDisk, p) })
		checkUnpacked(t, len(raw), got, err)
		other, otherErr := reconcile.Unpack(streamed, p)
		checkUnpacked(t, len(raw), other, otherErr)
		if err == nil && otherErr == nil && !reflect.DeepEqual(got, other) {
			t.Errorf("from the disk %v, as a stream %v", got, other)
		}
	})
}

func checkUnpacked(t *testing.T, size int, got []reconcile.Unpacked, err error) {
	t.Helper()
	if place := (*models.FileError)(nil); err != nil && (!errors.As(err, &place) || place.File == "" || place.What == "") {
		t.Errorf("error = %v, want a *models.FileError with its place", err)
	}
	var sum int64
	for _, one := range got {
		sum += one.Size
	}
	if len(got) > filesMost || sum > max(freeOfRatio, ratioMost*int64(size)) {
		t.Errorf("%d files of %d bytes together, out of %d bytes", len(got), sum, size)
	}
}

// openDisk opens bytes as if they lay on the disk: they can be read from any place.
func openDisk(raw []byte) (io.ReadCloser, error) {
	f, err := fstest.MapFS{"x": {Data: raw}}.Open("x")
	if err != nil {
		return nil, err
	}
	at, ok := f.(interface {
		fs.File
		io.ReaderAt
	})
	if !ok {
		return nil, errors.New("not readable from any place")
	}
	return at, nil
}
