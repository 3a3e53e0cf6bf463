package cmd

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"paybook/models"
)

// A form in another charset is shown in UTF-8, field by field; what it says itself is told beside it, and the bytes stay as they came.
func TestCallbacksShowForm(t *testing.T) {
	const subject = "国标编码商品"
	s := newShell(t)
	s.shop("alipay")
	s.ok("replay", kit+"alipay/callbacks/19_charset_gbk.json")
	var list []callbackJSON
	s.json(&list, "callbacks", "list")
	if len(list) != 1 || list[0].Outcome != models.OutcomeApplied {
		t.Fatalf("%+v", list)
	}
	if plain := s.ok("callbacks", "show", list[0].ID); !strings.Contains(plain, "why          "+subject+"\n") || strings.Contains(plain, "out_trade_no") {
		t.Errorf("show:\n%s", plain)
	}
	full := s.ok("callbacks", "show", list[0].ID, "--body")
	if !strings.Contains(full, "subject = "+subject+"\n") || !strings.Contains(full, "gmt_payment = 2026-11-27 12:20:05\n") || strings.Contains(full, "%") {
		t.Errorf("show --body:\n%s", full)
	}
	var shown shownCallback
	s.json(&shown, "callbacks", "show", list[0].ID, "--body")
	if shown.Detail != subject || shown.Body == nil || !strings.Contains(*shown.Body, "&subject=%") || !slices.Contains(shown.Form, formField{"subject", subject}) {
		t.Errorf("show --body --format json: %+v", shown)
	}
	if s.json(&shown, "callbacks", "show", list[0].ID, "--format", "json"); shown.BodyBytes == 0 {
		t.Errorf("%+v", shown)
	}
}

func TestFormOf(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	for _, c := range []struct{ name, kind, body, want string }{
		{"plain", form, "b=2+3&a=%E7%BA%A2&b=", "b=2 3|a=红|b="},
		{"GBK", form + "; charset=utf-8", "charset=GBK&s=%b2%e8%C6%B7", "charset=GBK|s=茶品"},
		{"GBK of UnionPay", "", "encoding=gb2312&s=%b2%e8", "encoding=gb2312|s=茶"},
		{"GBK, not escaped", form, "charset=gbk&s=\xb2\xe8", "charset=gbk|s=茶"},
		{"no GBK in GBK", form, "charset=gbk&s=%ff%b2", `charset=gbk|s=\xff\xb2`},
		{"GBK, not said", form, "charset=utf-8&s=%b2%e8", `charset=utf-8|s=\xb2\xe8`},
		{"JSON called a form", form, `{"a":"b=c"}`, ""},
		{"XML", "", "<a b='c=d'/>", ""},
		{"a form called JSON", "application/json", "a=b", ""},
		{"no field", form, "hello", ""},
		{"a broken escape", form, "a=%zz", ""},
		{"nothing", form, " ", ""},
	} {
		var parts []string
		for _, f := range formOf(models.Callback{Headers: http.Header{"Content-Type": {c.kind}}, Body: []byte(c.body)}) {
			parts = append(parts, f.Name+"="+f.Value)
		}
		if got := strings.Join(parts, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Whatever a stranger sends, a terminal gets text that does not steer it.
func TestShownBodyDoesNotSteerTheTerminal(t *testing.T) {
	for name, body := range map[string]string{"text": "{\"a\":\"\x1b[2J\"}\r\nb", "bytes": "\xff\x1b[2J", "form": "a=\x1b[2J%1b[2J%ff&b=\u009b"} {
		s := newShell(t)
		s.run("replay", s.file("r.json", fmt.Sprintf(`{"method":"POST","path":"/callbacks/stripe","received_at":"2026-11-29T10:00:03Z","body_base64":%q}`,
			base64.StdEncoding.EncodeToString([]byte(body)))))
		var list []callbackJSON
		if s.json(&list, "callbacks", "list"); len(list) != 1 {
			t.Fatalf("%s: %d callbacks", name, len(list))
		}
		if out := s.ok("callbacks", "show", list[0].ID, "--body"); !utf8.ValidString(out) || strings.ContainsAny(out, "\x1b\r\u009b") {
			t.Errorf("%s: %q", name, out)
		}
	}
}

// The doctor escapes what is no UTF-8, byte by byte, also at full length.
func TestDoctorEscapesBytes(t *testing.T) {
	got := runApp(t, map[string]string{"APP_CONFIG": kitConfig}, "doctor", "--full", "--callback", kit+"alipay/callbacks/19_charset_gbk.json")
	if got.code != exitDone || !utf8.ValidString(got.out) || !strings.Contains(got.out, `subject=\xb9\xfa`) || strings.ContainsRune(got.out, utf8.RuneError) {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

// An old signature is called by its name.
func TestDoctorTellsSHA1(t *testing.T) {
	d := explained(t, exitLook, kit+"alipay/callbacks/15_sign_type_sha1_downgrade.json")
	told := fmt.Sprint(d.Steps)
	for _, want := range []string{"the message says RSA, RSA with SHA-1; only RSA2", "over this very text, but with SHA-1"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not said: %s", want, told)
		}
	}
	if !strings.Contains(d.Detail, "only RSA2 is taken") {
		t.Errorf("refused for %q", d.Detail)
	}
}

// Two templates that make one text are one step.
func TestDoctorShowsATextOnce(t *testing.T) {
	got := runApp(t, map[string]string{"APP_CONFIG": presetsConfig}, "doctor", "--full", "--callback", firstOf(t, "mercadopago"))
	if got.code != exitDone || strings.Count(got.out, "signed text") != 1 || !strings.Contains(got.out, "; the same of id:") || strings.Count(got.out, "secret 1 of 1 gives") != 1 {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

func firstOf(t *testing.T, provider string) string {
	t.Helper()
	files, err := os.ReadDir(kit + provider + "/callbacks")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	return kit + provider + "/callbacks/" + files[0].Name()
}

func TestDoctorCountsInWords(t *testing.T) {
	for n, want := range map[int]string{0: "0 accounts", 1: "1 account", 2: "2 accounts"} {
		if got := count(n, "account"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	dir := writeFiles(t, map[string]string{"app.yaml": okAccount("a")})
	if got := runApp(t, map[string]string{"DATABASE_URL": "sqlite:" + dir + "/none.db"}, "doctor", "--config", dir+"/app.yaml"); !strings.Contains(got.out, "app.yaml: 1 account\n") {
		t.Errorf("%s%s", got.out, got.err)
	}
}
