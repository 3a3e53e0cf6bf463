package source

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// HostKey is a server's key as it was written down beforehand: the key itself, or its fingerprint.
type HostKey struct {
	fingerprint string        // SHA256:…
	key         ssh.PublicKey // nil: only the fingerprint is known
}

var fingerprint = regexp.MustCompile(`^SHA256:[A-Za-z0-9+/]{43}=?$`)

// ParseHostKey reads "SHA256:…" as ssh-keygen -l prints it, a line of known_hosts, or a public key such as "ssh-ed25519 AAAA…".
func ParseHostKey(text string) (HostKey, error) {
	text = strings.TrimSpace(text)
	if fingerprint.MatchString(text) {
		return HostKey{fingerprint: strings.TrimRight(text, "=")}, nil
	}
	if marker, _, key, _, _, err := ssh.ParseKnownHosts([]byte(text)); err == nil && key != nil {
		if marker != "" {
			return HostKey{}, fmt.Errorf("@%s lines are not taken: give the server's own key", marker)
		}
		return HostKey{fingerprint: ssh.FingerprintSHA256(key), key: key}, nil
	}
	if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text)); err == nil {
		return HostKey{fingerprint: ssh.FingerprintSHA256(key), key: key}, nil
	}
	return HostKey{}, errors.New("SHA256:… (as `ssh-keygen -lf FILE` prints it), a line of known_hosts or a public key expected")
}

// wrongHostKey is a server with another key than it must have: it is told nothing.
type wrongHostKey struct{ host, kind, have string }

func (e *wrongHostKey) Error() string {
	return fmt.Sprintf("the host key of %s is %s %s, which is not pinned: somebody may be in between; ask the provider, and set fetch.host_key only if it is theirs", e.host, e.kind, e.have)
}

func pinned(keys []HostKey) ssh.HostKeyCallback {
	return func(host string, _ net.Addr, shown ssh.PublicKey) error {
		have := ssh.FingerprintSHA256(shown)
		for _, k := range keys {
			if k.key != nil && bytes.Equal(k.key.Marshal(), shown.Marshal()) || k.key == nil && k.fingerprint == have {
				return nil
			}
		}
		return &wrongHostKey{host, shown.Type(), have}
	}
}

// hostKeyKinds are the kinds of keys to ask for, one after the other. Certificates are none: what is pinned is a key.
func hostKeyKinds(keys []HostKey) [][]string {
	all := [][]string{{ssh.KeyAlgoED25519}, {ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521}, {ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}}
	var wanted [][]string
	for _, kinds := range all {
		if slices.ContainsFunc(keys, func(k HostKey) bool {
			return k.key == nil || slices.Contains(kinds, k.key.Type()) || k.key.Type() == ssh.KeyAlgoRSA && kinds[0] == ssh.KeyAlgoRSASHA512
		}) {
			wanted = append(wanted, kinds)
		}
	}
	if len(wanted) == 0 {
		return all
	}
	return wanted
}
