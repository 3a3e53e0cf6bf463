package crosscheck

import (
	"errors"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"paybook/callback/generic"
	"paybook/models"
)

func TestStandardWebhooksReferenceLibrary(t *testing.T) {
	hook := must(standardwebhooks.NewWebhook("whsec_VEVTVC1PTkxZIHN0YW5kYXJkIHdlYmhvb2tzIGtleS4="))(t)
	agree(t, newProvider(t, "standardwebhooks", generic.New), "standardwebhooks", sdk{
		verify: func(cb models.Callback) error { return hook.Verify(cb.Body, cb.Headers) },
	})
	if hook.Verify(nil, nil) == nil {
		t.Error(errors.New("the library accepts nothing at all, so it judges nothing"))
	}
}
