package ask

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The sizes of RSA keys that are neither weak nor a slip.
const rsaBitsMin, rsaBitsMax = 2048, 16384

// pathMax is far above any path, and far below any private key: what is longer is taken for a key and never shown.
const pathMax = 400

// PrivateKey reads an RSA key of ours: the key itself, as file:PATH or ${NAME} put it into a setting, or the path of its file, relative to
// dir. It is PEM (PKCS #8 or PKCS #1), or the bare base64 of either. The error holds nothing of the key.
func PrivateKey(dir, text string) (*rsa.PrivateKey, error) {
	where := ""
	if text = strings.TrimSpace(text); len(text) <= pathMax && !strings.Contains(text, "-----BEGIN") {
		if !filepath.IsAbs(text) {
			text = filepath.Join(dir, text)
		}
		raw, err := os.ReadFile(text)
		if err != nil {
			return nil, err
		}
		where, text = text+": ", strings.TrimSpace(string(raw))
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s%w", where, err)
	}
	return key, nil
}

func parseKey(text string) (*rsa.PrivateKey, error) {
	var der []byte
	if block, _ := pem.Decode([]byte(text)); block != nil {
		if block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "" {
			return nil, errors.New("the key is protected by a password; write it without: openssl pkey -in KEY -out PLAIN")
		}
		der = block.Bytes
	} else if raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err == nil {
		der = raw
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return checked(key)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("no private key, expected -----BEGIN PRIVATE KEY-----")
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("not an RSA key")
	}
	return checked(key)
}

func checked(key *rsa.PrivateKey) (*rsa.PrivateKey, error) {
	if bits := key.N.BitLen(); bits < rsaBitsMin || bits > rsaBitsMax {
		return nil, fmt.Errorf("%d bits, expected %d to %d", bits, rsaBitsMin, rsaBitsMax)
	}
	return key, nil
}

// Sign is RSASSA-PKCS1-v1_5 with SHA-256 over text, in base64.
func Sign(key *rsa.PrivateKey, text []byte) (string, error) {
	digest := sha256.Sum256(text)
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	return base64.StdEncoding.EncodeToString(signature), err
}
