// Package queue takes callbacks from NATS JetStream: an edge gateway receives them in the world's sight and publishes them, and this
// consumer brings them into the book by the same way as HTTP, callback.Server.Receive, under the same unique keys. What is delivered at
// least once, to as many consumers as there are, and by HTTP besides, is in the book exactly once.
//
// # The message
//
// One message is one HTTP request as the edge received it. Whoever writes a publisher needs to know this and no more:
//
//	subject   <subject>.<account>, such as callbacks.stripe: the configured account whose route /callbacks/stripe it stands for
//	data      the request's body, byte for byte: it is what the provider signed. Unpacked if it came with a Content-Encoding
//	headers   the request's headers, each as it came; upper and lower case do not matter, several of one name stay several
//
// and these headers of the edge's own. The edge must first take out what the world sent under these names, and under any that begins
// with Nats- or App-:
//
//	App-Received-At   when the edge had received the request, RFC 3339; signatures are judged by it. Without it: when JetStream stored
//	                  the message, so an edge that holds messages back for longer than a signature lives must set it
//	App-Query         the request's query as it came, still encoded, for providers that sign it or send it
//	App-Sender        the address the request came from, for accounts that list their senders
//	Nats-Msg-Id       optional: a repeat with the same id within the stream's window is not stored twice. The book does not need it
//
// The largest request that fits is the server's max_payload (1 MiB by default), headers included; leave room for the kilobyte that a dead
// letter adds, and answer what does not fit with 413.
//
// The edge answers its caller with success only when JetStream has acknowledged the message (js.PublishMsg returned no error), else
// with 503, so that the provider sends again. It need not check signatures, look for repeats or keep an order.
//
// Whoever may publish to the subject can state any time of receipt, and so replay a genuine callback whose signature is too old; the
// book has it already then. It cannot forge one. Give the permission to publish to the edge alone.
//
// # What becomes of it
//
//	booked, or a duplicate, or of any other outcome    acknowledged after the commit, with the server's confirmation
//	refused (forged, unreadable, too large, …)         kept as evidence like over HTTP, then a dead letter
//	no such account                                    a dead letter
//	a failure of ours                                  again after 1 s, 2 s, 4 s … 5 min; at delivery max_deliver a dead letter
//
// While the book cannot record, nothing is fetched, and what has been fetched waits here: its deliveries are not used up.
//
// A dead letter is the message with its body and headers, stored under <dead_subject>.<account>, and these further headers. Only when it
// is stored is the message terminated.
//
//	App-Dead-Reason       why: the reason of the refusal, unknown_account or failed
//	App-Dead-Detail       one line for people
//	App-Dead-Deliveries   how often it had been delivered
//	App-Dead-Stream       the stream it was in
//	App-Dead-Sequence     its number there
//	App-Dead-Subject      its subject there
//	App-Received-At       the time of receipt that it was judged by
//	Nats-Msg-Id           one for each message, so that it is stored once even if we are killed before it is terminated
//
// `app consume --dead` brings dead letters the same way again, after the cause has been cured, and deletes those that are booked.
//
// # The streams
//
// With create, what is missing is made: the stream, which keeps a message until it is acknowledged (work queue, on disk); the durable
// pull consumer; and the stream of the dead letters, <stream>_DEAD, which keeps them for 30 days. Who wants replicas, limits or other
// names makes them beforehand. What is there is never changed, but for the consumer's ack_wait.
package queue
