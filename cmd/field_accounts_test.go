package cmd

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"maps"
	"math/big"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Names of the accounts that the field tests have with PayPal and Adyen. Not one of them is anybody's.
const (
	paypalHook    = "FIELDHOOK"
	paypalCertURL = "https://api.paypal.com/v1/notifications/certs/CERT-FIELD"
	adyenKey      = "00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF"
)

// moreAccounts are the lines of these accounts in app.yaml. root is the test kit's folder.
func moreAccounts(root string) string {
	return "- {name: alipay, provider: alipay, settings_file: '" + root + "/alipay/config.json'}\n" +
		"- {name: unionpay, provider: unionpay, settings_file: '" + root + "/unionpay/config.json'}\n" +
		"- {name: paypal, provider: paypal, settings: {webhook_ids: [" + paypalHook + "], trusted_roots: [paypal-root.pem], certificate_cache: paypal-certs.json," +
		" merchant_ids: [FIELDMERCHANT], livemode: true}}\n" +
		"- {name: adyen, provider: adyen, settings: {hmac_keys_hex: ['" + adyenKey + "'], merchant_accounts: [FieldShop], authorised_means_paid: true, livemode: true}}\n"
}

// moreFiles lie beside app.yaml.
func moreFiles() map[string]string {
	a := paypalAuthority()
	return map[string]string{"paypal-root.pem": a.root, "paypal-leaf.pem": a.leaf, "paypal-certs.json": fmt.Sprintf(`{%q:"paypal-leaf.pem"}`, paypalCertURL)}
}

// authority is a certificate to trust, and one below it that signs, in PEM.
type authority struct {
	root, leaf string
	leafKey    *rsa.PrivateKey
}

// paypalAuthority is made once: nothing takes longer than new keys. The kit's own authority has thrown its keys away.
var paypalAuthority = sync.OnceValue(func() authority {
	rootKey, leafKey := newKey(), newKey()
	of := func(name string) *x509.Certificate {
		return &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Unix(0, 0), NotAfter: time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)}
	}
	root, leaf := of("Field tests"), of("messageverificationcerts.paypal.com")
	root.IsCA, root.BasicConstraintsValid, root.KeyUsage = true, true, x509.KeyUsageCertSign
	leaf.DNSNames = []string{leaf.Subject.CommonName}
	return authority{root: issued(root, root, rootKey.Public(), rootKey), leaf: issued(leaf, root, leafKey.Public(), rootKey), leafKey: leafKey}
})

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

func issued(cert, by *x509.Certificate, key crypto.PublicKey, byKey *rsa.PrivateKey) string {
	der, err := x509.CreateCertificate(rand.Reader, cert, by, key, byKey)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// adyenMAC is the signature of an item's eight fields.
func adyenMAC(t *testing.T, text string) string {
	t.Helper()
	key, err := hex.DecodeString(adyenKey)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// unionpayPaid is a payment of our merchant's, made at noon in Beijing.
func unionpayPaid(id, order string, fen int64, change form) form {
	return form{
		"accessType": "0", "bizType": "000201", "currencyCode": "156", "encoding": "UTF-8", "merId": "777000000000001", "orderId": order, "queryId": id,
		"respCode": "00", "respMsg": "成功", "settleAmt": fmt.Sprint(fen), "settleCurrencyCode": "156", "settleDate": "1128", "signMethod": "01", "traceNo": id[len(id)-6:],
		"traceTime": "1128120000", "txnAmt": fmt.Sprint(fen), "txnSubType": "01", "txnTime": "20261128120000", "txnType": "01", "version": "5.1.0",
	}.with(change)
}

// unionpaySigned signs with the kit's certificate: SHA-256 of the text, in hex, is what is signed.
func (f *field) unionpaySigned(fields form) signed {
	f.t.Helper()
	fields = form{"signPubKeyCert": mustRead(f.t, kit+"unionpay/keys/unionpay_sign_cert.cer")}.with(fields)
	digest := sha256.Sum256([]byte(fields.text(func(_, value string) bool { return value != "" })))
	fields["signature"] = sha256RSA(f.t, kitKey(f.t, "unionpay/keys/unionpay_sign_private_key.TEST_ONLY.pem"), hex.EncodeToString(digest[:]))
	return signed{"unionpay", fields.encode(), http.Header{"Content-Type": {"application/x-www-form-urlencoded;charset=UTF-8"}}}
}

func (f *field) paypalEvent(kind, id, order, amount string) string {
	return fmt.Sprintf(`{"id":"WH-%d","event_version":"1.0","create_time":"2026-11-28T04:00:00Z","resource_type":"capture","resource_version":"2.0","event_type":%q,`+
		`"resource":{"id":%q,"amount":{"currency_code":"USD","value":%q},"status":"COMPLETED","create_time":"2026-11-28T04:00:00Z","invoice_id":%q}}`, f.made.Add(1), kind, id, amount, order)
}

// paypalSigned signs the checksum of the body, with the certificate that fieldConfig has put beside the configuration.
func (f *field) paypalSigned(body string) signed {
	f.t.Helper()
	id, sent := fmt.Sprintf("field-%d", f.made.Add(1)), f.now.Format("2006-01-02T15:04:05Z")
	text := fmt.Sprintf("%s|%s|%s|%d", id, sent, paypalHook, crc32.ChecksumIEEE([]byte(body)))
	h := http.Header{"Content-Type": {"application/json"}}
	for name, value := range map[string]string{"Paypal-Transmission-Id": id, "Paypal-Transmission-Time": sent, "Paypal-Cert-Url": paypalCertURL,
		"Paypal-Auth-Algo": "SHA256withRSA", "Paypal-Transmission-Sig": sha256RSA(f.t, paypalAuthority().leafKey, text)} {
		h.Set(name, value)
	}
	return signed{"paypal", []byte(body), h}
}

// adyenItem is a signed item; change overrides fields before it is signed.
func (f *field) adyenItem(code, psp, order string, minor int64, change map[string]any) string {
	f.t.Helper()
	item := map[string]any{
		"eventCode": code, "success": "true", "pspReference": psp, "merchantAccountCode": "FieldShop", "merchantReference": order, "originalReference": "",
		"amount": map[string]any{"value": minor, "currency": "EUR"}, "eventDate": "2026-11-28T05:00:00+01:00",
	}
	maps.Copy(item, change)
	amount, _ := item["amount"].(map[string]any)
	text := fmt.Sprintf("%v:%v:%v:%v:%v:%v:%v:%v", item["pspReference"], item["originalReference"], item["merchantAccountCode"], item["merchantReference"],
		amount["value"], amount["currency"], item["eventCode"], item["success"])
	item["additionalData"] = map[string]any{"hmacSignature": adyenMAC(f.t, text)}
	return fmt.Sprintf(`{"live":"true","notificationItems":[{"NotificationRequestItem":%s}]}`, f.mustJSON(item))
}

func adyenBody(body, pad string) signed {
	return signed{"adyen", []byte(body + pad), http.Header{"Content-Type": {"application/json; charset=utf-8"}}}
}
