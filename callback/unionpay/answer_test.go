package unionpay

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"paybook/callback/providertest"
	"paybook/models"
)

const answerName = "file_transfer_response.form.txt"

func unwrap(p *Provider, raw []byte) ([]byte, error) {
	r, err := p.Unwrap(answerName, bufio.NewReader(bytes.NewReader(raw)))
	if r == nil || err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// The kit's answer carries the kit's zip, and the zip the kit's file: twelve rows, read the same from either.
func TestUnwrap(t *testing.T) {
	p := mustNew(t, nil)
	packed, err := unwrap(p, mustRead(t, "statements", answerName))
	if err != nil || !bytes.Equal(packed, mustRead(t, "statements", "777000000000001_20261129.zip")) {
		t.Fatalf("Unwrap: %d bytes, %v; want the kit's zip", len(packed), err)
	}
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil || len(z.File) != 1 {
		t.Fatal(z, err)
	}
	member, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	s, got, err := read(p, "777000000000001_20261129.zip/"+z.File[0].Name, member)
	_, want, errPlain := read(p, zmName, bytes.NewReader(mustRead(t, "statements", zmName)))
	if err != nil || errPlain != nil || !s.Compared || len(got) != 12 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d rows, %v, %v; want the 12 of the plain file", len(got), err, errPlain)
	}
}

// answer is a genuine one that carries content; change overrides fields, "-" takes one away.
func answer(tb testing.TB, content []byte, change fields) fields {
	tb.Helper()
	return sign(tb, production(tb), with(fields{
		"accessType": "0", "bizType": "000000", "encoding": "UTF-8", "fileContent": deflated(tb, content), "fileName": "777000000000001_20261129.zip", "fileType": "00",
		"merId": "777000000000001", "respCode": "00", "respMsg": "成功[0000000]", "settleDate": "1129", "signMethod": "01", "txnSubType": "01",
		"txnTime": "20261130091500", "txnType": "76", "version": "5.1.0",
	}, change))
}

func deflated(tb testing.TB, content []byte) string {
	tb.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// unencoded is an answer as the API sends it.
func unencoded(f fields) []byte {
	return bytes.ReplaceAll(form(with(f, fields{"signature": "-"})).signedText(), []byte("&signPubKeyCert"), []byte("&signature="+f["signature"]+"&signPubKeyCert"))
}

func TestAnswersOfEitherSpelling(t *testing.T) {
	p := mustNew(t, nil)
	content := []byte("PK any content")
	f := answer(t, content, nil)
	first := "signPubKeyCert=" + strings.SplitN(string(encode(f)), "signPubKeyCert=", 2)[1] + "&" + strings.TrimSuffix(strings.SplitN(string(encode(f)), "signPubKeyCert=", 2)[0], "&")
	for name, raw := range map[string][]byte{
		"form-encoded": encode(f), "a line end behind": append(encode(f), "\r\n"...), "as sent": unencoded(f), "the certificate first": []byte(first),
	} {
		if got, err := unwrap(p, raw); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, content)
		}
	}
}

// What is no answer is not touched.
func TestUnwrapLeavesFilesAlone(t *testing.T) {
	p := mustNew(t, nil)
	for name, raw := range map[string][]byte{
		"a statement": mustRead(t, "statements", zmName), "a zip": mustRead(t, "statements", "777000000000001_20261129.zip"),
		"a field of the shop's": []byte(file(paid(t, 1, fields{"商户自定义域": "a=1&respCode=00&fileContent=x"}))),
		"nothing":               {}, "JSON": []byte(`{"respCode":"00"}`), "HTML": []byte("<html>a=1&respCode=00"), "another form": []byte("a=1&b=2"), "gzip": {0x1f, 0x8b, 8}, "text": []byte("respCode"),
	} {
		src := bufio.NewReader(bytes.NewReader(raw))
		if r, err := p.Unwrap("x", src); r != nil || err != nil {
			t.Errorf("%s: taken for an answer (%v)", name, err)
		}
		if rest, err := io.ReadAll(src); err != nil || !bytes.Equal(rest, raw) {
			t.Errorf("%s: %d of %d bytes are left, %v", name, len(rest), len(raw), err)
		}
	}
}

func TestAnswerThatCannotBeUsed(t *testing.T) {
	p := mustNew(t, nil)
	content := []byte("PK any content")
	good := answer(t, content, nil)
	whole, err := base64.StdEncoding.DecodeString(good["fileContent"])
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.StdEncoding.EncodeToString
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-1] ^= 1
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"another file", encode(with(good, fields{"fileContent": deflated(t, []byte("PK other content"))})), "signature does not fit"},
		{"no signature", encode(with(good, fields{"signature": "-"})), "it is not signed"},
		{"a downgrade", encode(answer(t, content, fields{"version": "5.0.0"})), "version"},
		{"another signer", encode(sign(t, testCN(t), with(good, fields{"signature": "-", "signPubKeyCert": testCN(t).cert}))), "not UnionPay"},
		{"another merchant", encode(answer(t, content, fields{"merId": "777000000000002"})), `merId "777000000000002" is not 777000000000001`},
		{"a payment's answer", encode(answer(t, content, fields{"txnType": "01"})), `txnType is "01", expected 76`},
		{"no time", encode(answer(t, content, fields{"txnTime": "-"})), "txnTime"},
		{"from after the certificate's end", encode(answer(t, content, fields{"txnTime": "20300101080000"})), "expired"},
		{"a field twice", append(encode(good), "&respCode=00"...), "given twice"},
		{"bad encoding", append(encode(good), "&x=%zz"...), "not form-encoded"},
		{"cut", encode(good)[:300], "not proven"},
		{"no file yet, and nobody has signed it", encode(fields{"respCode": "98", "respMsg": "文件不存在", "merId": "777000000000001", "txnType": "76"}),
			"respCode 98: no such file yet, or a day without transactions; and it is not proven to be UnionPay's, for this account: it is not signed"},
		{"nothing but a code", []byte("respCode=98"), "respCode 98: no such file yet"},
		{"busy, and nobody has signed it", []byte("respCode=03&respMsg=x"), "respCode 03: busy; and it is not proven"},
		{"a file that nobody has signed", encode(with(good, fields{"signature": "-", "txnTime": "-"})), "not proven to be for this account: it is not signed"},
		{"another day's file", encode(answer(t, zipOf(t, "INN26112800ZM_777000000000001"), nil)), "the answer is for the settlement day 1129, the file in it, INN26112800ZM_777000000000001, is of another"},
		{"another day's corrections", encode(answer(t, zipOf(t, zmName, "INN26113000ZME_777000000000001"), nil)), "INN26113000ZME_777000000000001, is of another"},
		{"no file yet", encode(answer(t, content, fields{"respCode": "98", "fileContent": "-"})), "respCode 98: no such file yet, or a day without transactions"},
		{"busy", encode(answer(t, content, fields{"respCode": "03", "fileContent": "-"})), "respCode 03: busy"},
		{"refused", encode(answer(t, content, fields{"respCode": "10", "respMsg": "报文格式错误", "fileContent": "-"})), `respCode "10", not a file: 报文格式错误`},
		{"no content", encode(answer(t, content, fields{"fileContent": "-"})), "fileContent: missing or empty"},
		{"not base64", encode(answer(t, content, fields{"fileContent": "?"})), "fileContent: not base64"},
		{"not zlib", encode(answer(t, content, fields{"fileContent": b64(content)})), "fileContent: not zlib"},
		{"cut zlib", encode(answer(t, content, fields{"fileContent": b64(whole[:len(whole)-6])})), "fileContent: the packed file is cut"},
		{"damaged zlib", encode(answer(t, content, fields{"fileContent": b64(damaged)})), "fileContent: damaged"},
		{"nothing packed", encode(answer(t, nil, nil)), "fileContent: nothing in it"},
		{"a bomb", encode(answer(t, make([]byte, 8<<20), nil)), "fileContent: unpacks to far more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := unwrap(p, c.raw)
			var got *models.FileError
			if !errors.As(err, &got) || got.File != answerName || !strings.Contains(got.What, c.want) || got.Next == "" || len(got.Error()) > 600 {
				t.Errorf("Unwrap = %v, want a *models.FileError with %q", err, c.want)
			}
		})
	}
	for name, f := range map[string]fields{
		"its own day": answer(t, zipOf(t, zmName, zmeName, "RN26112900"), nil), "no day told": answer(t, zipOf(t, "INN26112800ZM_777000000000001"), fields{"settleDate": "-"}),
		"no name of UnionPay's": answer(t, zipOf(t, "bill.txt"), nil),
	} {
		if _, err := unwrap(p, encode(f)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := unwrap(p, encode(answer(t, make([]byte, contentFree), nil))); err != nil || len(got) != contentFree {
		t.Errorf("a megabyte of zeros: %d bytes, %v; want it unpacked", len(got), err)
	}
	endless := io.MultiReader(strings.NewReader("txnType=76&fileContent="), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := p.Unwrap(answerName, bufio.NewReader(endless)); err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("a broken connection: %v", err)
	}
	long := io.MultiReader(strings.NewReader("txnType=76&fileContent="), &zeros{left: 1 << 40})
	if _, err := p.Unwrap(answerName, bufio.NewReader(long)); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("an endless answer: %v", err)
	}
}

// zipOf is a zip of files of those names.
func zipOf(tb testing.TB, names ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		if _, err := w.Create(name); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// zeros is a long file that is not held in memory.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.left))
	z.left -= int64(n)
	for i := range n {
		p[i] = '0'
	}
	return n, nil
}

// FuzzUnwrap: what comes out of an answer is what the kit's carries, or what was signed; a forged one is refused.
func FuzzUnwrap(f *testing.F) {
	p := mustNew(f, nil)
	for _, raw := range providertest.Statements(f, kit) {
		f.Add(raw, []byte("x"), "00")
	}
	f.Add([]byte("respCode=98"), []byte{}, "98")
	f.Add([]byte("txnType=76&fileContent=%"), bytes.Repeat([]byte{0}, 100), "00")
	genuine, err := unwrap(p, mustRead(f, "statements", answerName))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw, packed []byte, respCode string) {
		signed := encode(answer(t, nil, fields{"fileContent": base64.StdEncoding.EncodeToString(packed), "respCode": respCode}))
		providertest.Bounded(t, len(raw)+len(signed), func() {
			content, err := unwrap(p, raw)
			if err == nil && content != nil && !bytes.Equal(content, genuine) {
				t.Fatalf("a forged answer was unwrapped: %q", content)
			}
			wantFileErrorOrNone(t, err)
			_, err = unwrap(p, signed)
			wantFileErrorOrNone(t, err)
		})
	})
}

func wantFileErrorOrNone(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.As(err, new(*models.FileError)) {
		t.Fatalf("error %v, want a *models.FileError", err)
	}
}
