package cmd

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"paybook/callback"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/ledger/shop"
	"paybook/models"
)

// The tests in the files field_*_test.go are failures that have really hurt somebody, each with its number F01 to F75. They go the
// whole way, from the bytes on the wire to what an operator is shown, on each database.

// Secrets and names of the accounts of these tests. Not one of them is anybody's.
const (
	fieldSecret    = "whsec_field_new"
	fieldSecretOld = "whsec_field_old"
	shopSecret     = "field-shop-secret"

	wechatCert      = "5A27B42EDEC99405C1DFBFE644E98BFDD13D749E"
	wechatCertKey   = "platform_private_key.TEST_ONLY.pem"
	wechatPublic    = "PUB_KEY_ID_0119999999012026112900000000000001"
	wechatPublicKey = "wechatpay_public_key_private.TEST_ONLY.pem"
	wechatAPIv3Key  = "TestOnlyApiV3Key0123456789abcdef"
)

const stripeSettings = `{signing_secrets: [` + fieldSecret + `, ` + fieldSecretOld + `], order_id_metadata_key: order_id, livemode: true}`

// shopSettings are a made-up provider's, with plain messages and the default layout of statements.
const shopSettings = `{"timezone":"Asia/Shanghai",
 "signature":{"secrets":["` + shopSecret + `"],"from":"header:X-Signature","template":"{body}"},
 "fields":{"event_id":"$.id","event_type":"$.type","status":"$.status","transaction_id":"$.txn","parent_id":"$.parent","refund_order_id":"$.refund_no",
  "order_id":"$.order","amount":{"path":"$.amount","unit":"major"},"currency":"$.currency","occurred_at":"$.at"},
 "events":[{"type":"payment","status":"SUCCESS","event":"payment.succeeded"},{"type":"payment","status":"PENDING","event":"payment.pending"},
  {"type":"payment","status":"FAILED","event":"payment.failed"},{"type":"payment","status":"CLOSED","event":"payment.closed"},
  {"type":"refund","status":"SUCCESS","event":"refund.succeeded"},{"type":"refund","status":"PENDING","event":"refund.pending"},
  {"type":"refund","status":"FAILED","event":"refund.failed"}]}`

// field is a running server with an account of each provider, and an operator beside it on the same database.
type field struct {
	*shell
	web  *server
	book *ledger.Ledger
	now  time.Time // when requests are signed and received
	made atomic.Int64
}

// eachField runs f on SQLite and on PostgreSQL.
func eachField(t *testing.T, f func(t *testing.T, f *field)) {
	t.Helper()
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) { f(t, openField(t, dsn)) })
}

func openField(t *testing.T, dsn string, args ...string) *field {
	t.Helper()
	return openFieldWith(t, dsn, fieldConfig(t, stripeSettings), args...)
}

func openFieldWith(t *testing.T, dsn, config string, args ...string) *field {
	t.Helper()
	web := serve(t, map[string]string{"APP_CONFIG": config, "DATABASE_URL": dsn}, append([]string{"--replay-clock"}, args...)...)
	return &field{
		shell: &shell{t: t, global: []string{"--config", config, "--database", dsn}}, web: web, book: ledgertest.Open(t, dsn),
		now: time.Date(2026, 11, 28, 4, 0, 0, 0, time.UTC), // noon in Shanghai
	}
}

// fieldConfig writes the configuration with these settings of the account stripe.
func fieldConfig(t *testing.T, stripe string) string {
	t.Helper()
	root, err := filepath.Abs(kit)
	if err != nil {
		t.Fatal(err)
	}
	text := "accounts:\n- {name: stripe, provider: stripe, settings: " + stripe + "}\n" +
		"- {name: wechatpay, provider: wechatpay, settings_file: '" + root + "/wechatpay/config.json'}\n" +
		"- {name: demopay, provider: generic, settings_file: '" + root + "/demopay/config.json'}\n" +
		"- {name: shop, provider: generic, settings_file: shop.json}\n" + moreAccounts(root)
	files := moreFiles()
	files["app.yaml"], files["shop.json"] = text, shopSettings
	return filepath.Join(writeFiles(t, files), "app.yaml")
}

// fieldAnswer is what a callback was answered.
type fieldAnswer struct {
	status int
	body   string
	header http.Header
}

// post sends bytes to an account's route, received at f.now.
func (f *field) post(account string, body []byte, header http.Header) fieldAnswer {
	f.t.Helper()
	req := f.web.request(http.MethodPost, callbackRoutes+account, bytes.NewReader(body))
	for name, values := range header {
		req.Header[name] = values
	}
	return f.send(req)
}

func (f *field) send(req *http.Request) fieldAnswer {
	f.t.Helper()
	req.Header.Set(callback.ReplayHeader, f.now.Format(time.RFC3339Nano))
	got, body := f.web.do(req)
	return fieldAnswer{got.status, body, got.header}
}

// hmacHex is the signature that most providers make.
func hmacHex(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// v1 is Stripe's signature of a body made at a time.
func v1(secret string, at time.Time, body string) string {
	return hmacHex(secret, fmt.Sprintf("%d.%s", at.Unix(), body))
}

func stripeHeader(at time.Time, signatures ...string) http.Header {
	return http.Header{"Content-Type": {"application/json"}, "Stripe-Signature": {fmt.Sprintf("t=%d,%s", at.Unix(), strings.Join(signatures, ","))}}
}

// stripe sends a body signed now.
func (f *field) stripe(body string) fieldAnswer {
	f.t.Helper()
	return f.post("stripe", []byte(body), stripeHeader(f.now, "v1="+v1(fieldSecret, f.now, body)))
}

// stripeEvent is an event of its own id around an object.
func (f *field) stripeEvent(kind, object string) string {
	return f.stripeEventAt(kind, f.now, object)
}

func (f *field) stripeEventAt(kind string, created time.Time, object string) string {
	return fmt.Sprintf(`{"id":"evt_%d","object":"event","created":%d,"livemode":true,"type":%q,"data":{"object":%s}}`, f.made.Add(1), created.Unix(), kind, object)
}

func stripeIntent(id, charge, order string, minor int64, currency string) string {
	return fmt.Sprintf(`{"id":%q,"object":"payment_intent","amount":%d,"amount_received":%d,"currency":%q,"latest_charge":%q,"metadata":{"order_id":%q}}`,
		id, minor, minor, currency, charge, order)
}

func stripeRefund(id, charge, status string, minor int64, number string) string {
	return fmt.Sprintf(`{"id":%q,"object":"refund","charge":%q,"amount":%d,"currency":"usd","status":%q,"metadata":{"refund_order_id":%q}}`, id, charge, minor, status, number)
}

// tell sends a message of the account shop: type, status, transaction, order, amount and currency.
func (f *field) tell(message string) fieldAnswer {
	f.t.Helper()
	return f.shopPost(f.shopMessage(message))
}

func (f *field) shopMessage(message string) string {
	w := append(strings.Fields(message), "", "")
	return fmt.Sprintf(`{"id":"e-%d","type":%q,"status":%q,"txn":%q,"order":%q,"amount":%q,"currency":%q,"parent":%q,"refund_no":%q,"at":%q}`,
		f.made.Add(1), w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], f.now.Format(time.RFC3339))
}

func (f *field) shopPost(body string) fieldAnswer {
	f.t.Helper()
	return f.post("shop", []byte(body), shopHeader(body))
}

func shopHeader(body string) http.Header {
	return http.Header{"Content-Type": {"application/json"}, "X-Signature": {hmacHex(shopSecret, body)}}
}

// demopay sends a body signed now.
func (f *field) demopay(body string) fieldAnswer {
	f.t.Helper()
	stamp := fmt.Sprint(f.now.UnixMilli())
	return f.post("demopay", []byte(body), http.Header{"X-Demo-Timestamp": {stamp}, "X-Demo-Signature": {"sha256=" + hmacHex("demopay-fixture-secret-TEST-ONLY", stamp+"."+body)}})
}

// wechat sends a notification whose resource is the plaintext.
func (f *field) wechat(kind string, plain any) fieldAnswer {
	f.t.Helper()
	body := f.wechatBody(kind, plain)
	return f.post("wechatpay", body, wechatHeader(f.t, body, f.now, wechatCert, wechatCertKey))
}

// wechatPaid is the plaintext of a payment of our merchant's; change overrides fields.
func wechatPaid(id, order string, fen int64, change map[string]any) map[string]any {
	plain := map[string]any{
		"mchid": "1999999901", "appid": "wx0000000000000001", "transaction_id": id, "out_trade_no": order, "trade_state": "SUCCESS",
		"success_time": "2026-11-28T12:00:00+08:00", "amount": map[string]any{"total": fen, "payer_total": fen, "currency": "CNY"},
	}
	for k, v := range change {
		plain[k] = v
	}
	return plain
}

func wechatRefund(id, number, payment, order string, total, fen int64) map[string]any {
	return map[string]any{
		"mchid": "1999999901", "transaction_id": payment, "out_trade_no": order, "refund_id": id, "out_refund_no": number, "refund_status": "SUCCESS",
		"success_time": "2026-11-28T13:00:00+08:00", "amount": map[string]any{"total": total, "refund": fen, "payer_total": total, "payer_refund": fen},
	}
}

func (f *field) wechatBody(kind string, plain any) []byte {
	f.t.Helper()
	text, isText := plain.(string)
	if !isText {
		text = string(f.mustJSON(plain))
	}
	block, err := aes.NewCipher([]byte(wechatAPIv3Key))
	if err != nil {
		f.t.Fatal(err)
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		f.t.Fatal(err)
	}
	const nonce, added = "WrOZqYZxODzh", "transaction"
	return f.mustJSON(map[string]any{
		"id": fmt.Sprintf("00000000-field-%d", f.made.Add(1)), "create_time": f.now.Format(time.RFC3339), "event_type": kind,
		"resource_type": "encrypt-resource", "summary": "支付成功", "resource": map[string]any{
			"original_type": "transaction", "algorithm": "AEAD_AES_256_GCM", "associated_data": added, "nonce": nonce,
			"ciphertext": base64.StdEncoding.EncodeToString(seal.Seal(nil, []byte(nonce), []byte(text), []byte(added))),
		},
	})
}

func (f *field) mustJSON(v any) []byte {
	f.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		f.t.Fatal(err)
	}
	return raw
}

func wechatHeader(t *testing.T, body []byte, at time.Time, serial, keyFile string) http.Header {
	t.Helper()
	raw, err := os.ReadFile(kit + "wechatpay/keys/" + keyFile)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		t.Fatalf("%s holds a %T", keyFile, key)
	}
	stamp, nonce := fmt.Sprint(at.Unix()), "0123456789abcdef0123456789abcdef"
	digest := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n", stamp, nonce, body))
	signature, err := rsa.SignPKCS1v15(nil, private, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return http.Header{
		"Content-Type": {"application/json"}, "Wechatpay-Serial": {serial}, "Wechatpay-Timestamp": {stamp}, "Wechatpay-Nonce": {nonce},
		"Wechatpay-Signature": {base64.StdEncoding.EncodeToString(signature)},
	}
}

// order has the shop create an unpaid order.
func (f *field) order(id, amount, currency string) {
	f.t.Helper()
	f.ok("import", "orders", f.file("o.json", fmt.Sprintf(`[{"order_id":%q,"amount":%q,"currency":%q}]`, id, amount, currency)))
}

// ack checks that a callback was taken.
func (f *field) ack(got fieldAnswer) {
	f.t.Helper()
	if got.status != http.StatusOK {
		f.t.Errorf("answered %d %s, want 200", got.status, got.body)
	}
}

// wantOrder checks what app orders show says: "STATUS REFUNDED FROM>TO… | KIND ID AMOUNT CURRENCY STATUS | …".
func (f *field) wantOrder(id, want string) {
	f.t.Helper()
	var h shop.HistoryJSON
	f.json(&h, "orders", "show", id)
	var path []string
	for i, m := range h.Transitions {
		if i == 0 {
			path = append(path, string(m.From))
		}
		path = append(path, string(m.To))
	}
	lines := []string{strings.TrimSpace(fmt.Sprintf("%s %s %s", h.Status, h.Refunded, strings.Join(path, ">")))}
	for _, tx := range h.Transactions {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s", tx.Kind, tx.TransactionID, tx.Amount, tx.Currency, tx.Status))
	}
	slices.Sort(lines[1:])
	if got := strings.Join(lines, " | "); got != want {
		f.t.Errorf("order %s:\n got %s\nwant %s", id, got, want)
	}
}

// wantMessages checks how often the shop will be told of an order.
func (f *field) wantMessages(order string, n int) {
	f.t.Helper()
	list, err := f.book.Messages(f.t.Context(), order)
	if err != nil || len(list) != n {
		f.t.Errorf("order %s: %d messages, want %d (%v)", order, len(list), n, err)
	}
}

// wantRows checks everything that is booked: "ACCOUNT KIND ID AMOUNT STATUS OUTCOME".
func (f *field) wantRows(want ...string) {
	f.t.Helper()
	got := []string{}
	for _, account := range []string{"stripe", "wechatpay", "demopay", "shop", "alipay", "unionpay", "paypal", "adyen"} {
		err := f.book.Transactions(f.t.Context(), account, time.Unix(0, 0), f.now.AddDate(1, 0, 0), func(tx models.Transaction) error {
			got = append(got, fmt.Sprintf("%s %s %s %s %s %s", account, tx.Kind, tx.ShownID(), tx.Money(), tx.Status, tx.Outcome))
			return nil
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		f.t.Errorf("booked:\n got %q\nwant %q", got, want)
	}
}

// wantCallbacks checks what app callbacks list has, in any order: "STATUS REASON-OR-OUTCOME EVENT".
func (f *field) wantCallbacks(want ...string) {
	f.t.Helper()
	var list []callbackJSON
	f.json(&list, "callbacks", "list", "--limit", "1000")
	got := []string{}
	for _, cb := range list {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s%s %s", cb.Status, cb.Reason, cb.Outcome, cb.Event)))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		f.t.Errorf("callbacks:\n got %q\nwant %q", got, want)
	}
}

// wantQuietLog checks that nothing is logged from this level up.
func (f *field) wantQuietLog(levels ...string) {
	f.t.Helper()
	for line := range strings.Lines(f.web.stderr.String()) {
		for _, level := range levels {
			if strings.Contains(line, `"level":"`+level+`"`) {
				f.t.Errorf("logged: %s", line)
			}
		}
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
