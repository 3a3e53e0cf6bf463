package crosscheck

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v84/webhook"

	"paybook/callback/stripe"
	"paybook/models"
)

func TestStripeOfficialSDK(t *testing.T) {
	secrets := []string{"whsec_TESTONLY.fixture.not-a-real-secret.b71f0c5e4a", "whsec_TESTONLY.fixture.previous-secret.19d2aa7703"}
	agree(t, newProvider(t, "stripe", stripe.New), "stripe", sdk{
		verify: func(cb models.Callback) (err error) {
			for _, secret := range secrets {
				if err = webhook.ValidatePayloadWithTolerance(cb.Body, cb.Headers.Get("Stripe-Signature"), secret, 300*time.Second); err == nil {
					return nil
				}
			}
			return err
		},
		differs: map[string]string{"future_timestamp": "it has no bound towards the future"},
		lax: func(cb models.Callback) bool {
			for _, item := range strings.Split(cb.Headers.Get("Stripe-Signature"), ",") {
				if strings.Count(item, "=") != 1 {
					return true // it refuses a header with a stray item; we look at the items that are signatures
				}
			}
			return !json.Valid(cb.Body) // what is no JSON is refused by our parser, which is not part of its check
		},
	})
}
