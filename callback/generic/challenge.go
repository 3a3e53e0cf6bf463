package generic

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// challenge is a check of the endpoint: a GET with a parameter that must be answered with its value, or with a MAC of it.
type challenge struct {
	query string // the parameter; "": there is no such check
	mac   bool
}

// Values that are answered. Whoever may have anything answered with a MAC can have a forged callback signed, so that only gets what
// cannot be one; and an echo must not carry a web page.
var (
	macChallenge  = regexp.MustCompile(`^[0-9a-f]{20,32}$`)
	echoChallenge = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{1,255}$`)
)

func (p *Provider) readChallenge(settings *parse.Section) {
	s := settings.Object("challenge")
	if s == nil {
		return
	}
	p.challenge = challenge{query: s.Need("query"), mac: s.Word("answer", "echo", "echo", "mac") == "mac"}
	if p.challenge.mac && len(p.signature.macs) == 0 {
		s.Fail("answer", "mac needs settings.signature.kind: hmac")
	}
	s.Close()
}

// Challenge answers a provider's check of the endpoint, when the settings have one and the request is one; else ok is false. With
// pairs the MAC stands behind the public key, as in a signature.
func (p *Provider) Challenge(cb models.Callback) (status int, contentType, body string, ok bool) {
	c := &p.challenge
	if c.query == "" || cb.Method != http.MethodGet && cb.Method != http.MethodHead {
		return 0, "", "", false
	}
	query, err := url.ParseQuery(cb.Query)
	if err != nil || len(query[c.query]) != 1 {
		return 0, "", "", false
	}
	text := query.Get(c.query)
	if c.mac {
		if !macChallenge.MatchString(text) {
			return 0, "", "", false
		}
		return http.StatusOK, plainText, p.signature.answer(text), true
	}
	return http.StatusOK, plainText, text, echoChallenge.MatchString(text)
}

const plainText = "text/plain; charset=utf-8"

// answer is the MAC of a text by the first secret, written as the provider writes its own.
func (sig *signature) answer(text string) string {
	m := sig.macs[0].get()
	defer sig.macs[0].put(m)
	_, _ = m.hash.Write([]byte(text))
	code := encodeMAC(m.hash.Sum(nil), sig.encoding)
	if sig.form.kind == "pairs" {
		return strings.Join([]string{sig.form.publicKey, code}, sig.form.inner)
	}
	return code
}
