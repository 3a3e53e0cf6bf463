package crosscheck

import (
	"crypto/rsa"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/go-pay/gopay"
	gopayalipay "github.com/go-pay/gopay/alipay"
	smartwalle "github.com/smartwalle/alipay/v3"
	"github.com/smartwalle/nsign"

	"paybook/callback/alipay"
	"paybook/models"
)

func TestAlipaySmartwalle(t *testing.T) {
	client := must(smartwalle.NewWithSigner("2021000000000001", noSigner{}, false))(t)
	if err := client.LoadAliPayPublicKey(bareKey(t)); err != nil {
		t.Fatal(err)
	}
	agree(t, newProvider(t, "alipay", alipay.New), "alipay", sdk{verify: func(cb models.Callback) error {
		values, err := url.ParseQuery(string(cb.Body))
		if err != nil {
			return err
		}
		_, err = client.DecodeNotification(t.Context(), values)
		return err
	}, looser: "it reads base64 with line breaks in it, and takes a field for signed wherever its text is cut"})
}

func TestAlipayGopay(t *testing.T) {
	key := bareKey(t)
	agree(t, newProvider(t, "alipay", alipay.New), "alipay", sdk{
		verify: func(cb models.Callback) error {
			values, err := url.ParseQuery(string(cb.Body))
			if err != nil {
				return err
			}
			form := gopay.BodyMap{}
			for name := range values {
				form.Set(name, values.Get(name))
			}
			ok, err := gopayalipay.VerifySign(key, form)
			if err == nil && !ok {
				err = rsa.ErrVerification
			}
			return err
		},
		looser: "it takes the last of a repeated field, and leaves empty fields out of the signed text",
		differs: map[string]string{
			"sign_type_sha1_downgrade": "it obeys the sign_type of the message",
			"empty_value_signed":       "it leaves empty values out of the signed text",
		},
	})
	if ok, err := gopayalipay.VerifySign(key, gopay.BodyMap{}); ok && err == nil {
		t.Error(errors.New("the library accepts nothing at all, so it judges nothing"))
	}
}

// bareKey is the key as the provider's console shows it: the base64 alone.
func bareKey(t *testing.T) string {
	text := string(must(os.ReadFile("../testdata/alipay/keys/alipay_public_key.pem"))(t))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "-----BEGIN PUBLIC KEY-----", ""), "-----END PUBLIC KEY-----", "")
	return strings.ReplaceAll(text, "\n", "")
}

// noSigner signs nothing: a receiver needs no key of its own.
type noSigner struct{ nsign.Signer }
