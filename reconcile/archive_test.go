package reconcile_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"paybook/models"
	"paybook/reconcile"
)

// packedMember is one member of a zip made here: a name and its content.
type packedMember struct{ name, content string }

// zipped packs members in the order given.
func zipped(t testing.TB, members ...packedMember) string {
	t.Helper()
	return zippedBy(t, zip.Deflate, members...)
}

func zippedBy(t testing.TB, method uint16, members ...packedMember) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, m := range members {
		addMember(t, z, &zip.FileHeader{Name: m.name, Method: method, NonUTF8: true}, m.content)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func addMember(t testing.TB, z *zip.Writer, h *zip.FileHeader, content string) {
	t.Helper()
	w, err := z.CreateHeader(h)
	if err == nil && content != "" {
		_, err = io.WriteString(w, content)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// answering is a provider whose statements also come in an answer of its API: "answer:" and what it carries.
type answering struct{ reconcile.Provider }

func (answering) Unwrap(name string, src *bufio.Reader) (io.Reader, error) {
	const mark = "answer:"
	if head, _ := src.Peek(len(mark)); string(head) != mark {
		return nil, nil
	}
	raw, err := io.ReadAll(src)
	if err != nil {
		return nil, err
	}
	carried := raw[len(mark):]
	if bytes.HasPrefix(carried, []byte("98")) {
		return nil, &models.FileError{File: name, What: "an answer without a file (98)", Next: "ask again later"}
	}
	return bytes.NewReader(carried), nil
}

func answeringAccount(t testing.TB) reconcile.Account {
	t.Helper()
	a := plainAccount(t)
	a.Provider = answering{a.Provider}
	return a
}

const (
	morning = header + "p1,O-p1,payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,\n"
	evening = header + "p2,O-p2,payment,20.00,CNY,succeeded,2026-11-28 20:00:00,,\n"
	spoilt  = header + "p1,O-p1,payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,\np2,O-p2,payment,(1),CNY,succeeded,2026-11-28 20:00:00,,\n"
)

// TestArchives: however a day's two files are packed, both are read, each once.
func TestArchives(t *testing.T) {
	both := []packedMember{{"b.csv", evening}, {"a.csv", morning}}
	gbk, err := simplifiedchinese.GB18030.NewEncoder().String("业务明细.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		files []packedMember
		notes []string
	}{
		{"a zip", []packedMember{{"day.zip", zipped(t, both...)}}, nil},
		{"stored, not packed", []packedMember{{"day.zip", zippedBy(t, zip.Store, both...)}}, nil},
		{"folders and what macOS adds", []packedMember{{"day.zip", zipped(t, packedMember{"day/", ""}, packedMember{"day/a.csv", morning}, packedMember{"__MACOSX/day/._a.csv", "\x00\x05"},
			packedMember{"day/.DS_Store", "Bud1"}, packedMember{"day/._b.csv", "\x00"}, packedMember{`sub\`, ""}, packedMember{"day/b.csv", evening})}}, nil},
		{"packed members", []packedMember{{"day.zip", zipped(t, packedMember{"a.csv.gz", string(packed(t, []byte(morning)))}, both[0])}}, nil},
		{"a zip in a zip", []packedMember{{"day.zip", zipped(t, packedMember{"in.zip", zipped(t, both...)})}}, nil},
		{"a packed zip", []packedMember{{"day.zip.gz", string(packed(t, []byte(zipped(t, both...))))}}, nil},
		{"an answer with a zip", []packedMember{{"answer.txt", "answer:" + zipped(t, both...)}}, nil},
		{"an answer with a zip of packed members", []packedMember{{"answer.txt", "answer:" + zipped(t, packedMember{"a.csv.gz", string(packed(t, []byte(morning)))}, both[0])}}, nil},
		{"answers in a zip", []packedMember{{"day.zip", zipped(t, packedMember{"1", "answer:" + morning}, packedMember{"2", "answer:" + string(packed(t, []byte(evening)))})}}, nil},
		{"plain beside packed", []packedMember{{"a.csv", morning}, {"day.zip", zipped(t, both...)}}, []string{"day.zip/a.csv: the same statement as a.csv, read once"}},
		{"a zip and the answer that carried it", []packedMember{{"day.zip", zipped(t, both...)}, {"answer.txt", "answer:" + zipped(t, both...)}},
			[]string{"answer.txt/a.csv: the same statement as day.zip/a.csv, read once", "answer.txt/b.csv: the same statement as day.zip/b.csv, read once"}},
		{"one statement twice in a zip", []packedMember{{"day.zip", zipped(t, append(both, packedMember{"c.csv", morning})...)}}, []string{"day.zip/c.csv: the same statement as day.zip/a.csv, read once"}},
		{"names in GBK, in UTF-8, and of another folder", []packedMember{{"day.zip", zipped(t, packedMember{gbk, morning}, packedMember{"../../业务.csv", evening}, packedMember{"/etc/业务\x1b.csv", evening}, packedMember{"z", morning})}},
			[]string{"day.zip//etc/业务·.csv: the same statement as day.zip/../../业务.csv, read once", "day.zip/业务明细.csv: the same statement as day.zip/z, read once"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sqlite(t)
			paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 20:00:00")
			var files []string
			for _, f := range c.files {
				files = append(files, file(t, f.name, []byte(f.content)))
			}
			r := run(t, b, answeringAccount(t), "2026-11-28", files...)
			wantRun(t, r, "2 2")
			if strings.Join(r.Notes, "\n") != strings.Join(c.notes, "\n") {
				t.Errorf("notes are %q, want %q", r.Notes, c.notes)
			}
			if len(r.Statement.Files) != len(c.files) {
				t.Errorf("files are %+v, want those that lie on the disk", r.Statement.Files)
			}
			for i, f := range r.Statement.Files {
				if f.Name != c.files[i].name || f.SHA256 != sha256Of(c.files[i].content) {
					t.Errorf("file %d is %+v, want %s as it lies", i, f, c.files[i].name)
				}
			}
			if again := run(t, b, answeringAccount(t), "2026-11-28", files...); neutral(t, again) != neutral(t, r) || again.RunID != r.RunID {
				t.Errorf("the second run differs:\n%s", neutral(t, again))
			}
		})
	}
}

// TestKitsInAZip: real statements, packed as other providers send theirs.
func TestKitsInAZip(t *testing.T) {
	for _, kit := range []struct {
		name, date string
		files      []string
	}{
		{"wechatpay", "2026-11-29", []string{"fundflowbill_BASIC_2026-11-29.csv", "tradebill_ALL_2026-11-29.csv.gz", "tradebill_response.json"}},
		{"demopay", "2026-11-27", []string{"demopay_settlement_20261127.csv"}},
	} {
		b := sqlite(t)
		p := openKit(t, kit.name)
		playKit(t, b, p, kit.name)
		var members []packedMember
		for _, name := range kit.files {
			raw, err := os.ReadFile(filepath.Join(testdata, kit.name, "statements", name))
			if err != nil {
				t.Fatal(err)
			}
			members = append(members, packedMember{name, string(raw)})
		}
		r := run(t, b, reconcile.Account{Name: kit.name, Provider: p}, kit.date, file(t, "day.zip", []byte(zipped(t, members...))))
		checkKit(t, r, kit.name)
		for _, g := range r.Gaps {
			if g.Statement != nil && !strings.HasPrefix(g.Statement.File, "day.zip/"+kit.files[len(kit.files)/2]) {
				t.Errorf("%s is of %q, want the member named", g.TransactionID, g.Statement.File)
			}
		}
	}
}

// badArchive is one that no statement can be read from, and what is said of it.
type badArchive struct {
	name, content string
	words         []string
}

func badArchives(t testing.TB) []badArchive {
	t.Helper()
	good := zipped(t, packedMember{"a.csv", morning}, packedMember{"b.csv", evening})
	stored := zippedBy(t, zip.Store, packedMember{"a.csv", morning})
	deep := morning
	for range 4 {
		deep = zipped(t, packedMember{"in", deep})
	}
	return []badArchive{
		{"cut at its end", good[:len(good)-9], []string{"x.zip: ", "cut or damaged", "download it again"}},
		{"cut in the middle", good[:len(good)/2], []string{"cut or damaged"}},
		{"its first bytes only", good[:5], []string{"cut or damaged"}},
		{"a damaged list", strings.Replace(good, "PK\x01\x02", "PK\x01\x03", 1), []string{"x.zip: ", "cut or damaged"}},
		{"a damaged member", strings.Replace(stored, "20.00", "90.00", 1), []string{"x.zip/a.csv", "checksum", "download it again"}},
		{"a member that is no packed text", strings.Replace(good, "a.csv", "a.csv", 1)[:45] + "\xff\xff\xff\xff" + good[49:], []string{"x.zip/a.csv", "damaged"}},
		{"a password", patched(good, 6, 8, 1), []string{"x.zip/a.csv", "encrypted", "unpack it"}},
		{"a strange method", patched(good, 8, 10, 93), []string{"x.zip/a.csv", "method 93", "unpack it"}},
		{"AES", patched(patched(good, 8, 10, 99), 6, 8, 1), []string{"x.zip/a.csv", "encrypted"}},
		{"lying over each other", patched(good, 18, 20, 60_000), []string{"x.zip", "damaged"}},
		{"nothing in it", zipped(t), []string{"x.zip: ", "holds no file", "--no-statement"}},
		{"folders only", zipped(t, packedMember{"a/", ""}, packedMember{"__MACOSX/._a", "x"}), []string{"holds no file"}},
		{"too many members", manyMembers(t, 101), []string{"more than 100 files"}},
		{"too many all together", zipped(t, packedMember{"1", manyMembers(t, 60)}, packedMember{"2", manyMembers(t, 60)}), []string{"more than 100 files"}},
		{"two of a name", zipped(t, packedMember{"a.csv", morning}, packedMember{"a.csv", evening}), []string{"x.zip/a.csv", "two members"}},
		{"packed four times", deep, []string{"x.zip/in/in/in/in", "more than 3 times"}},
		{"a table", zipped(t, packedMember{"[Content_Types].xml", "<Types/>"}, packedMember{"xl/workbook.xml", "<workbook/>"}), []string{"x.zip: ", "xlsx", "CSV"}},
		{"a link", symlinked(t), []string{"x.zip/a.csv", "not a regular file"}},
		{"7z", "7z\xbc\xaf\x27\x1c\x00\x04", []string{"7z", "unpack it"}},
		{"RAR in a zip", zipped(t, packedMember{"a.rar", "Rar!\x1a\x07\x00"}), []string{"x.zip/a.rar", "RAR"}},
		{"a member nobody knows", zipped(t, packedMember{"a.csv", morning}, packedMember{"readme.txt", "hello\n"}), []string{"x.zip/readme.txt"}},
		{"an empty member", zipped(t, packedMember{"a.csv", morning}, packedMember{"b.csv", ""}), []string{"x.zip/b.csv", "empty"}},
		{"a bad row", zipped(t, packedMember{"sub/a.csv", spoilt}), []string{"x.zip/sub/a.csv: row 3: column amount", "(1)"}},
		{"an answer without a file", zipped(t, packedMember{"a.txt", "answer:98"}), []string{"x.zip/a.txt", "without a file", "ask again later"}},
		{"an answer with a cut zip", "answer:" + good[:60], []string{"x.zip: ", "cut or damaged"}},
	}
}

// hugeArchives are large, or made to be.
func hugeArchives(t testing.TB) []badArchive {
	t.Helper()
	noise := make([]byte, 21<<20)
	src := rand.NewChaCha8([32]byte{1})
	_, _ = src.Read(noise)
	return []badArchive{
		{"very many members", manyMembers(t, 30_000), []string{"more than 100 files"}},
		{"a bomb", zipped(t, packedMember{"a.csv", strings.Repeat("\n", 70<<20)}), []string{"x.zip: ", "unpacks to far more"}},
		{"a bomb of several", zipped(t, packedMember{"a", strings.Repeat("\n", 30<<20)}, packedMember{"b", strings.Repeat("\n", 30<<20)}, packedMember{"c", strings.Repeat("\n", 30<<20)}), []string{"unpacks to far more"}},
		{"a bomb in a zip", zipped(t, packedMember{"a.zip", zipped(t, packedMember{"a.csv", strings.Repeat("\n", 70<<20)})}), []string{"x.zip/a.zip: ", "unpacks to far more"}},
		{"a packed bomb in a zip", zipped(t, packedMember{"a.gz", string(packed(t, make([]byte, 70<<20)))}), []string{"x.zip/a.gz: ", "unpacks to far more"}},
		{"a bomb to be held", string(packed(t, []byte("PK\x03\x04"+strings.Repeat("\n", 5<<20)))), []string{"x.zip: ", "unpacks to far more"}},
		{"a zip too large to be held", zippedBy(t, zip.Store, packedMember{"a.zip", zippedBy(t, zip.Store, packedMember{"b", string(noise)})}), []string{"x.zip/a.zip", "20 MiB", "unpack it"}},
	}
}

// manyMembers is a zip of so many small files.
func manyMembers(t testing.TB, n int) string {
	t.Helper()
	var list []packedMember
	for i := range n {
		list = append(list, packedMember{strconv.Itoa(i), morning[:i%3]})
	}
	return zipped(t, list...)
}

// TestBadArchives: what cannot be read stops the run, says what and where, and leaves nothing behind.
func TestBadArchives(t *testing.T) {
	for _, c := range slices.Concat(badArchives(t), hugeArchives(t)) {
		t.Run(c.name, func(t *testing.T) {
			b := sqlite(t)
			began := time.Now()
			_, err := tryRun(t.Context(), b, answeringAccount(t), day(t, "2026-11-28"), file(t, "x.zip", []byte(c.content)))
			wantFileError(t, err, c.words...)
			wantNothingWritten(t, b)
			if took := time.Since(began); took > 60*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

// patched changes two bytes of every member's head: at one place of its local header, at another of the list's entry.
func patched(z string, local, listed int, value uint16) string {
	raw := []byte(z)
	for i := range raw {
		switch {
		case bytes.HasPrefix(raw[i:], []byte("PK\x03\x04")):
			binary.LittleEndian.PutUint16(raw[i+local:], value)
		case bytes.HasPrefix(raw[i:], []byte("PK\x01\x02")):
			binary.LittleEndian.PutUint16(raw[i+listed:], value)
		}
	}
	return string(raw)
}

func symlinked(t testing.TB) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	h := &zip.FileHeader{Name: "a.csv"}
	h.SetMode(fs.ModeSymlink | 0o777)
	addMember(t, z, h, "/etc/passwd")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLargeMember: a member that is larger than what may be held is read as it unpacks.
func TestLargeMember(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p1 2026-11-28 10:00:00")
	path := file(t, "x.zip", []byte(zippedBy(t, zip.Store, packedMember{"a.csv", morning + strings.Repeat(strings.Repeat(" ", 63)+"\n", 24<<20/64)})))
	a := plainAccount(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wantRun(t, run(t, b, a, "2026-11-28", path), "1 1")
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 20<<20 {
		t.Errorf("%d bytes were used for a member of 24 MiB", used)
	}
}

// TestChangedArchive: a zip that is another one when it comes to reading is not compared.
func TestChangedArchive(t *testing.T) {
	for name, second := range map[string]string{
		"another member":      zipped(t, packedMember{"a.csv", morning}, packedMember{"b.csv", strings.Replace(evening, "20.00", "21.00", 1)}),
		"one more":            zipped(t, packedMember{"a.csv", morning}, packedMember{"b.csv", evening}, packedMember{"c.csv", evening}),
		"one less":            zipped(t, packedMember{"a.csv", morning}),
		"packed once more":    zipped(t, packedMember{"a.csv", morning}, packedMember{"b.csv", zipped(t, packedMember{"b.csv", evening})}),
		"no longer packed":    evening,
		"packed another way":  string(packed(t, []byte(evening))),
		"still being written": zipped(t, packedMember{"a.csv", morning}, packedMember{"b.csv", evening})[:150],
	} {
		t.Run(name, func(t *testing.T) {
			b := sqlite(t)
			path := file(t, "x.zip", []byte(zipped(t, packedMember{"a.csv", morning}, packedMember{"b.csv", evening})))
			a := plainAccount(t)
			a.Provider = slowProvider{a.Provider, func() {
				if err := os.WriteFile(path, []byte(second), 0o600); err != nil {
					t.Error(err)
				}
			}}
			_, err := tryRun(t.Context(), b, a, day(t, "2026-11-28"), path)
			wantFileError(t, err, "x.zip")
			wantNothingWritten(t, b)
		})
	}
}
