package parse

import (
	"bytes"
	"crypto/rsa"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"paybook/models"
)

// prefixLen is how much of a signature is shown.
const prefixLen = 8

// Prefix is the first 8 characters of a signature as it is written, in hex or base64. That is enough to see whether two are the same.
// It is not the whole, because the MAC we compute for a text that a stranger has sent is the very signature he lacks to send it again.
func Prefix(signature string) string {
	if len(signature) <= prefixLen {
		return "(shorter than " + fmt.Sprint(prefixLen+1) + " characters)"
	}
	cut := prefixLen
	for cut > 0 && !utf8.RuneStart(signature[cut]) {
		cut--
	}
	return signature[:cut] + "…"
}

// Shown is a text as it is, or, when it is no UTF-8 as a whole, with all bytes that are not ASCII escaped, as \xb2: in another charset
// some bytes look like characters of UTF-8 by chance.
func Shown(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if text[i] < utf8.RuneSelf {
			b.WriteByte(text[i])
		} else {
			fmt.Fprintf(&b, `\x%02x`, text[i])
		}
	}
	return b.String()
}

// Detail is why a callback was refused, without the reason's own word.
func Detail(err error) string {
	var refused *models.Rejection
	if errors.As(err, &refused) {
		return refused.Detail
	}
	return err.Error()
}

// Apart says how far a callback's own time lies from its receipt: "3s before it came", "1h0m0s ahead of our clock".
func Apart(sent, received time.Time) string {
	off := received.Sub(sent).Truncate(time.Millisecond)
	if off < 0 {
		return (-off).String() + " ahead of our clock"
	}
	return off.String() + " before it came"
}

// ExplainRSA compares what an RSASSA-PKCS1-v1_5 signature was made of with the digest of the text in hand. A public key opens its
// signatures, so this tells a changed text (the digest of the one that was signed) from another key (no digest at all). Only
// prefixes are told.
func ExplainRSA(key *rsa.PublicKey, signature, digest []byte) string {
	ours := Prefix(hex.EncodeToString(digest))
	signed, ok := signedDigest(key, signature, len(digest))
	switch {
	case !ok:
		return "the text's digest is " + ours + "; the signature was not made with this key, or is damaged"
	case !bytes.Equal(signed, digest):
		return "the text's digest is " + ours + ", the signature is of one with digest " + Prefix(hex.EncodeToString(signed)) + ": headers or body are not as they were signed"
	}
	return "the text's digest is " + ours + ", which is what was signed"
}

// signedDigest opens a signature: 00 01 ff … 00, the name of the hash, the digest (RFC 8017, 9.2). The digest's length stands in its
// head, and is believed only together with the padding.
func signedDigest(key *rsa.PublicKey, signature []byte, size int) ([]byte, bool) {
	n := new(big.Int).SetBytes(signature)
	if len(signature) != key.Size() || n.Cmp(key.N) >= 0 {
		return nil, false
	}
	padded := n.Exp(n, big.NewInt(int64(key.E)), key.N).FillBytes(make([]byte, key.Size()))
	if !bytes.HasPrefix(padded, []byte{0, 1, 0xff, 0xff, 0xff, 0xff}) || len(padded) < size+2 {
		return nil, false
	}
	head := padded[len(padded)-size-2:]
	if head[0] != 4 || int(head[1]) != size { // an OCTET STRING of this length
		return nil, false
	}
	return head[2:], true
}
