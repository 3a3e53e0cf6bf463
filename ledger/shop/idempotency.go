package shop

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"paybook/ledger"
	"paybook/models"
)

// keyHeaders are the names under which a request says which one it is.
var keyHeaders = []string{"Idempotency-Key", "Idempotent-Token"}

// keyMax is how many bytes such a name may have.
const keyMax = 255

// keyOf reads under what a request counts once; "" when it does not say.
func keyOf(h http.Header) (string, error) {
	key, told := "", false
	for _, name := range keyHeaders {
		for i, text := range h.Values(name) {
			switch {
			case i > 0:
				return "", badKey("%s is here twice: send it once", name)
			case told && text != key:
				return "", badKey("%s and %s differ: send one of them", keyHeaders[0], keyHeaders[1])
			case text == "":
				return "", badKey("%s is empty: send a UUID, a token from POST /tokens, or leave it out", name)
			case len(text) > keyMax:
				return "", badKey("%s has %d bytes, at most %d are taken", name, len(text), keyMax)
			case !printable(text):
				return "", badKey("%s may hold visible ASCII characters only", name)
			}
			key, told = text, true
		}
	}
	return key, nil
}

func badKey(format string, args ...any) error {
	return problem(http.StatusBadRequest, CodeInvalidKey, format, args...)
}

func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// fingerprint tells two requests apart by what they ask, not by how they are written: key order and blanks are free.
func fingerprint(asked any) string {
	sum := sha256.Sum256(encode(asked))
	return hex.EncodeToString(sum[:])
}

// answered is what came of a request that does not count once: an answer, or an error that is none.
func answered(say Say) func(o models.Order, err error) (ledger.Answer, error) {
	return func(o models.Order, err error) (ledger.Answer, error) {
		if err != nil && !isRefusal(err) {
			return ledger.Answer{}, err
		}
		status, body := say(o, err)
		return ledger.Answer{Status: status, Body: body}, nil
	}
}
