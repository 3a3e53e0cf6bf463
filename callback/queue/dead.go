package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"paybook/callback"
)

// Reasons of dead letters beside those of a refusal.
const (
	reasonUnknownAccount = "unknown_account"
	reasonFailed         = "failed"
)

// detailMax bounds the detail of a dead letter: headers count against the server's limit of a message.
const detailMax = 300

// bury makes a dead letter of it, and terminates it only when that is stored.
func (c *Consumer) bury(ctx context.Context, d *delivery, result Result, reason, detail string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	if _, err := d.from.js.PublishMsg(ctx, d.deadLetter(&c.o, reason, detail)); err != nil {
		c.o.Log.Error("dead letter not stored, the message stays", "message", d.id(), "reason", reason, "subject", c.o.DeadSubject, "error", deadError(err))
		c.unsure.Store(true) // its stream may have been deleted
		c.again(d)
		return
	}
	c.o.Log.Warn("dead letter", "account", d.account, "message", d.id(), "reason", reason, "detail", short(detail), "deliveries", d.times)
	if err := d.terminate(reason); err != nil {
		c.o.Log.Debug("queue: not terminated, it comes again", "message", d.id(), "error", plain(err)) // the dead letter is still stored once
	}
	c.observe(d, result)
}

func deadError(err error) string {
	if errors.Is(err, nats.ErrMaxPayload) {
		return plain(err) + ": with its further headers it is larger than the server's max_payload: raise that by a kilobyte"
	}
	return plain(err)
}

// terminate says why where the server listens to that: one before 2.10.4 does not understand a reason, and would deliver it again.
func (d *delivery) terminate(reason string) error {
	if atLeast(d.from.conn.ConnectedServerVersion(), 2, 10, 4) {
		return d.msg.TermWithReason(reason)
	}
	return d.msg.Term()
}

// atLeast compares a version such as 2.9.10 or 2.11.0-RC.1.
func atLeast(version string, want ...int) bool {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	parts := strings.Split(version, ".")
	for i, w := range want {
		if i >= len(parts) {
			return false
		}
		if n, err := strconv.Atoi(parts[i]); err != nil || n != w {
			return err == nil && n > w
		}
	}
	return true
}

// deadLetter is the message with what is needed to bring it again at its own time, and what a person wants to know.
func (d *delivery) deadLetter(o *Options, reason, detail string) *nats.Msg {
	out := nats.NewMsg(o.DeadSubject + "." + oneToken(d.account))
	out.Data = d.data
	for name, values := range canonical(d.header) {
		if !strings.HasPrefix(name, "Nats-") && !strings.HasPrefix(name, "App-Dead-") { // Nats-Expected-Stream would forbid to store it
			out.Header[name] = values
		}
	}
	if len(out.Header[callback.ReplayHeader]) == 0 {
		out.Header.Set(callback.ReplayHeader, d.stored.UTC().Format(time.RFC3339Nano))
	}
	out.Header.Set(DeadReason, reason)
	out.Header.Set(DeadDetail, short(detail))
	out.Header.Set(DeadDeliveries, strconv.FormatUint(d.times, 10))
	out.Header.Set(DeadStream, d.stream)
	out.Header.Set(DeadSequence, strconv.FormatUint(d.sequence, 10))
	out.Header.Set(DeadSubject, d.subject)
	// the time is in it because a stream that was deleted and made again counts from 1 again
	out.Header.Set(nats.MsgIdHdr, fmt.Sprintf("%s:%d:%d", d.stream, d.sequence, d.stored.UnixNano()))
	return out
}

// id is how logs call a message.
func (m *message) id() string { return fmt.Sprintf("%s:%d", m.stream, m.sequence) }

// short is text on one line that a header can hold.
func short(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
	if len(text) <= detailMax {
		return text
	}
	n := detailMax
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
