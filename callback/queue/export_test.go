package queue

import (
	"net/http"
	"time"

	"github.com/nats-io/nats.go"

	"paybook/models"
)

// BeforeAck has f called between the commit of a message and its acknowledgement.
func (c *Consumer) BeforeAck(f func()) { c.beforeAck = f }

// For tests of the small ones.
var (
	Covers  = covers
	AtLeast = atLeast
	Short   = short
)

// PauseAfter is the pause after the n-th delivery.
func (o Options) PauseAfter(n uint64) string {
	o.setDefaults()
	return o.pause(n).String()
}

// Address is what logs call the server.
func (o Options) Address() string { return o.address() }

// Arrives says when a message of that header and time of storage counts as received, and why it cannot be read.
func Arrives(h nats.Header, stored time.Time) (time.Time, *models.Rejection, http.Header) {
	a := (&message{subject: "callbacks.a", header: h, stored: stored}).arrival("a")
	return a.ReceivedAt, a.Unread, a.Headers
}

// Login is how a server of these options is logged in to.
func Login(o Options) []nats.Option { return login(&o) }
