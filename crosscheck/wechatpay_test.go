package crosscheck

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"

	"github.com/go-pay/gopay/wechat/v3"
	"github.com/wechatpay-apiv3/wechatpay-go/core"
	"github.com/wechatpay-apiv3/wechatpay-go/core/auth/verifiers"
	"github.com/wechatpay-apiv3/wechatpay-go/core/notify"
	"github.com/wechatpay-apiv3/wechatpay-go/utils"

	"paybook/callback/wechatpay"
	"paybook/models"
)

const wechatKeyID = "PUB_KEY_ID_0119999999012026112900000000000001"

func TestWechatpayOfficialSDK(t *testing.T) {
	cert := must(utils.LoadCertificateWithPath("../testdata/wechatpay/keys/platform_cert.pem"))(t)
	key := must(utils.LoadPublicKeyWithPath("../testdata/wechatpay/keys/wechatpay_public_key.pem"))(t)
	verifier := verifiers.NewSHA256WithRSACombinedVerifier(core.NewCertificateMapWithList([]*x509.Certificate{cert}), wechatKeyID, *key)
	handler := must(notify.NewRSANotifyHandler("TestOnlyApiV3Key0123456789abcdef", verifier))(t)
	agree(t, newProvider(t, "wechatpay", wechatpay.New), "wechatpay", sdk{
		verify: func(cb models.Callback) error {
			_, err := handler.ParseNotifyRequest(t.Context(), request(cb), map[string]any{})
			if err != nil && strings.Contains(err.Error(), "decrypt error") {
				return nil // proven, and not readable: we say so too
			}
			return err
		},
	})
}

func TestWechatpayGopay(t *testing.T) {
	cert := must(utils.LoadCertificateWithPath("../testdata/wechatpay/keys/platform_cert.pem"))(t)
	key := must(utils.LoadPublicKeyWithPath("../testdata/wechatpay/keys/wechatpay_public_key.pem"))(t)
	certKey, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok {
		t.Fatal("the platform certificate is not of RSA")
	}
	keys := map[string]*rsa.PublicKey{"5A27B42EDEC99405C1DFBFE644E98BFDD13D749E": certKey, wechatKeyID: key}
	noClock := "it has no window of time"
	agree(t, newProvider(t, "wechatpay", wechatpay.New), "wechatpay", sdk{
		verify: func(cb models.Callback) error {
			req, err := wechat.V3ParseNotify(request(cb))
			if err != nil {
				return err
			}
			return req.VerifySignByPKMap(keys)
		},
		differs: map[string]string{"stale_timestamp": noClock, "future_timestamp": noClock},
		lax: func(cb models.Callback) bool {
			return cb.Headers.Get("Wechatpay-Signature-Type") != "WECHATPAY2-SHA256-RSA2048"
		},
	})
}

func request(cb models.Callback) *http.Request {
	target := cb.Path
	if cb.Query != "" {
		target += "?" + cb.Query
	}
	req, err := http.NewRequest(cb.Method, target, bytes.NewReader(cb.Body))
	if err != nil {
		panic(err)
	}
	req.Header = cb.Headers
	return req
}
