package generic

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"paybook/callback/parse"
)

// signatureForm is how the signature is wrapped where it is found.
type signatureForm struct {
	kind      string // plain, prefix, kv, list or pairs
	prefix    string // prefix: before the whole text; list: before each item that counts
	separator string // between items
	key       string // kv: the key that counts, which may be given several times
	inner     string // pairs: between public key and signature
	publicKey string // pairs: the left side that is ours
}

func readForm(s *parse.Section) signatureForm {
	publicKey := s.Text("public_key", "")
	p := s.Object("parse")
	if p == nil {
		return signatureForm{kind: "plain"}
	}
	f := signatureForm{kind: p.Word("form", "plain", "plain", "prefix", "kv", "list", "pairs")}
	switch f.kind {
	case "prefix":
		f.prefix = p.Need("prefix")
	case "kv":
		f.separator, f.key = p.Text("separator", ","), p.Need("key")
	case "list":
		f.separator, f.prefix = p.Text("separator", " "), p.Need("item_prefix")
	case "pairs":
		f.separator, f.inner = p.Text("separator", "&"), p.Text("inner", "|")
		p.Word("match", "public_key", "public_key")
		if f.publicKey = publicKey; publicKey == "" {
			s.Fail("public_key", "missing: it tells our signature from the others")
		}
	}
	if f.kind != "plain" && f.kind != "prefix" && f.separator == "" {
		p.Fail("separator", "empty")
	}
	p.Close()
	return f
}

// candidatesMax bounds the work that a stranger's header can ask for.
const candidatesMax = 32

// candidates are the signatures in a text. Several are normal while a secret is being changed; more than candidatesMax are not.
func (f *signatureForm) candidates(text string) []string {
	switch f.kind {
	case "":
		return nil
	case "plain":
		return []string{text}
	case "prefix":
		if code, ok := strings.CutPrefix(text, f.prefix); ok {
			return []string{code}
		}
		return nil
	}
	var out []string
	for item := range strings.SplitSeq(text, f.separator) {
		if code, ok := f.unwrap(strings.TrimSpace(item)); ok {
			out = append(out, code)
		}
		if len(out) > candidatesMax {
			return nil
		}
	}
	return out
}

func (f *signatureForm) unwrap(item string) (code string, ok bool) {
	switch f.kind {
	case "kv":
		return strings.CutPrefix(item, f.key+"=")
	case "list":
		return strings.CutPrefix(item, f.prefix)
	}
	return strings.CutPrefix(item, f.publicKey+f.inner)
}

// decodeMAC reads a MAC of exactly len(room) bytes. Hex may be of either case; base64 may lack its padding, but nothing may
// be left over.
func decodeMAC(room []byte, text, encoding string) ([]byte, bool) {
	if encoding == "hex" {
		if len(text) != hex.EncodedLen(len(room)) {
			return nil, false
		}
		_, err := hex.Decode(room, []byte(text))
		return room, err == nil
	}
	padded, raw := base64.StdEncoding, base64.RawStdEncoding
	if encoding == "base64url" {
		padded, raw = base64.URLEncoding, base64.RawURLEncoding
	}
	switch len(text) {
	case padded.EncodedLen(len(room)):
		return decode64(room, text, padded)
	case raw.EncodedLen(len(room)):
		return decode64(room, text, raw)
	}
	return nil, false
}

func decode64(room []byte, text string, encoding *base64.Encoding) ([]byte, bool) {
	out, err := encoding.Strict().DecodeString(text)
	return out, err == nil && len(out) == len(room)
}

func encodeMAC(code []byte, encoding string) string {
	switch encoding {
	case "base64":
		return base64.StdEncoding.EncodeToString(code)
	case "base64url":
		return base64.URLEncoding.EncodeToString(code)
	}
	return hex.EncodeToString(code)
}
