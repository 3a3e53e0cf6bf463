package cmd

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paybook/callback"
	"paybook/models"
)

// explained runs the doctor on one callback and reads its JSON.
func explained(t *testing.T, code int, args ...string) diagnosis {
	t.Helper()
	got := runApp(t, map[string]string{"APP_CONFIG": kitConfig}, append([]string{"doctor", "--format", "json", "--callback"}, args...)...)
	if got.code != code {
		t.Fatalf("exit %d, want %d\n%s%s", got.code, code, got.out, got.err)
	}
	var d diagnosis
	if err := json.Unmarshal([]byte(got.out), &d); err != nil {
		t.Fatalf("%v\n%s", err, got.out)
	}
	return d
}

func failedSteps(d diagnosis) (names []string) {
	for _, s := range d.Steps {
		if !s.OK {
			names = append(names, s.Name)
		}
	}
	return names
}

// TestDoctorExplainsTheKits: of every recording the doctor comes to the verdict it expects, with a failed step exactly when it is
// refused, and shows no secret and no whole signature.
func TestDoctorExplainsTheKits(t *testing.T) {
	conf, err := loadConfig(kitConfig, lookup(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, account := range conf.Accounts {
		paths, err := filepath.Glob(filepath.Join("..", "testdata", account.Name, "callbacks", "*.json"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no recordings of %s: %v", account.Name, err)
		}
		secrets := kitSecrets(t, account.Name)
		for _, path := range paths {
			rec, err := callback.ReadRecording(path)
			if err != nil {
				t.Fatal(err)
			}
			code := exitDone
			if !rec.Expect.Verified {
				code = exitLook
			}
			d := explained(t, code, path, "--full")
			failed := failedSteps(d)
			if d.Account != account.Name || d.Verified != rec.Expect.Verified || (len(failed) > 0) == d.Verified || len(d.Events) > 0 != d.Verified {
				t.Errorf("%s: %+v, failed steps %q", path, d, failed)
			}
			if want := rec.Expect.Reason; want != "" && (string(d.Reason) != want || !slices.Contains(failed, want)) {
				t.Errorf("%s: refused for %s, failed steps %q; want %s", path, d.Reason, failed, want)
			}
			steps := fmt.Sprint(d.Steps, d.Detail, d.Hints)
			for _, secret := range append(secrets, signaturesOf(rec)...) {
				if strings.Contains(withoutBody(steps, rec), secret) {
					t.Errorf("%s: %q is shown:\n%s", path, secret, steps)
				}
			}
			if _, ok := account.Provider.(callback.Explainer); ok && len(d.Steps) < 2 {
				t.Errorf("%s: steps are %+v", path, d.Steps)
			}
		}
	}
}

// kitSecrets are the texts of a kit's settings that must never be shown.
func kitSecrets(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "testdata", name, "config.json"))
	var settings map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &settings)
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	var collect func(v any, secret bool)
	collect = func(v any, secret bool) {
		switch v := v.(type) {
		case string:
			if secret && len(v) > 8 {
				list = append(list, v)
			}
		case []any:
			for _, item := range v {
				collect(item, secret)
			}
		case map[string]any:
			for key, item := range v {
				collect(item, secret || strings.Contains(key, "secret") && key != "secret_encoding" || strings.Contains(key, "password") || strings.HasSuffix(key, "hmac_keys") || key == "api_v3_key")
			}
		}
	}
	collect(settings, false)
	return list
}

// signaturesOf are the values of the headers that carry a signature or a password.
func signaturesOf(rec callback.Recording) []string {
	var list []string
	for name, value := range rec.Headers {
		if name := strings.ToLower(name); strings.Contains(name, "signature") && !strings.HasSuffix(name, "type") || name == "authorization" {
			for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == '=' || r == ' ' }) {
				if len(part) > 20 {
					list = append(list, part)
				}
			}
		}
	}
	return list
}

// withoutBody is a text without the body: --full shows it, whatever the provider has put in there.
func withoutBody(text string, rec callback.Recording) string {
	return strings.ReplaceAll(text, string(rec.Body), "")
}

// TestDoctorReadsSavedCallbacks: the forms in which people have a callback.
func TestDoctorReadsSavedCallbacks(t *testing.T) {
	rec, err := callback.ReadRecording("../testdata/stripe/callbacks/01_payment_succeeded.json")
	if err != nil {
		t.Fatal(err)
	}
	signature, body, at := rec.Headers["Stripe-Signature"], string(rec.Body), rec.ReceivedAt.Format(rfc3339Nano)
	shown := func(body string, headers string) string {
		return fmt.Sprintf(`{"id":"x","account":"stripe","method":"POST","path":"/callbacks/stripe","headers":{%s},"received_at":%q,"body_bytes":%d%s}`, headers, at, len(rec.Body), body)
	}
	raw := func(end, more, body string) string {
		head := "POST /callbacks/stripe HTTP/1.1" + end + "Stripe-Signature: " + signature + end
		if more != "" {
			head += more + end
		}
		return head + end + body
	}
	length := fmt.Sprintf("Content-Length: %d", len(body))
	header := fmt.Sprintf(`"Stripe-Signature":[%q]`, signature)
	for name, c := range map[string]struct {
		content string
		code    int
		hint    string
	}{
		"shown":                      {shown(`,"body":`+quoted(body), header), exitDone, ""},
		"shown in base64":            {shown(`,"body_base64":"`+base64.StdEncoding.EncodeToString(rec.Body)+`"`, header), exitDone, ""},
		"shown without its body":     {shown("", header), exitFailed, "--body"},
		"shown with a masked header": {shown(`,"body":`+quoted(body), `"Stripe-Signature":["***"]`), exitLook, "header Stripe-Signature is masked in this file"},
		"raw":                        {raw("\r\n", "", body), exitDone, ""},
		"raw, line feeds":            {raw("\n", "", body), exitDone, ""},
		"raw, with its length":       {raw("\r\n", length, body+"\r\n"), exitDone, "were left out"},
		"raw, an editor's line end":  {raw("\n", "", body+"\n"), exitLook, "genuine without the line breaks around"},
		"raw, a blank line too many": {raw("\n", "", "\n"+body), exitLook, "genuine without the line breaks around"},
		"raw, converted":             {raw("\n", "", strings.ReplaceAll(body, "\n", "\r\n")), exitLook, "with line feeds in place of CR LF"},
		"raw, cut":                   {raw("\n", length, body[:100]), exitLook, "it is cut"},
		"raw, too long":              {raw("\n", "Content-Length: 5", body), exitDone, "not as it was sent"},
		"raw, chunked":               {raw("\r\n", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)), exitDone, ""},
		"raw, badly chunked":         {raw("\r\n", "Transfer-Encoding: chunked", body), exitFailed, "chunked"},
		"another method":             {strings.Replace(raw("\n", "", body), "POST", "PUT", 1), exitLook, "405"},
		"packed on the way":          {raw("\n", "Content-Encoding: gzip", body), exitLook, "415"},
		"at its own time":            {raw("\n", "App-Received-At: 2020-01-01T00:00:00Z", body), exitDone, ""},
		"a body alone":               {body, exitFailed, "no headers"},
		"no request":                 {"hello\n", exitFailed, "line 1"},
		"a broken header":            {"POST /callbacks/stripe HTTP/1.1\nStripe-Signature\n\n", exitFailed, "NAME: VALUE"},
		"empty":                      {"", exitFailed, "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{"callback": c.content})
			got := runApp(t, map[string]string{"APP_CONFIG": kitConfig}, "doctor", "--callback", filepath.Join(dir, "callback"), "--at", at)
			if got.code != c.code || !strings.Contains(got.out+got.err, c.hint) {
				t.Errorf("exit %d, want %d and %q\n%s%s", got.code, c.code, c.hint, got.out, got.err)
			}
		})
	}
}

// quoted is a text in JSON.
func quoted(text string) string {
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(text); err != nil {
		panic(err)
	}
	return out.String()
}

// TestDoctorTellsTheOtherAccount: a callback that came to the wrong account's address.
func TestDoctorTellsTheOtherAccount(t *testing.T) {
	d := explained(t, exitLook, "../testdata/stripe/callbacks/01_payment_succeeded.json", "--account", "wechatpay")
	if d.Account != "wechatpay" || !slices.ContainsFunc(d.Hints, func(h string) bool { return strings.Contains(h, "genuine for account stripe") }) {
		t.Errorf("%+v, want the other account named", d)
	}
}

// TestDoctorClipsTheBody: it may hold what is nobody's business but the payer's, and a card number is masked even when it is whole.
func TestDoctorClipsTheBody(t *testing.T) {
	const body = `{"id":"evt_1","note":"4242424242424242","long":"` + "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz" + `LAST"}`
	dir := writeFiles(t, map[string]string{"callback": "POST /callbacks/stripe HTTP/1.1\nStripe-Signature: t=1795784400,v1=00\n\n" + body})
	for _, flags := range [][]string{nil, {"--full"}} {
		d := explained(t, exitLook, append([]string{filepath.Join(dir, "callback")}, flags...)...)
		i := slices.IndexFunc(d.Steps, func(s models.Step) bool { return s.Name == "signed text" })
		text := d.Steps[i].Value
		if strings.Contains(text, "LAST") != (flags != nil) || strings.Contains(text, "4242424242424242") || !strings.Contains(text, "424242******4242") {
			t.Errorf("%q: signed text is %q", flags, text)
		}
	}
}

// An event of Stripe's names an account only when it is a connected one.
func TestDoctorTellsWhoseEventItIs(t *testing.T) {
	d := explained(t, exitDone, "../testdata/stripe/callbacks/01_payment_succeeded.json")
	last := d.Steps[len(d.Steps)-1]
	if last.Name != "account" || last.Value != "our own account" || !last.OK {
		t.Errorf("got %+v", last)
	}
}

func TestDoctorCallbackUsage(t *testing.T) {
	good := "../testdata/stripe/callbacks/01_payment_succeeded.json"
	dir := writeFiles(t, map[string]string{"elsewhere": "POST /hook HTTP/1.1\n\n{}", "large": strings.Repeat("x", savedMax+1), "none.yaml": "accounts: []\n"})
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such file":       {[]string{"--callback", filepath.Join(dir, "none")}, "none"},
		"no such account":    {[]string{"--callback", good, "--account", "nobody"}, "nobody"},
		"no account":         {[]string{"--callback", filepath.Join(dir, "elsewhere")}, "--account"},
		"no time":            {[]string{"--callback", good, "--at", "yesterday"}, "--at"},
		"too large":          {[]string{"--callback", filepath.Join(dir, "large")}, "larger than"},
		"full of nothing":    {[]string{"--full"}, "--full belongs to --callback"},
		"account of nothing": {[]string{"--account", "stripe"}, "--account belongs to --callback"},
		"a strange format":   {[]string{"--callback", good, "--format", "xml"}, "xml"},
		"a folder":           {[]string{"--callback", dir}, "directory"},
		"no accounts":        {[]string{"--callback", good, "--config", filepath.Join(dir, "none.yaml")}, "none.yaml: write them there, or give --config FILE"},
	} {
		got := runApp(t, map[string]string{"APP_CONFIG": kitConfig}, append([]string{"doctor"}, c.args...)...)
		if got.code != exitFailed || !strings.Contains(got.err, c.want) || got.out != "" {
			t.Errorf("%s: exit %d, %q %q; want 2 and %q", name, got.code, got.out, got.err, c.want)
		}
	}
}
