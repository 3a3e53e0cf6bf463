package cmd

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"paybook/ledger/ledgertest"
	"paybook/models"
)

// signed is a request as a provider would send it.
type signed struct {
	account string
	body    []byte
	header  http.Header
}

func (f *field) deliver(s signed) fieldAnswer {
	f.t.Helper()
	return f.post(s.account, s.body, s.header)
}

// with is the request with another header; "" takes it away.
func (s signed) with(name, value string) signed {
	s.header = s.header.Clone()
	if s.header.Del(name); value != "" {
		s.header.Set(name, value)
	}
	return s
}

// fieldPaid is what a message tells: a payment of so many minor units of the kit's currency. Pad makes the message longer by so many bytes.
type fieldPaid struct {
	id, order string
	minor     int64
	pad       int
}

// fieldKit is how one provider speaks, for what is asked of all providers alike.
type fieldKit struct {
	account, currency string
	id                func(n int) string
	pay               func(f *field, p fieldPaid) signed
	raw               func(f *field, body string) signed // any bytes, signed as far as this provider can sign them
	unknown           func(f *field, kind, order string) signed
}

func (k fieldKit) paid(f *field, n int, order string) signed {
	return k.pay(f, fieldPaid{id: k.id(n), order: order, minor: 1999})
}

// eachKit runs do for each provider.
func (f *field) eachKit(do func(k fieldKit)) {
	f.t.Helper()
	for _, k := range fieldKits {
		do(k)
	}
}

// orders has the shop create unpaid orders, all of one amount.
func (f *field) orders(amount, currency string, ids ...string) {
	f.t.Helper()
	var rows strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&rows, "%s,%s,%s\n", id, amount, currency)
	}
	f.ok("import", "orders", f.file("o.csv", "order_id,amount,currency\n"+rows.String()))
}

// numbered are n names that begin so.
func numbered(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(prefix, i)
	}
	return out
}

// stands is an order's status, read from the book itself: a command for each of many orders takes too long.
func (f *field) stands(order string) string {
	f.t.Helper()
	found, err := f.book.Orders(f.t.Context(), []string{order})
	if err != nil {
		f.t.Fatal(err)
	}
	return string(found[order].Status)
}

var fieldKits = []fieldKit{
	{account: "stripe", currency: "USD",
		id: func(n int) string { return fmt.Sprintf("ch_%d", n) },
		pay: func(f *field, p fieldPaid) signed {
			return f.stripeSigned(f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+p.id, p.id, p.order, p.minor, "usd")) + strings.Repeat(" ", p.pad))
		},
		raw: func(f *field, body string) signed { return f.stripeSigned(body) },
		unknown: func(f *field, kind, order string) signed {
			return f.stripeSigned(f.stripeEvent(kind, stripeIntent("pi_1", "ch_1", order, 1999, "usd")))
		}},
	{account: "wechatpay", currency: "CNY",
		id: func(n int) string { return fmt.Sprintf("42000000000000000000000%05d", n) },
		pay: func(f *field, p fieldPaid) signed {
			return f.wechatSigned(string(f.wechatBody("TRANSACTION.SUCCESS", wechatPaid(p.id, p.order, p.minor, nil))) + strings.Repeat(" ", p.pad))
		},
		raw: func(f *field, body string) signed { return f.wechatSigned(body) },
		unknown: func(f *field, kind, order string) signed {
			return f.wechatSigned(string(f.wechatBody(kind, wechatPaid("4200000000000000000000000001", order, 1999, nil))))
		}},
	{account: "alipay", currency: "CNY",
		id: func(n int) string { return fmt.Sprintf("20261128220014%014d", n) },
		pay: func(f *field, p fieldPaid) signed {
			return f.alipaySigned(f.alipayPaid(p.id, p.order, models.Money{Minor: p.minor, Currency: "CNY"}.Text(), form{"body": strings.Repeat("x", p.pad)}))
		},
		raw: func(f *field, body string) signed { return f.alipaySigned(asForm(body)) },
		unknown: func(f *field, kind, order string) signed {
			return f.alipaySigned(f.alipayPaid("2026112822001400000000000001", order, "19.99", form{"trade_status": kind}))
		}},
	{account: "unionpay", currency: "CNY",
		id: func(n int) string { return fmt.Sprintf("20261128120000%07d", n) },
		pay: func(f *field, p fieldPaid) signed {
			return f.unionpaySigned(unionpayPaid(p.id, p.order, p.minor, form{"reqReserved": strings.Repeat("x", p.pad)}))
		},
		raw: func(f *field, body string) signed { return f.unionpaySigned(asForm(body)) },
		unknown: func(f *field, kind, order string) signed {
			return f.unionpaySigned(unionpayPaid("202611281200000000001", order, 1999, form{"txnType": kind}))
		}},
	{account: "paypal", currency: "USD",
		id: func(n int) string { return fmt.Sprintf("FIELDCAP%dX", n) },
		pay: func(f *field, p fieldPaid) signed {
			return f.paypalSigned(f.paypalEvent("PAYMENT.CAPTURE.COMPLETED", p.id, p.order, models.Money{Minor: p.minor, Currency: "USD"}.Text()) + strings.Repeat(" ", p.pad))
		},
		raw: func(f *field, body string) signed { return f.paypalSigned(body) },
		unknown: func(f *field, kind, order string) signed {
			return f.paypalSigned(f.paypalEvent(kind, "FIELDCAP1X", order, "19.99"))
		}},
	{account: "adyen", currency: "EUR",
		id: func(n int) string { return fmt.Sprintf("FIELDPSP%08d", n) },
		pay: func(f *field, p fieldPaid) signed {
			return adyenBody(f.adyenItem("AUTHORISATION", p.id, p.order, p.minor, nil), strings.Repeat(" ", p.pad))
		},
		raw: func(_ *field, body string) signed { return adyenBody(body, "") },
		unknown: func(f *field, kind, order string) signed {
			return adyenBody(f.adyenItem(kind, "FIELDPSP00000001", order, 1999, nil), "")
		}},
	{account: "demopay", currency: "CNY",
		id: func(n int) string { return fmt.Sprintf("DP%d", n) },
		pay: func(f *field, p fieldPaid) signed {
			return f.demopaySigned(demopayBody(p.id, p.order, fmt.Sprintf("%q", models.Money{Minor: p.minor, Currency: "CNY"}.Text()), "CNY") + strings.Repeat(" ", p.pad))
		},
		raw: func(f *field, body string) signed { return f.demopaySigned(body) },
		unknown: func(f *field, kind, order string) signed {
			return f.demopaySigned(strings.Replace(demopayBody("DP1", order, `"19.99"`, "CNY"), `"event_type":"payment"`, fmt.Sprintf(`"event_type":%q`, kind), 1))
		}},
}

func (f *field) stripeSigned(body string) signed {
	return signed{"stripe", []byte(body), stripeHeader(f.now, "v1="+v1(fieldSecret, f.now, body))}
}

func (f *field) wechatSigned(body string) signed {
	return signed{"wechatpay", []byte(body), wechatHeader(f.t, []byte(body), f.now, wechatCert, wechatCertKey)}
}

func (f *field) demopaySigned(body string) signed {
	stamp := fmt.Sprint(f.now.UnixMilli())
	return signed{"demopay", []byte(body), http.Header{"Content-Type": {"application/json"}, "X-Demo-Timestamp": {stamp},
		"X-Demo-Signature": {"sha256=" + hmacHex("demopay-fixture-secret-TEST-ONLY", stamp+"."+body)}}}
}

// form is the fields of a form, values in the bytes of its charset.
type form map[string]string

// gone takes a field away.
const gone = "\x00gone"

func (base form) with(changes ...form) form {
	out := maps.Clone(base)
	for _, change := range changes {
		maps.Copy(out, change)
	}
	maps.DeleteFunc(out, func(_, v string) bool { return v == gone })
	return out
}

// text is name=value of the fields that keep is true for, by name.
func (base form) text(keep func(name, value string) bool) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(base)) {
		if keep(name, base[name]) {
			parts = append(parts, name+"="+base[name])
		}
	}
	return strings.Join(parts, "&")
}

func (base form) encode() []byte {
	values := url.Values{}
	for name, value := range base {
		values.Set(name, value)
	}
	return []byte(values.Encode())
}

// asForm is a body that is no form as the one field that it would be read as.
func asForm(body string) form {
	if body == "" {
		return form{}
	}
	return form{body: ""}
}

// sha256RSA signs as most providers with RSA keys do.
func sha256RSA(t *testing.T, key *rsa.PrivateKey, text string) string {
	t.Helper()
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(signature)
}

// kitKey reads one of the test kit's private keys.
func kitKey(t *testing.T, path string) *rsa.PrivateKey {
	t.Helper()
	block, _ := pem.Decode([]byte(mustRead(t, kit+path)))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := key.(*rsa.PrivateKey)
	if err != nil || !ok {
		t.Fatalf("%s: %T, %v", path, key, err)
	}
	return private
}

// eachKitAndDatabase runs do for each provider on each database.
func eachKitAndDatabase(t *testing.T, do func(t *testing.T, f *field, k fieldKit)) {
	t.Helper()
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		f := openField(t, dsn)
		f.eachKit(func(k fieldKit) { do(t, f, k) })
	})
}
