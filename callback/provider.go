package callback

import (
	"context"
	"net/http"

	"paybook/models"
)

// Provider is what a payment provider must know to be listened to. One value serves one configured account, from any number
// of goroutines.
type Provider interface {
	// Name is the provider's name in the configuration, such as "wechatpay".
	Name() string
	// Verify checks the request as it came (headers, query, body byte for byte) against the time of receipt and returns what it
	// says: several events if the provider batches, all or none, at least one. Whatever is not proven genuine, or is not for
	// this account, is a *models.Rejection (wrapped or plain); any other error means that we could not tell and the provider
	// shall send again. A genuine message whose needed field is missing is a models.EventUnparsable. It reads no clock, so a
	// recording verifies for ever, keeps nothing of cb, and never panics on what a stranger sends.
	Verify(ctx context.Context, cb models.Callback) ([]models.Event, error)
	// Reply is what this provider must be told. A zero Answer means that the failure is ours and it shall send again.
	Reply(a models.Answer) (status int, contentType, body string)
}

// Explainer is implemented by a provider that can say, step by step, how it came to its verdict. What it says is for people, so it may
// do work again that Verify has done, and need not be quick.
type Explainer interface {
	// Explain goes through the checks of Verify as far as they make sense for this callback, also behind one that failed. A step
	// that is not OK means that Verify refuses it. Nothing of a secret is in a step; of a MAC at most parse.Prefix.
	Explain(ctx context.Context, cb models.Callback) []models.Step
}

// SecretHolder is implemented by a provider that may be sent a secret as it is, such as a fixed token.
type SecretHolder interface {
	// Secrets are the names of the headers and query parameters that hold it. Whoever shows a callback to people masks them.
	Secrets() (headers, parameters []string)
}

// Challenger is implemented by a provider that may check an address with a GET before it sends anything there.
type Challenger interface {
	// Challenge answers such a check; nothing is recorded. ok is false for a request that is none, which is then a wrong method. It
	// must not answer with anything that could be used as a signature.
	Challenge(cb models.Callback) (status int, contentType, body string, ok bool)
}

// Querier is implemented by a provider that can be asked what became of a payment or a refund. An account that was not given what it
// takes (a private key, an API key) has a provider of this kind all the same: the error then names the setting.
type Querier interface {
	// Query asks about one movement and returns the evidence (Method QUERY, Path the API's path, the answer's headers and its Body
	// byte for byte, ReceivedAt q.Asked) with what it says, as Verify would tell it of the callback of the same movement: same ids,
	// same names, same sums, same times. No events: the provider does not know it, or nothing has moved yet. An answer that is not
	// proven genuine, or is about another account or movement than asked, is a *models.Rejection with the evidence beside it; any
	// other error means that nothing was learnt (the service is away, a setting is missing), and it may be asked again later.
	Query(ctx context.Context, client *http.Client, q models.Query) (models.Callback, []models.Event, error)
}

// Outgoing is implemented by a provider that is called by us.
type Outgoing interface {
	// Hosts are the hosts its API and its downloads live on, host or host:port, from the settings or else the provider's own. A
	// client is made that reaches these and no other.
	Hosts() []string
}
