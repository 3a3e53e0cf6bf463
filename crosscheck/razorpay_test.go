package crosscheck

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/razorpay/razorpay-go/utils"

	"paybook/callback/generic"
	"paybook/models"
)

func TestRazorpayOfficialSDK(t *testing.T) {
	secrets := []string{"razorpay-webhook-secret-TEST-ONLY", "razorpay-previous-secret-TEST-ONLY"}
	agree(t, newProvider(t, "razorpay", generic.NewPreset("razorpay")), "razorpay", sdk{
		verify: func(cb models.Callback) error {
			for _, secret := range secrets {
				if utils.VerifyWebhookSignature(string(cb.Body), cb.Headers.Get("X-Razorpay-Signature"), secret) {
					return nil
				}
			}
			return errors.New("the signature does not fit")
		},
		lax: func(cb models.Callback) bool {
			sent := cb.Headers.Get("X-Razorpay-Signature")
			return sent != strings.ToLower(sent) || // we read hexadecimal digits of either case
				!json.Valid(cb.Body) // what is no JSON is refused by our parser
		},
	})
}
