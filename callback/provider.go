package callback

import (
	"context"

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
