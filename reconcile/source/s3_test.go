package source_test

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile/source"
)

// bucket is storage as S3's public protocol describes it, for the calls that are used: ListObjectsV2, page by page, and GetObject, each with
// its signature (AWS4-HMAC-SHA256) checked.
type bucket struct {
	mu      sync.Mutex
	objects map[string]string
	asked   []string
	cut     bool   // send half of an object
	moved   string // where it says that it lives now
}

const s3Key, s3Secret = "AKIATESTONLY", "s3-secret-TEST-ONLY"

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, r.Method+" "+r.URL.Path)
	switch {
	case b.moved != "":
		w.Header().Set("Location", b.moved)
		w.WriteHeader(http.StatusTemporaryRedirect)
	case !signedV4(r):
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch")
	case strings.Trim(r.URL.Path, "/") == "bills" && r.URL.Query().Get("list-type") == "2":
		b.list(w, r.URL.Query())
	case strings.HasPrefix(r.URL.Path, "/bills/"):
		b.get(w, r, strings.TrimPrefix(r.URL.Path, "/bills/"))
	default:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
}

func etag(text string) string { return fmt.Sprintf(`"%x"`, md5.Sum([]byte(text))) }

// list answers two keys a page.
func (b *bucket) list(w http.ResponseWriter, q url.Values) {
	type content struct {
		Key, ETag, LastModified string
		Size                    int
	}
	answer := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		Contents              []content
	}{}
	var keys []string
	for key := range b.objects {
		if strings.HasPrefix(key, q.Get("prefix")) && key > q.Get("continuation-token") {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	for i, key := range keys {
		if i == 2 {
			answer.IsTruncated, answer.NextContinuationToken = true, keys[1]
			break
		}
		answer.Contents = append(answer.Contents, content{key, etag(b.objects[key]), "2026-11-30T00:00:00.000Z", len(b.objects[key])})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

func (b *bucket) get(w http.ResponseWriter, r *http.Request, key string) {
	text, ok := b.objects[key]
	switch match := r.Header.Get("If-Match"); {
	case !ok:
		refuse(w, http.StatusNotFound, "NoSuchKey")
		return
	case match != "" && match != etag(text):
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	w.Header().Set("ETag", etag(text))
	w.Header().Set("Last-Modified", "Mon, 30 Nov 2026 00:00:00 GMT")
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	if b.cut {
		text = text[:len(text)/2]
	}
	fmt.Fprint(w, text)
}

// signedV4 works out the signature of a request as AWS describes it, and compares.
func signedV4(r *http.Request) bool {
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	part := map[string]string{}
	for _, p := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		part[name] = value
	}
	scope := strings.Split(part["Credential"], "/")
	if scheme != "AWS4-HMAC-SHA256" || len(scope) != 5 || scope[0] != s3Key {
		return false
	}
	var headers strings.Builder
	for _, name := range strings.Split(part["SignedHeaders"], ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		headers.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), query, headers.String(), part["SignedHeaders"], r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + strings.Join(scope[1:], "/") + "\n" + hex.EncodeToString(sum[:])
	key := []byte("AWS4" + s3Secret)
	for _, step := range scope[1:] {
		key = mac(key, step)
	}
	return hmac.Equal([]byte(hex.EncodeToString(mac(key, text))), []byte(part["Signature"]))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func newBucket(t *testing.T) (*bucket, *source.S3) {
	t.Helper()
	b := &bucket{objects: map[string]string{"out/2026-11-29/a 账.csv": "one", "out/2026-11-29/b.csv": "two", "out/2026-11-29/deep/c.csv": "no", "out/2026-11-28/a.csv": "old",
		"out/2026-11-29/b.txt": "no", "out/2026-11-29/x.csv/": ""}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return b, &source.S3{Endpoint: strings.TrimPrefix(server.URL, "http://"), Insecure: true, Bucket: "bills", PathStyle: true, AccessKey: s3Key, SecretKey: s3Secret,
		Files: []string{"out/{date}/*.csv"}, Transport: http.DefaultTransport}
}

// The objects of the day come over, page by page, each once, in the very version that was listed.
func TestS3(t *testing.T) {
	b, place := newBucket(t)
	if err := place.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	a := archiveOf(t, book)
	fetch := func(fresh int, want ...string) {
		t.Helper()
		if _, n, err := a.Fetch(t.Context(), "shop", place, day(t, sunday), monday); err != nil || n != fresh {
			t.Fatalf("%d fresh, %v", n, err)
		}
		files, err := a.Files(t.Context(), "shop", day(t, sunday), []string{place.String()})
		if got := contents(t, files); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	fetch(2, "a_账.csv one", "b.csv two")
	asked := len(b.asked)
	fetch(0, "a_账.csv one", "b.csv two")
	for _, what := range b.asked[asked:] {
		if strings.HasSuffix(what, ".csv") {
			t.Errorf("downloaded again: %s", what)
		}
	}
	b.objects["out/2026-11-29/b.csv"] = "two, corrected"
	fetch(1, "a_账.csv one", "b.csv two, corrected")
	_, _, err := a.Fetch(t.Context(), "shop", place, day(t, "2026-11-27"), monday)
	if !errors.As(err, new(*models.NotReady)) || !strings.Contains(err.Error(), "out/2026-11-27/*.csv") {
		t.Errorf("a day without objects: %v", err)
	}
}

// What goes wrong is said with what to do, and without a secret; nothing is kept of it.
func TestS3Refused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*bucket, *source.S3)
		says  string
		early bool
	}{
		"another secret": {func(_ *bucket, p *source.S3) { p.SecretKey = "wrong-secret" }, "SignatureDoesNotMatch: correct fetch.access_key", false},
		"another bucket": {func(_ *bucket, p *source.S3) { p.Bucket = "other" }, "NoSuchBucket: correct fetch.bucket", false},
		"cut":            {func(b *bucket, _ *source.S3) { b.cut = true }, "EOF", false},
		"moved":          {func(b *bucket, _ *source.S3) { b.moved = "http://127.0.0.2:9/elsewhere" }, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			b, place := newBucket(t)
			c.spoil(b, place)
			book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
			a := archiveOf(t, book)
			_, _, err := a.Fetch(t.Context(), "shop", place, day(t, sunday), monday)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), place.SecretKey) || strings.Contains(err.Error(), "elsewhere") || errors.As(err, new(*models.NotReady)) != c.early {
				t.Errorf("%v", err)
			}
			if got := tree(t, a.Dir); len(got) != 0 {
				t.Errorf("left behind %v", got)
			}
		})
	}
}

// An object that is replaced between its listing and its download is not there yet.
func TestS3ObjectIsReplaced(t *testing.T) {
	b, place := newBucket(t)
	err := place.Fetch(t.Context(), day(t, sunday), time.Time{}, func(f source.File) error {
		b.mu.Lock()
		for key := range b.objects {
			b.objects[key] = "replaced"
		}
		b.mu.Unlock()
		_, err := f.Open()
		return err
	})
	if !errors.As(err, new(*models.NotReady)) {
		t.Errorf("%v", err)
	}
}
