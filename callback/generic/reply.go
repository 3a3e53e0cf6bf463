package generic

import (
	"net/http"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// reply is a literal answer.
type reply struct {
	status      int
	contentType string
	body        string
}

// replies are the answers by what happened.
type replies struct {
	ok, duplicate, ignored, rejected, unparsable, temporary, merchant, malformed, tooLarge reply
}

func (p *Provider) readReplies(settings *parse.Section) {
	s := settings.Object("reply")
	if s == nil {
		s = settings.Inner("reply", nil)
	}
	r := &p.replies
	r.ok = readReply(s, "ok", reply{status: http.StatusOK})
	r.duplicate = readReply(s, "duplicate", r.ok)
	r.ignored = readReply(s, "ignored", r.ok)
	r.rejected = readReply(s, "rejected", reply{status: http.StatusUnauthorized})
	r.merchant = readReply(s, "merchant", reply{status: http.StatusForbidden})
	r.malformed = readReply(s, "malformed", reply{status: http.StatusBadRequest})
	r.tooLarge = readReply(s, "too_large", reply{status: http.StatusRequestEntityTooLarge})
	r.unparsable = readReply(s, "unparsable", reply{status: http.StatusUnprocessableEntity})
	r.temporary = readReply(s, "temporary", reply{status: http.StatusServiceUnavailable})
	if r.temporary.status < 500 {
		s.Fail("temporary.status", "must be 500 or more, or the provider would not send again")
	}
	s.Close()
}

// readReply reads one answer. What is stored for good is answered 2xx and nothing else is: another answer would make the
// provider send for ever, or stop too early.
func readReply(s *parse.Section, key string, fallback reply) reply {
	o := s.Object(key)
	if o == nil {
		return fallback
	}
	r := reply{status: o.Whole("status", fallback.status, 200), body: o.Text("body", "")}
	r.contentType = o.Text("content_type", "")
	if r.contentType == "" && r.body != "" {
		r.contentType = plainText
	}
	stored := key == "ok" || key == "duplicate" || key == "ignored"
	switch success := r.status < 300; {
	case r.status > 599:
		o.Fail("status", "%d is no HTTP status", r.status)
	case stored && !success:
		o.Fail("status", "must be 200 to 299: the callback is stored")
	case !stored && key != "unparsable" && r.status < 400:
		o.Fail("status", "must be 400 or more: the callback is refused")
	case r.body != "" && r.status == http.StatusNoContent:
		o.Fail("body", "the status 204 has none")
	case strings.ContainsAny(r.contentType, "\r\n"):
		o.Fail("content_type", "must be one line")
	}
	o.Close()
	return r
}

// Reply is the configured answer; see readReplies for the defaults.
func (p *Provider) Reply(a models.Answer) (status int, contentType, body string) {
	r := p.replies.choose(a)
	return r.status, r.contentType, r.body
}

func (r *replies) choose(a models.Answer) reply {
	switch a.Outcome {
	case models.OutcomeUnreadable:
		return r.unparsable
	case models.OutcomeDuplicate:
		return r.duplicate
	case models.OutcomeIgnored:
		return r.ignored
	}
	switch a.Reason {
	case "":
		if a.Accepted() {
			return r.ok
		}
		return r.temporary
	case models.ReasonMerchant:
		return r.merchant
	case models.ReasonMalformed:
		return r.malformed
	case models.ReasonTooLarge:
		return r.tooLarge
	}
	return r.rejected
}
