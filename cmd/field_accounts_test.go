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
	"math/big"
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
