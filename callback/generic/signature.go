package generic

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Braintree signs with it; an HMAC does not need what SHA-1 has lost
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"hash"
	"slices"
	"strings"
	"sync"

	"paybook/callback/parse"
	"paybook/models"
)

// signature is how a callback proves where it comes from.
type signature struct {
	kind      string // hmac, static_token or basic
	from      source
	form      signatureForm
	secrets   [][]byte // static_token and basic
	macs      []*macPool
	size      int // bytes of a MAC
	encoding  string
	templates []template // any may match
}

var algorithms = map[string]struct {
	new  func() hash.Hash
	size int
}{"sha256": {sha256.New, sha256.Size}, "sha512": {sha512.New, sha512.Size}, "sha1": {sha1.New, sha1.Size}}

func (p *Provider) readSignature(settings *section, dir string) {
	s := settings.object("signature")
	if s == nil {
		settings.fail("signature", "missing: without it anybody could call")
		return
	}
	sig := &p.signature
	sig.kind = s.word("kind", "hmac", "hmac", "static_token", "basic")
	origin := "header:Authorization"
	if sig.kind != "basic" {
		origin = s.need("from")
	} else {
		origin = s.text("from", origin)
	}
	sig.from = p.readSource(s, "from", origin)
	sig.form = readForm(s)
	sig.secrets = readSecrets(s, dir)
	switch sig.kind {
	case "hmac":
		p.readMAC(s)
	case "basic":
		for _, secret := range sig.secrets {
			if user, password, ok := strings.Cut(string(secret), ":"); !ok || user == "" || !parse.Visible(password) {
				s.fail("secrets", "user:password expected for basic")
			}
		}
	}
	p.clock = p.readClock(s)
	s.close()
}

func (p *Provider) readMAC(s *section) {
	sig := &p.signature
	algorithm := algorithms[s.word("algorithm", "sha256", "sha256", "sha512", "sha1")]
	sig.size = algorithm.size
	sig.encoding = s.word("encoding", "hex", "hex", "base64", "base64url")
	for _, secret := range sig.secrets {
		sig.macs = append(sig.macs, &macPool{new: algorithm.new, key: secret})
	}
	sig.secrets = nil
	missing := s.word("missing", "fail", "fail", "empty", "drop_segment")
	texts := s.texts("template")
	if len(texts) == 0 {
		s.fail("template", "missing: what is signed, such as {body}")
	}
	for _, text := range texts {
		t, err := parseTemplate(text, missing)
		if err != nil {
			s.fail("template", "%v", err)
		}
		for _, from := range t.sources() {
			p.checkSource(s, "template", from)
		}
		sig.templates = append(sig.templates, t)
	}
}

// check refuses what is not signed with one of our secrets. Nothing of the body is believed before.
func (sig *signature) check(r *request) error {
	found := r.find(&sig.from)
	r.signature, r.separator = found, sig.form.separator
	if found == "" {
		return refuse(sig.reason(), "no signature in "+sig.from.String())
	}
	candidates := sig.form.candidates(found)
	if len(candidates) == 0 {
		return refuse(sig.reason(), sig.from.String()+" is not of the form "+sig.form.kind)
	}
	ok := false
	switch sig.kind {
	case "hmac":
		ok = sig.checkMAC(r, candidates)
	case "basic":
		ok = sig.checkSecret(basicCredentials(candidates[0]))
	default:
		ok = slices.ContainsFunc(candidates, func(c string) bool { return sig.checkSecret([]byte(c)) })
	}
	if !ok {
		return refuse(sig.reason(), "no configured secret gives what stands in "+sig.from.String())
	}
	return nil
}

func (sig *signature) reason() models.Reason {
	if sig.kind == "basic" {
		return models.ReasonBasicAuth
	}
	return models.ReasonSignature
}

func (sig *signature) checkSecret(given []byte) bool {
	ok := 0
	for _, secret := range sig.secrets {
		ok |= subtle.ConstantTimeCompare(secret, given)
	}
	return ok == 1
}

func basicCredentials(header string) []byte {
	scheme, code, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "basic") {
		return nil
	}
	out, err := base64.StdEncoding.DecodeString(code)
	if err != nil {
		return nil
	}
	return out
}

// checkMAC computes one MAC for each secret and template and compares it, in constant time and as bytes, with each candidate.
func (sig *signature) checkMAC(r *request, candidates []string) bool {
	var room [sha512.Size]byte
	for _, pool := range sig.macs {
		for i := range sig.templates {
			m := pool.get()
			var ok bool
			m.scratch, ok = sig.templates[i].write(m.hash, r, m.scratch)
			want := m.hash.Sum(m.sum[:0])
			ok = ok && slices.ContainsFunc(candidates, func(c string) bool {
				got, good := decodeMAC(room[:sig.size], c, sig.encoding)
				return good && hmac.Equal(got, want)
			})
			pool.put(m)
			if ok {
				return true
			}
		}
	}
	return false
}

// macPool keeps MACs that have their key worked in, which costs as much as a short message.
type macPool struct {
	pool sync.Pool
	new  func() hash.Hash
	key  []byte
}

type mac struct {
	hash    hash.Hash
	sum     [sha512.Size]byte
	scratch []byte
}

func (p *macPool) get() *mac {
	if m, ok := p.pool.Get().(*mac); ok {
		m.hash.Reset()
		return m
	}
	return &mac{hash: hmac.New(p.new, p.key)}
}

func (p *macPool) put(m *mac) { p.pool.Put(m) }

// covers says whether every signed text holds the value at s: any of them may be the one that matches.
func (sig *signature) covers(s source) bool {
	return len(sig.templates) > 0 && !slices.ContainsFunc(sig.templates, func(t template) bool { return !t.covers(s) })
}

// coversContent says whether the body is signed, at least in part.
func (sig *signature) coversContent() bool {
	return len(sig.templates) > 0 && !slices.ContainsFunc(sig.templates, func(t template) bool {
		return !slices.ContainsFunc(t.sources(), func(s source) bool { return s.kind == "body" || s.kind == "form" || s.kind == "json" })
	})
}
