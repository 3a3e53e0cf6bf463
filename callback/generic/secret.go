package generic

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // Braintree derives its key with it
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"paybook/callback/parse"
)

// readSecrets reads the list of secrets as keys, ready for use. With an empty key anybody could sign, so a secret that is
// missing, empty or blank is an error, and so is a placeholder nobody has filled in. No error holds a secret.
func readSecrets(s *section, dir string) [][]byte {
	const key = "secrets"
	list := s.texts(key)
	if len(list) == 0 {
		s.fail(key, "empty: give at least one secret, as text, ${NAME} or file:PATH")
	}
	encoding := s.word("secret_encoding", "raw", "raw", "hex", "base64")
	prefix := s.text("secret_strip_prefix", "")
	derivation := s.word("derivation", "none", "none", "sha1")
	var keys [][]byte
	for i, text := range list {
		name := fmt.Sprintf("%s[%d]", key, i)
		text, err := loadSecret(text, dir)
		if err != nil {
			s.fail(name, "%v", err)
			continue
		}
		text = strings.TrimPrefix(text, prefix)
		secret, err := decodeSecret(text, encoding)
		if err != nil || len(bytes.TrimSpace(secret)) == 0 || !parse.Visible(text) {
			s.fail(name, "is not %s, or is nothing but its prefix", encoding)
			continue
		}
		if derivation == "sha1" {
			sum := sha1.Sum(secret) //nolint:gosec // see the import
			secret = sum[:]
		}
		keys = append(keys, secret)
	}
	return keys
}

func loadSecret(text, dir string) (string, error) {
	if path, ok := strings.CutPrefix(text, "file:"); ok {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		text = strings.TrimRight(string(raw), "\r\n") // editors end a file with a newline, secrets do not
	}
	switch {
	case !parse.Visible(text):
		return "", fmt.Errorf("empty or blank: with it anybody could sign")
	case strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}"):
		return "", fmt.Errorf("%s is not filled in: set the environment variable", text)
	}
	return text, nil
}

func decodeSecret(text, encoding string) ([]byte, error) {
	switch encoding {
	case "hex":
		return hex.DecodeString(text)
	case "base64":
		return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	}
	return []byte(text), nil
}
