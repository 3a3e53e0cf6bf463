package generic

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Braintree signs with it; an HMAC does not need what SHA-1 has lost
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"hash"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"paybook/callback/parse"
	"paybook/models"
)

// signature is how a callback proves where it comes from.
type signature struct {
	kind      string // hmac, ed25519, static_token or basic
	from      source
	form      signatureForm
	keyForm   signatureForm  // of signatures by public key; kind "": there are none
	secrets   [][]byte       // static_token and basic
	senders   []netip.Prefix // addresses it may come from; nil: any
	doors     [][]byte       // user:password that must be given besides; nil: none
	macs      []*macPool
	keys      []ed25519.PublicKey
	size      int // bytes of a MAC
	encoding  string
	templates []template // any may match
	perItem   bool       // each item is signed for itself
	forbidden []forbidden
}

var algorithms = map[string]struct {
	new  func() hash.Hash
	size int
}{"sha256": {sha256.New, sha256.Size}, "sha512": {sha512.New, sha512.Size}, "sha1": {sha1.New, sha1.Size}}

func (p *Provider) readSignature(settings *parse.Section, dir string) {
	s := settings.Object("signature")
	if s == nil {
		settings.Fail("signature", "missing: without it anybody could call")
		return
	}
	sig := &p.signature
	sig.kind = s.Word("kind", "hmac", "hmac", "ed25519", "static_token", "basic")
	origin := "header:Authorization"
	if sig.kind != "basic" {
		origin = s.Need("from")
	} else {
		origin = s.Text("from", origin)
	}
	sig.form = readForm(s)
	sig.from = p.readSource(s, "from", origin)
	sig.perItem = s.Word("scope", "request", "request", "item") == "item"
	if sig.perItem && !p.items.on() {
		s.Fail("scope", "item needs settings.items")
	}
	secrets := readSecrets(settings, s, dir)
	p.warnings = append(p.warnings, secrets.warnings...)
	sig.doors = readDoors(s, dir)
	sig.senders = readSenders(s)
	switch sig.kind {
	case "basic":
		secrets.needUsers()
		sig.secrets = secrets.keys
	case "static_token":
		sig.secrets = secrets.keys
	default:
		p.readMAC(s, secrets)
	}
	p.clock = p.readClock(s)
	s.Close()
}

// readMAC reads what is signed, and turns the secrets into what checks it: a MAC each, or the public key that a secret is.
func (p *Provider) readMAC(s *parse.Section, secrets secretList) {
	sig := &p.signature
	sig.encoding = s.Word("encoding", "hex", "hex", "base64", "base64url")
	sig.keys, sig.keyForm = secrets.public, secrets.publicForm
	if sig.kind == "ed25519" {
		sig.keys, sig.keyForm, sig.form = secrets.publicKeys(), sig.form, signatureForm{separator: sig.form.separator}
	} else {
		algorithm := algorithms[s.Word("algorithm", "sha256", "sha256", "sha512", "sha1")]
		sig.size = algorithm.size
		for _, key := range secrets.keys {
			sig.macs = append(sig.macs, &macPool{new: algorithm.new, key: key})
		}
	}
	missing := s.Word("missing", "fail", "fail", "empty", "drop_segment")
	texts := s.Texts("template")
	if len(texts) == 0 {
		s.Fail("template", "missing: what is signed, such as {body}")
	}
	for _, text := range texts {
		t, err := parseTemplate(text, missing)
		if err != nil {
			s.Fail("template", "%v", err)
		}
		for _, from := range t.sources() {
			p.checkSource(s, "template", from)
		}
		if t.covers(sig.from) {
			s.Fail("from", "%s is part of the template %q: a signature cannot stand in what it signs", sig.from, text)
		}
		sig.templates = append(sig.templates, t)
	}
	p.readForbidden(s)
}

// readSenders reads the addresses and networks that the provider calls from.
func readSenders(s *parse.Section) (senders []netip.Prefix) {
	texts := s.Texts("senders")
	if texts != nil && len(texts) == 0 {
		s.Fail("senders", "empty; leave it out to take callbacks from anywhere")
	}
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if addr, noNetwork := netip.ParseAddr(text); err != nil && noNetwork == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			s.Fail("senders", "%q is no address and no network, such as 203.0.113.7 or 203.0.113.0/24", text)
		}
		senders = append(senders, prefix.Masked())
	}
	return senders
}

// checkSender refuses a call from anywhere but the configured addresses: like a wrong password at the door, it says nothing of the
// signature, which has not been looked at yet. A recording has none to be held against; its signature is
// checked like any other.
func (sig *signature) checkSender(r *request) error {
	if sig.senders == nil || r.cb.Sender == "" {
		return nil
	}
	addr, err := netip.ParseAddr(r.cb.Sender)
	if err == nil && slices.ContainsFunc(sig.senders, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) }) {
		return nil
	}
	return refuse(models.ReasonBasicAuth, "it comes from "+r.cb.Sender+", which is not in settings.signature.senders; behind a proxy, configure trusted_proxies")
}

// checkDoor refuses who does not give the user and password that are asked for besides the signature.
func (sig *signature) checkDoor(r *request) error {
	if sig.doors != nil && !match(sig.doors, basicCredentials(r.cb.Headers.Get("Authorization"))) {
		return refuse(models.ReasonBasicAuth, "the user and password of settings.signature.basic_auth are not given")
	}
	return nil
}

// check refuses what is not signed with one of our secrets. Nothing of the body is believed before.
func (sig *signature) check(r *request) error {
	found := r.find(&sig.from)
	r.signature, r.separator = found, cmp.Or(sig.form.separator, sig.keyForm.separator)
	if found == "" {
		return refuse(sig.reason(), "no signature in "+sig.from.String())
	}
	candidates, byKey := sig.form.candidates(found), sig.keyForm.candidates(found)
	if len(candidates)+len(byKey) == 0 {
		return refuse(sig.reason(), sig.from.String()+" is not of the form "+cmp.Or(sig.form.kind, sig.keyForm.kind))
	}
	if err := sig.checkForbidden(r); err != nil {
		return err
	}
	ok := false
	switch sig.kind {
	case "hmac", "ed25519":
		ok = len(candidates) > 0 && sig.checkMAC(r, candidates) || len(byKey) > 0 && sig.checkKeys(r, byKey)
	case "basic":
		ok = match(sig.secrets, basicCredentials(candidates[0]))
	default:
		ok = slices.ContainsFunc(candidates, func(c string) bool { return match(sig.secrets, []byte(c)) })
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

// match compares with every secret, so that the time tells nothing.
func match(secrets [][]byte, given []byte) bool {
	ok := 0
	for _, secret := range secrets {
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

// checkKeys checks each candidate with each public key.
func (sig *signature) checkKeys(r *request, candidates []string) bool {
	var text bytes.Buffer
	var room [ed25519.SignatureSize]byte
	for i := range sig.templates {
		text.Reset()
		if _, ok := sig.templates[i].write(&text, r, nil); !ok {
			continue
		}
		for _, c := range candidates {
			code, ok := decodeMAC(room[:], c, sig.encoding)
			if ok && slices.ContainsFunc(sig.keys, func(key ed25519.PublicKey) bool { return ed25519.Verify(key, text.Bytes(), code) }) {
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
