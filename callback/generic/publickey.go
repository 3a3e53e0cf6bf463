package generic

import (
	"bytes"
	"crypto/ed25519"

	"paybook/callback/parse"
)

// readPublicForm reads how public keys are told from secrets (whpk_), and their signatures from MACs (v1a,).
func (l *secretList) readPublicForm(s *parse.Section) (prefix string) {
	o := s.Object("public_keys")
	if o == nil {
		return ""
	}
	prefix = o.Need("secret_prefix")
	l.publicForm = signatureForm{kind: "list", separator: o.Text("separator", " "), prefix: o.Need("item_prefix")}
	if l.publicForm.separator == "" {
		o.Fail("separator", "empty")
	}
	o.Close()
	return prefix
}

func (l *secretList) addPublic(name, text string) {
	raw, err := decodeSecret(text, "base64")
	if err != nil {
		l.section.Fail(name, "is not base64 behind its prefix")
		return
	}
	l.public = append(l.public, l.publicKey(name, raw))
}

// publicKeys are the secrets taken as Ed25519 public keys.
func (l *secretList) publicKeys() (keys []ed25519.PublicKey) {
	for i, raw := range l.keys {
		keys = append(keys, l.publicKey(l.names[i], raw))
	}
	return keys
}

func (l *secretList) publicKey(name string, raw []byte) ed25519.PublicKey {
	switch {
	case len(raw) == ed25519.PrivateKeySize:
		l.section.Fail(name, "is a private key, which only the provider has; the public one is expected")
	case len(raw) != ed25519.PublicKeySize:
		l.section.Fail(name, "%d bytes, expected the %d of an Ed25519 public key", len(raw), ed25519.PublicKeySize)
	case len(bytes.Trim(raw, "\x00\x01")) == 0:
		l.section.Fail(name, "is no key: with it anybody could sign")
	}
	return raw
}
