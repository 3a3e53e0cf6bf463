package queue

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
