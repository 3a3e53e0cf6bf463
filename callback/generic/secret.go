package generic

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha1" //nolint:gosec // Braintree derives its key with it
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"paybook/callback/parse"
)

// secretList are the secrets of an account as keys, ready for use.
type secretList struct {
	section    *parse.Section // where they are given, for errors
	names      []string
	keys       [][]byte
	public     []ed25519.PublicKey // those that are public keys by their prefix
	publicForm signatureForm       // of the signatures that go with them
	warnings   []string
}

// secretMin is how many bytes a secret should have: fewer can be guessed, given one signed callback.
const secretMin = 16

// readSecrets reads the list of secrets: beside the signature, or in short at the top of the settings. With an empty key anybody could
// sign, so a secret that is missing, empty or blank is an error, and so is a placeholder nobody has filled in. No error holds a
// secret.
func readSecrets(settings, s *parse.Section, dir string) secretList {
	const key = "secrets"
	l := secretList{section: s}
	if settings.Has(key) {
		if l.section = settings; s.Has(key) {
			settings.Fail(key, "given twice: %s.%s is there too", s.Path(), key)
		}
	}
	list := l.section.Texts(key)
	if len(list) == 0 {
		l.section.Fail(key, "empty: give at least one secret, as text, ${NAME} or file:PATH")
	}
	encoding := s.Word("secret_encoding", "raw", "raw", "hex", "base64")
	prefix := s.Text("secret_strip_prefix", "")
	sha := s.Word("derivation", "none", "none", "sha1") == "sha1"
	least := s.Whole("secret_min_bytes", secretMin, 1)
	public := l.readPublicForm(s)
	for i, text := range list {
		name := fmt.Sprintf("%s[%d]", key, i)
		text, err := loadSecret(text, dir)
		if err != nil {
			l.section.Fail(name, "%v", err)
			continue
		}
		if code, ok := strings.CutPrefix(text, public); ok && public != "" {
			l.addPublic(name, code)
			continue
		}
		text = strings.TrimPrefix(text, prefix)
		secret, err := decodeSecret(text, encoding)
		if err != nil || len(bytes.TrimSpace(secret)) == 0 || !parse.Visible(text) {
			l.section.Fail(name, "is not %s, or is nothing but its prefix", encoding)
			continue
		}
		l.add(name, secret, least, sha)
	}
	return l
}

func (l *secretList) add(name string, secret []byte, least int, sha bool) {
	if len(secret) < least {
		l.warnings = append(l.warnings, fmt.Sprintf("%s.%s: %d bytes: short enough to be guessed, %d or more expected", l.section.Path(), name, len(secret), least))
	}
	if sha {
		sum := sha1.Sum(secret) //nolint:gosec // see the import
		secret = sum[:]
	}
	l.names, l.keys = append(l.names, name), append(l.keys, secret)
}

// needUsers makes sure that each secret is user:password.
func (l *secretList) needUsers() {
	for _, secret := range l.keys {
		if !isUser(string(secret)) {
			l.section.Fail("secrets", "user:password expected for basic")
		}
	}
	l.warnings = nil // a user and password are chosen by people, and tried over the network only
}

// Secrets are the names of the headers and query parameters in which a secret is sent as it is.
func (p *Provider) Secrets() (headers, parameters []string) {
	sig := &p.signature
	if sig.doors != nil {
		headers = append(headers, "Authorization")
	}
	if sig.signsNothing() && sig.from.kind == "header" {
		headers = append(headers, sig.from.name)
	}
	if sig.signsNothing() && sig.from.kind == "query" {
		parameters = append(parameters, sig.from.name)
	}
	return headers, parameters
}

func isUser(text string) bool {
	user, password, ok := strings.Cut(text, ":")
	return ok && user != "" && parse.Visible(password)
}

// readDoors reads the users and passwords that are asked for besides the signature; nil when the key is absent.
func readDoors(s *parse.Section, dir string) (doors [][]byte) {
	const key = "basic_auth"
	list := s.Texts(key)
	if list != nil && len(list) == 0 {
		s.Fail(key, "empty")
	}
	for i, text := range list {
		name := fmt.Sprintf("%s[%d]", key, i)
		text, err := loadSecret(text, dir)
		if err != nil {
			s.Fail(name, "%v", err)
		} else if !isUser(text) {
			s.Fail(name, "user:password expected")
		}
		doors = append(doors, []byte(text))
	}
	return doors
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
