package crosscheck

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/adyen/adyen-go-api-library/v11/src/hmacvalidator"
	"github.com/adyen/adyen-go-api-library/v11/src/webhook"

	"paybook/callback/adyen"
	"paybook/models"
)

func TestAdyenOfficialSDK(t *testing.T) {
	keys := []string{"007E57DB249A3ADF556FC44FC941EDB65D827BACD4CF6BA5A28778D1CD6D7778", "934F08925E5D1FD1C8F9ED61DFFC938CB1C1EEA9C310B58E9AC6FB112200ECAD"}
	agree(t, newProvider(t, "adyen", adyen.New), "adyen", sdk{
		verify: func(cb models.Callback) error {
			told, err := webhook.HandleRequest(string(cb.Body))
			if err != nil {
				return err
			}
			items := told.GetNotificationItems()
			if len(items) == 0 {
				return errors.New("no items")
			}
			for i, item := range items {
				if !slices.ContainsFunc(keys, func(key string) bool { return signed(*item, key) }) {
					return fmt.Errorf("item %d: the signature does not fit", i)
				}
			}
			return nil
		},
		differs: map[string]string{"bad_basic_auth": "the password at the door is the server's to check"},
		lax: func(cb models.Callback) bool {
			_, err := webhook.HandleRequest(string(cb.Body)) // what it cannot decode, for whatever is not signed either
			return err != nil || cb.Headers.Get("Authorization") != basicAuth
		},
		looser: "it reads keys in any case and twice, and only what it signs; we refuse what could be read in two ways",
	})
}

const basicAuth = "Basic YWR5ZW4tZml4dHVyZTpiYXNpYy1hdXRoLXRlc3Qtb25seQ=="

// signed asks the library, which takes an item without additional data for granted and panics.
func signed(item webhook.NotificationRequestItem, key string) bool {
	return item.AdditionalData != nil && hmacvalidator.ValidateHmac(item, key)
}
