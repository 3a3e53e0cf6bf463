package wechatpay

import (
	"bytes"
	"encoding/hex"
	"io"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// answerMax is far above an answer's few hundred bytes.
const answerMax = 64 << 10

// readAnswer reads what the provider answers in JSON when asked for a bill: where it is and its SHA-1 after unpacking, or why
// there is none.
func readAnswer(name string, r io.Reader) (models.Statement, error) {
	raw, err := io.ReadAll(io.LimitReader(r, answerMax))
	if err != nil {
		return models.Statement{}, &models.FileError{File: name, What: err.Error(), Next: "download it again"}
	}
	answer, err := parse.JSON(bytes.TrimPrefix(raw, []byte(bom)))
	if err != nil {
		return models.Statement{}, &models.FileError{File: name, What: err.Error(), Next: "download it again"}
	}
	if code := answer.Get("code").Text(); code != "" {
		return models.Statement{}, &models.FileError{File: name,
			What: "the provider's error answer " + clip(code) + ", not a bill: " + clip(answer.Get("message").String()),
			Next: "download it again, or declare a day without one by --no-statement"}
	}
	digest := answer.Get("hash_value").String()
	if answer.Get("hash_type").String() != "SHA1" || !isSHA1(digest) {
		return models.Statement{}, &models.FileError{File: name, What: "a JSON answer, not a bill, and without the SHA1 hash_value of one", Next: "download it again"}
	}
	return models.Statement{Title: "download answer", Digest: "sha1:" + strings.ToLower(digest)}, nil
}

// sha1Len is the length of the digest the provider chose, in bytes.
const sha1Len = 20

func isSHA1(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == sha1Len
}
