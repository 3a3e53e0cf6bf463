package queue

import (
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"paybook/callback"
	"paybook/models"
)

// Headers of the edge's own, beside callback.ReplayHeader (App-Received-At) and nats.MsgIdHdr (Nats-Msg-Id).
const (
	HeaderQuery  = "App-Query"  // the request's query as it came, still encoded
	HeaderSender = "App-Sender" // the address the request came from
)

// Headers of a dead letter.
const (
	DeadReason     = "App-Dead-Reason"     // the reason of the refusal, unknown_account or failed
	DeadDetail     = "App-Dead-Detail"     // one line for people
	DeadDeliveries = "App-Dead-Deliveries" // how often it had been delivered
	DeadStream     = "App-Dead-Stream"
	DeadSequence   = "App-Dead-Sequence"
	DeadSubject    = "App-Dead-Subject"
)

// senderUnknown is no address, so that an account that lists its senders refuses it: only a recording has no sender at all.
const senderUnknown = "an address that the message does not tell (header " + HeaderSender + ")"

// message is one message, wherever it lies now.
type message struct {
	subject  string // the one it was published to
	stream   string
	sequence uint64
	stored   time.Time
	header   nats.Header
	data     []byte
}

// account is what follows the prefix in its subject; "" when that is another.
func (m *message) account(prefix string) string {
	account, ours := strings.CutPrefix(m.subject, prefix+".")
	if !ours {
		return ""
	}
	return account
}

// arrival is the HTTP request that it stands for.
func (m *message) arrival(account string) callback.Arrival {
	h := textproto.MIMEHeader(canonical(m.header))
	a := callback.Arrival{RequestID: m.stream + ":" + strconv.FormatUint(m.sequence, 10)}
	a.Callback = models.Callback{Account: account, Method: http.MethodPost, Path: "/callbacks/" + account, Query: h.Get(HeaderQuery),
		Headers: http.Header{}, Body: m.data, Sender: senderUnknown, ReceivedAt: m.stored.UTC()}
	if sender := h.Get(HeaderSender); sender != "" {
		a.Sender = sender
	}
	if told := h[callback.ReplayHeader]; len(told) > 0 {
		at, err := callback.ReadReceived(told[0])
		if err != nil || len(told) > 1 {
			a.Unread = &models.Rejection{Reason: models.ReasonMalformed, Detail: "header " + callback.ReplayHeader + ": one RFC 3339 time expected, from the edge alone"}
		} else {
			a.ReceivedAt = at
		}
	}
	for name, values := range h {
		if !ours(name) {
			a.Headers[name] = values
		}
	}
	return a
}

// ours is true for a header that is not the request's: of the edge, of a dead letter, or NATS's.
func ours(name string) bool {
	return strings.HasPrefix(name, "App-") || strings.HasPrefix(name, "Nats-")
}

// canonical spells names as HTTP does: NATS keeps them as they were written, and an edge may speak HTTP/2, where all are small. A name
// that is spelt in two ways is one name.
func canonical(h nats.Header) http.Header {
	out := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(h)) { // of two spellings the same one is first, every time
		for _, v := range h[name] {
			out.Add(name, v)
		}
	}
	return out
}
