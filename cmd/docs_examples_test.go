package cmd

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An example is there to be pasted: it loads, once its secrets and keys are there, and its account is the one of the address.
func TestPagesExamplesLoad(t *testing.T) {
	everyPage(t, func(t *testing.T, provider string, p page) {
		example := p.code(t, sectionExample, "yaml")
		kitOf := filepath.Join(kit, provider)
		for _, text := range []string{example, uncommented(example)} {
			c, err := loadExample(t, kitOf, text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if len(c.Accounts) != 1 || c.Accounts[0].ProviderName != provider || len(c.Accounts[0].Statements) == 0 {
				t.Errorf("the example configures %+v", c.Accounts)
			}
			if address := c.PublicURL + "/callbacks/" + c.Accounts[0].Name; !strings.Contains(p[sectionExample], "`"+address+"`") {
				t.Errorf("the address %s is not told", address)
			}
		}
	})
}

// uncommented takes in the lines that are offered as comments.
func uncommented(example string) string {
	return regexp.MustCompile(`(?m)^( +)# (\S+: |- )`).ReplaceAllString(example, "$1$2")
}

// exampleSecrets are values that the providers take, by the name of the variable or of the file.
var exampleSecrets = map[string]string{
	"WECHATPAY_API_V3_KEY": "TestOnlyApiV3Key0123456789abcdef", "STRIPE_SIGNING_SECRET": "whsec_TESTONLY0123456789",
	"secrets/stripe_signing_secret_old": "whsec_TESTONLY9876543210", "secrets/adyen_hmac_key": strings.Repeat("7E", 32),
	"ADYEN_WEBHOOK_PASSWORD": "test-only", "ALIPAY_APP_ID": "2021000000000001", "secrets/alipay_seller_id": "2088000000000019",
	"UNIONPAY_MER_ID": "777000000000001", "PAYPAL_WEBHOOK_ID": "3TX54321TESTHOOK0",
}

// exampleSecret is what the table has, else what every other provider takes: text that is also a secret of Standard Webhooks.
func exampleSecret(name string) string {
	return cmp.Or(exampleSecrets[name], "whsec_VEVTVC1PTkxZIHN0YW5kYXJkIHdlYmhvb2tzIGtleS4=")
}

// secretFiles are the files that an example takes secrets from.
var secretFiles = regexp.MustCompile(`file:(secrets/\w+)`)

func loadExample(t *testing.T, kitOf, text string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	if keys := filepath.Join(kitOf, "keys"); exists(keys) {
		if err := os.CopyFS(filepath.Join(dir, "keys"), os.DirFS(keys)); err != nil {
			t.Fatal(err)
		}
	}
	for _, found := range secretFiles.FindAllStringSubmatch(text, -1) {
		name := found[1]
		if err := os.MkdirAll(filepath.Join(dir, "secrets"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(exampleSecret(name)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "app.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadConfig(file, func(name string) (string, bool) {
		if !strings.Contains(text, "${"+name+"}") {
			return "", false
		}
		return exampleSecret(name), true
	})
}

// The example of a provider of one's own loads, in both languages.
func TestGenericExampleLoads(t *testing.T) {
	for _, ending := range languages {
		raw, err := os.ReadFile(docs + "providers/generic" + ending)
		if err != nil {
			t.Fatal(err)
		}
		example := page(strings.Split(string(raw), "\n## ")).code(t, sectionExample, "yaml")
		for _, text := range []string{example, uncommented(example)} {
			c, err := loadExample(t, kit, text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if name := c.Accounts[0].Provider.Name(); name != "acmepay" {
				t.Errorf("the example makes %s", name)
			}
		}
	}
}
