package unionpay

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// form is a message's fields. Values are the bytes that were signed: decoded from the form once, still in the message's own
// encoding, neither trimmed nor with other line ends.
type form map[string]string

// parseForm cuts name=value&name=value. A name given twice is refused: which of the two is meant would be for the parser to choose.
func parseForm(body []byte, decode func(string) (string, error)) (form, error) {
	return parsePairs(strings.SplitSeq(string(body), "&"), decode)
}

func parsePairs(pairs iter.Seq[string], decode func(string) (string, error)) (form, error) {
	f := form{}
	for pair := range pairs {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := decode(rawName)
		if err != nil {
			return nil, errors.New("a field's name is not form-encoded")
		}
		value, err := decode(rawValue)
		if err != nil {
			return nil, fmt.Errorf("field %s is not form-encoded", clip(name))
		}
		if _, twice := f[name]; twice {
			return nil, fmt.Errorf("field %s is given twice", clip(name))
		}
		f[name] = value
	}
	return f, nil
}

// plainPairs cuts an answer that is not form-encoded: a value in braces, as reqReserved may be, has & of its own.
func plainPairs(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			pair, rest, _ := strings.Cut(text, "&")
			if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(pair[len(name):], "={") {
				if end := strings.IndexByte(text, '}'); end > len(pair) {
					more, behind, _ := strings.Cut(text[end:], "&")
					pair, rest = text[:end]+more, behind
				}
			}
			if text = rest; !yield(pair) {
				return
			}
		}
	}
}

// formEncoded is how callbacks come, and plain how UnionPay's demo reads the answers of its API: percent signs and all.
func formEncoded(text string) (string, error) { return url.QueryUnescape(text) }
func plain(text string) (string, error)       { return text, nil }

// signedText is what the signature covers: all fields that hold something, but itself, by name.
func (f form) signedText() []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if name == "signature" || f[name] == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(name + "=" + f[name])
	}
	return b.Bytes()
}

// fieldsRead are the fields that decide anything, in a notification or an answer.
var fieldsRead = []string{
	"currencyCode", "encoding", "fileContent", "merId", "orderId", "origOrderId", "origQryId", "queryId", "respCode", "settleDate", "signMethod",
	"signPubKeyCert", "traceNo", "traceTime", "txnAmt", "txnTime", "txnType", "version",
}

// ambiguous names a field we read that may stand in the signed text in another way than in the form. The text does not escape & and =,
// so a message can be cut into other fields under the same signature, and every payer has one: his browser carries it to the shop. With
// queryId and reqReserved as one field it would be another payment. So no field we read has an &, and none stands in another's text. Only
// reqReserved, which is the shop's own text, may look as if it held such a field, as long as that one has its own place too.
func (f form) ambiguous() string {
	text, free := "&"+string(f.signedText()), f["reqReserved"]
	for _, name := range fieldsRead {
		want := 0
		if f[name] != "" {
			want = 1 + strings.Count(free, "&"+name+"=")
		}
		if strings.Count(text, "&"+name+"=") != want || strings.Contains(f[name], "&") {
			return name
		}
	}
	return ""
}

// text is a field for people in UTF-8, "" when it is not in the encoding the message names, or that is none we know. Ids, sums and
// times need no decoding: they are ASCII, which is the same bytes in each encoding. So a message of a payer's name or a shop's text in
// another encoding is booked all the same.
func (f form) text(name string) string {
	decode, known := encodings[strings.ToUpper(f["encoding"])]
	if !known {
		decode = fromUTF8
	}
	text, _ := decode(f[name])
	return text
}

// encodings are those a message may name. UTF-8 is what a message without the field is in; GBK holds all of GB 2312, and what GB 18030
// has beyond it is rare in a message for people.
var encodings = map[string]func(string) (string, bool){
	"": fromUTF8, "UTF-8": fromUTF8, "UTF8": fromUTF8, "GBK": fromGBK, "GB2312": fromGBK, "GB18030": fromGBK,
}

func fromUTF8(s string) (string, bool) {
	if !utf8.ValidString(s) {
		return "", false
	}
	return s, true
}

// fromGBK is strict: a byte that is no character must not become a mark that looks like one.
func fromGBK(s string) (string, bool) {
	if isASCII(s) {
		return s, true
	}
	out, err := simplifiedchinese.GBK.NewDecoder().String(s)
	if err != nil || strings.ContainsRune(out, utf8.RuneError) {
		return "", false
	}
	return out, true
}

func isASCII[T string | []byte](s T) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isID: UnionPay's ids and numbers are letters and digits, 40 at most. Others are taken as long as they are plain visible text.
func isID(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// clip keeps what a stranger wrote short enough for a log line, on one line, and text that any database can hold.
func clip(s string) string {
	const max = 64
	more := ""
	if len(s) > max {
		s, more = strings.ToValidUTF8(s[:max], ""), "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError))) + more
}
