package generic_test

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"flag"
	"hash"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/callback"
)

// Type `go test ./callback/generic -run Kits -update` to write the kits of the presets anew.
var update = flag.Bool("update", false, "write the test kits of the presets")

// kit is the test kit of one preset, as it lies in testdata/<preset>.
type kit struct {
	name     string
	config   object // what an account must say
	orders   []object
	seeds    []object
	shots    []shot
	sign     func(body, query string, headers map[string]string, secret string)
	secret   string
	form     bool // the body is a form
	file     string
	text     string // of the statement
	local    []object
	expected object
}

// shot is one callback. trick is what a stranger did to it: forged (another secret), unsigned, or from>to (changed after signing).
type shot struct {
	name, note, at, query, body string
	headers                     map[string]string
	trick                       string
	expect                      object
}

// files are the kit's files by their path below its folder.
func (k *kit) files(t *testing.T) map[string][]byte {
	t.Helper()
	config := object{"comment": "TEST ONLY. Laid over the shipped settings of " + k.name + ".", "provider": k.name, "path": "/callbacks/" + k.name}
	for key, value := range k.config {
		config[key] = value
	}
	out := map[string][]byte{
		"config.json": indented(t, config), "orders.json": indented(t, k.orders), "local_records.json": indented(t, k.local),
		"expected_reconciliation.json": indented(t, k.expected), "statements/" + k.file: []byte(k.text),
	}
	if k.seeds != nil {
		out["seed_transactions.json"] = indented(t, k.seeds)
	}
	for i, s := range k.shots {
		out["callbacks/"+number(i+1)+"_"+s.name+".json"] = indented(t, k.recording(t, s))
	}
	return out
}

func number(n int) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }

func (k *kit) recording(t *testing.T, s shot) object {
	t.Helper()
	headers := map[string]string{"Content-Type": "application/json"}
	if k.form {
		headers["Content-Type"] = "application/x-www-form-urlencoded"
	}
	for name, value := range s.headers {
		headers[name] = value
	}
	body, secret := s.body, k.secret
	if s.trick == "forged" {
		secret = "forged-" + secret
	}
	if s.trick != "unsigned" {
		k.sign(body, s.query, headers, secret)
	}
	if from, to, ok := strings.Cut(s.trick, ">"); ok {
		body = strings.Replace(body, from, to, 1)
		for name, value := range headers {
			headers[name] = strings.Replace(value, from, to, 1)
		}
	}
	at, err := time.Parse(time.RFC3339, s.at)
	if err != nil {
		t.Fatal(err)
	}
	rec := object{
		"name": s.name, "provider": k.name, "method": "POST", "path": "/callbacks/" + k.name, "headers": headers, "body_base64": []byte(body),
		"received_at": at.UTC().Format(time.RFC3339), "note": s.note, "expect": s.expect,
	}
	if s.query != "" {
		rec["query"] = s.query
	}
	return rec
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// booked is what a genuine callback must lead to.
func booked(event, id, order, amount, currency, effect string, more ...string) object {
	o := object{
		"verified": true, "event": event, "transaction_id": id, "order_id": order, "amount": amount, "currency": currency, "effect": effect,
		"reply_status": 200, "reply_body": "",
	}
	for i := 0; i+1 < len(more); i += 2 {
		o[more[i]] = more[i+1]
	}
	return o
}

func refused(reason string) object {
	return object{
		"verified": false, "reason": reason, "event": "", "transaction_id": "", "order_id": "", "amount": "", "currency": "", "effect": "reject",
		"reply_status": 401, "reply_body": "",
	}
}

func order(id, amount, currency string) object {
	return object{"order_id": id, "amount": amount, "currency": currency}
}

// row is one transaction that the ledger must hold, or held already.
func row(kind, id, parent, order, amount, currency, status, at string) object {
	return object{
		"kind": kind, "transaction_id": id, "parent_id": parent, "order_id": order, "amount": amount, "currency": currency, "status": status,
		"occurred_at": at, "business_date": at[:len("2026-11-27")],
	}
}

// planted is what the run must report: the gaps, besides the rows that match.
func planted(zone, file string, rows, matched int, gaps ...object) object {
	return object{
		"date": "2026-11-27", "report_timezone": zone, "files": []string{file}, "money_rows": rows, "matched": matched, "gaps": gaps,
		"comment": "money_rows = payments, refunds and chargebacks; fee and payout rows are not compared with callbacks.",
	}
}

func gap(kind, of, id, order, provider, local, currency string) object {
	o := object{"type": kind, "kind": of, "transaction_id": id, "currency": currency}
	for key, value := range map[string]string{"order_id": order, "provider_amount": provider, "local_amount": local} {
		if value != "" {
			o[key] = value
		}
	}
	return o
}

// macOf is an HMAC without any of the provider's code.
func macOf(algorithm func() hash.Hash, key, text string) []byte {
	m := hmac.New(algorithm, []byte(key))
	m.Write([]byte(text))
	return m.Sum(nil)
}

func kits() []kit {
	return []kit{razorpayKit(), paystackKit(), squareKit(), xenditKit(), mollieKit(), mercadopagoKit(), braintreeKit()}
}

// TestKitsAreAsGenerated: what lies in testdata is what the generator makes, so that it can be made again.
func TestKitsAreAsGenerated(t *testing.T) {
	for _, k := range kits() {
		dir := filepath.Join(testdata, k.name)
		files := k.files(t)
		if *update {
			writeKit(t, dir, files)
		}
		recordings, err := filepath.Glob(filepath.Join(dir, "callbacks", "*.json"))
		if err != nil || len(recordings) != len(k.shots) {
			t.Errorf("%s: %d recordings, want %d (%v)", k.name, len(recordings), len(k.shots), err)
		}
		for name, want := range files {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s/%s differs from what is generated (%v)", k.name, name, err)
			}
		}
		for _, path := range recordings {
			if _, err := callback.ReadRecording(path); err != nil {
				t.Error(err)
			}
		}
	}
}

func writeKit(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for _, folder := range []string{"callbacks", "statements"} {
		if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
