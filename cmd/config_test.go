package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// kitConfig is the configuration of the recordings.
const kitConfig = "../testdata/app.yaml"

const stripeAccount = "accounts:\n- name: shop\n  provider: stripe\n"

// Every message is one line that says where (file, line), which key, and what is expected.
func TestConfigErrors(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		want string // the error must hold each of these, separated by |
	}{
		"unknown key":             {"listen: ':1'\nlisten_adress: x\n", "app.yaml:2|listen_adress: unknown key"},
		"unknown account key":     {"accounts:\n- name: a\n  provder: stripe\n", "app.yaml:3|accounts[0].provder: unknown key|provider"},
		"unknown nested key":      {"log:\n  levle: info\n", "app.yaml:2|log.levle: unknown key"},
		"key twice":               {"listen: ':1'\n\nlisten: ':2'\n", "app.yaml:3|listen: here a second time|line 1"},
		"settings key twice":      {stripeAccount + "  settings:\n    livemode: true\n    livemode: false\n", "app.yaml:6|settings.livemode: here a second time"},
		"unknown setting":         {stripeAccount + "  settings: {signing_secret: whsec_x}\n", "app.yaml:4|account shop: settings|signing_secret"},
		"not YAML":                {"listen: [\n", "app.yaml:|not YAML"},
		"tab":                     {"log:\n\tlevel: info\n", "app.yaml:2|not YAML"},
		"no mapping":              {"just text\n", "app.yaml:1|keys and values expected"},
		"two documents":           {"listen: ':1'\n---\nlisten: ':2'\n", "app.yaml:2|second document"},
		"alias":                   {stripeAccount + "  settings: {signing_secrets: &s [whsec_x], accounts: *s}\n", "app.yaml:4|settings.accounts: write the value out"},
		"alias to itself":         {stripeAccount + "  settings: &s {signing_secrets: *s}\n", "app.yaml:4|settings.signing_secrets"},
		"no accounts list":        {"accounts: {name: a}\n", "app.yaml:1|accounts: a list expected"},
		"empty account":           {"accounts:\n-\n", "app.yaml:2|accounts[0]: empty"},
		"account without name":    {"accounts:\n- provider: stripe\n", "app.yaml:2|accounts[0].name"},
		"name for no URL":         {"accounts:\n- name: My Shop\n  provider: stripe\n", `app.yaml:2|accounts[0].name: "My Shop"|small letters`},
		"name with a slash":       {"accounts:\n- name: a/b\n  provider: stripe\n", "app.yaml:2|accounts[0].name"},
		"no provider":             {"accounts:\n- name: a\n", "app.yaml:2|accounts[0].provider: missing|stripe"},
		"unknown provider":        {"accounts:\n- name: a\n  provider: strpe\n", `app.yaml:3|unknown provider "strpe"|generic, mercadopago, mollie, paypal`},
		"name twice":              {okAccount("a") + strings.TrimPrefix(okAccount("a"), "accounts:\n"), "app.yaml:5|accounts[1].name: a is the name of another account too, line 2"},
		"no settings":             {stripeAccount, "app.yaml:2|account shop: settings.signing_secrets: empty"},
		"settings no mapping":     {stripeAccount + "  settings: text\n", "app.yaml:4|account shop: settings: keys and values"},
		"settings twice":          {stripeAccount + "  settings: {a: b}\n  settings_file: x.json\n", "app.yaml:5|keep one of the two"},
		"no settings file":        {stripeAccount + "  settings_file: nosuch.json\n", "app.yaml:4|settings_file|nosuch.json|no such file|relative to the folder of the configuration file"},
		"secret empty":            {stripeAccount + "  settings:\n    livemode: true\n    signing_secrets: ['']\n", "app.yaml:6|account shop: settings.signing_secrets[0]: empty"},
		"secret blank":            {stripeAccount + "  settings: {signing_secrets: ['  ']}\n", "account shop: settings.signing_secrets[0]: empty"},
		"secret not set":          {stripeAccount + "  settings: {signing_secrets: ['${NOSUCH}']}\n", "app.yaml:4|settings.signing_secrets[0]: environment variable NOSUCH is not set"},
		"secret set to nothing":   {stripeAccount + "  settings: {signing_secrets: ['${EMPTY}']}\n", "settings.signing_secrets[0]: empty"},
		"reference cut":           {"listen: '${PORT'\n", "app.yaml:1|listen: ${ without"},
		"secret file missing":     {stripeAccount + "  settings: {signing_secrets: ['file:nosuch']}\n", "app.yaml:4|settings.signing_secrets[0]|nosuch|no such file"},
		"secret file empty":       {stripeAccount + "  settings: {signing_secrets: ['file:empty.txt']}\n", "app.yaml:4|settings.signing_secrets[0]|empty.txt: the file is empty"},
		"secret file is a folder": {stripeAccount + "  settings: {signing_secrets: ['file:folder']}\n", "app.yaml:4|settings.signing_secrets[0]|is a directory"},
		"settings in JSON":        {stripeAccount + "  settings_file: broken.json\n", "broken.json:3|not JSON"},
		"settings in JSON cut":    {stripeAccount + "  settings_file: cut.json\n", "cut.json:1|ends too early"},
		"JSON key twice":          {stripeAccount + "  settings_file: twice.json\n", "twice.json:3|settings.livemode: here a second time"},
		"JSON setting wrong":      {stripeAccount + "  settings_file: wrong.json\n", "wrong.json:3|account shop: settings.tolerance_seconds"},
		"wrong key file":          {"accounts:\n- name: w\n  provider: wechatpay\n  settings_file: wechat.json\n", "wechat.json:5|account w: settings.public_keys.PUB_KEY_ID_1|no.pem|expected -----BEGIN PUBLIC KEY"},
		"zone":                    {okAccount("a") + "  time_zone: Asia/Peking\n", `app.yaml:5|time_zone: "Asia/Peking"|Asia/Shanghai`},
		"zone of this machine":    {okAccount("a") + "  time_zone: Local\n", "time_zone"},
		"day cut":                 {okAccount("a") + "  day_cut: '25:00'\n", `app.yaml:5|day_cut: "25:00"|HH:MM`},
		"day cut, no zero":        {okAccount("a") + "  day_cut: '1:00'\n", "day_cut"},
		"edge without unit":       {okAccount("a") + "  edge: 10\n", `app.yaml:5|edge: "10": a time with its unit`},
		"edge too long":           {okAccount("a") + "  edge: 48h\n", "edge|from 0s to 12h"},
		"lag":                     {okAccount("a") + "  lag: -1\n", "app.yaml:5|lag|0 to 31"},
		"orders word":             {okAccount("a") + "  orders: there\n", `orders: "there": here or elsewhere`},
		"statement empty":         {okAccount("a") + "  statements: ['{date}', '']\n", "statements: [1]: empty"},
		"livemode word":           {okAccount("a") + "  livemode: maybe\n", "livemode|true or false"},
		"livemode twice":          {stripeAccount + "  livemode: true\n  settings: {signing_secrets: [whsec_x], livemode: false}\n", "app.yaml:4|livemode: stands in the settings too"},
		"listen":                  {"listen: 8080\n", `app.yaml:1|listen: "8080": HOST:PORT`},
		"listen port":             {"listen: ':80800'\n", "app.yaml:1|listen"},
		"list for a value":        {"listen: [a]\n", "app.yaml:1|listen: a single value"},
		"proxies":                 {"trusted_proxies: [10.0.0.0/8, proxy]\n", `trusted_proxies: "proxy"|10.0.0.0/8`},
		"public_url":              {"public_url: pay.example.com\n", "app.yaml:1|public_url|https://"},
		"window":                  {"orders: {payment_window: 5s}\n", "app.yaml:1|orders.payment_window|from 1m0s"},
		"body":                    {"limits: {body: 10TB}\n", `limits.body: "10TB"|2MiB`},
		"body overflow":           {"limits: {body: 9999999999999GiB}\n", "limits.body"},
		"level":                   {"log: {level: loud}\n", "log.level|debug, info, warn or error"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{
				"app.yaml": c.yaml, "empty.txt": "\n", "folder/x": "",
				"broken.json": "{\n\"a\": 1,\n}\n", "cut.json": "{\"a\": 1,\n", "twice.json": "{\n\"livemode\": true,\n\"livemode\": false}",
				"wrong.json":  "{\"signing_secrets\": [\"whsec_x\"],\n\t\"livemode\": true,\n\t\"tolerance_seconds\": -1}",
				"wechat.json": "{\n\"mchid\": \"1\", \"appid\": \"a\",\n\"api_v3_key\": \"0123456789abcdef0123456789abcdef\",\n\"public_keys\": {\n\"PUB_KEY_ID_1\": \"no.pem\"}}",
				"no.pem":      "nothing",
			})
			_, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(map[string]string{"EMPTY": ""}))
			if err == nil {
				t.Fatalf("accepted:\n%s", c.yaml)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %v", err)
			}
			for _, part := range strings.Split(c.want, "|") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got  %v\nwant %s in it", err, part)
				}
			}
		})
	}
}

func okAccount(name string) string {
	return "accounts:\n- name: " + name + "\n  provider: stripe\n  settings: {signing_secrets: [whsec_x]}\n"
}

func TestConfigFilledIn(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"etc/app.yaml": `
listen: "127.0.0.1:${PORT}"
database: file:../run/database
public_url: https://pay.example.com/
trusted_proxies: [10.0.0.0/8, 192.0.2.7]
orders: {payment_window: 1h, retry_window: 24h}
limits: {body: 2MiB}
log: {level: debug}
shutdown: {delay: 0s}
accounts:
- name: one
  provider: stripe
  time_zone: Asia/Shanghai
  day_cut: "23:00"
  edge: 1m
  lag: 2
  orders: elsewhere
  livemode: true
  statements: ["a/*{date}*", "/abs/{yyyymmdd}.csv"]
  settings:
    comment: costs ${NOTHING} to say
    signing_secrets: ["${SECRET}", "file:${DIR}/secret", "whsec_$${kept}"]
- name: two
  provider: stripe
  statements: b-{date}.csv
  settings_file: two.yaml
`,
		"etc/two.yaml": "signing_secrets: ['file:keys/two']\nreport_timezone: America/New_York\n",
		"etc/keys/two": "whsec_two\r\n", "run/secret": "whsec_from-file\n", "run/database": "sqlite:other.db\n",
	})
	env := map[string]string{"PORT": "9", "SECRET": "whsec_env", "DIR": filepath.Join(dir, "run")}
	c, err := loadConfig(filepath.Join(dir, "etc/app.yaml"), lookup(env))
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:9" || c.Database != "sqlite:other.db" || c.PublicURL != "https://pay.example.com" || c.BodyMax != 2<<20 ||
		c.PaymentWindow != time.Hour || c.RetryWindow != 24*time.Hour || c.ShutdownDelay != 0 || c.LogLevel.String() != "DEBUG" {
		t.Errorf("top level: %+v", c)
	}
	if len(c.TrustedProxies) != 2 || c.TrustedProxies[1].String() != "192.0.2.7/32" {
		t.Errorf("trusted_proxies: %v", c.TrustedProxies)
	}
	one, two := c.Accounts[0], c.Accounts[1]
	if one.Zone.String() != "Asia/Shanghai" || one.Cut != -time.Hour || one.Edge != time.Minute || one.Lag != 2 || !one.Elsewhere {
		t.Errorf("account one: %+v", one)
	}
	if want := []string{filepath.Join(dir, "etc/a/*{date}*"), "/abs/{yyyymmdd}.csv"}; !slices.Equal(one.Statements, want) {
		t.Errorf("statements: got %v, want %v", one.Statements, want)
	}
	if len(one.warnings()) != 0 {
		t.Errorf("livemode did not reach the provider: %v", one.warnings())
	}
	if two.Zone.String() != "America/New_York" || two.Cut != 0 || two.Edge != 10*time.Second || two.Elsewhere || len(two.warnings()) != 1 {
		t.Errorf("account two: %+v, warnings %v", two, two.warnings())
	}
	if !slices.Equal(c.Ledger.Elsewhere, []string{"one"}) {
		t.Errorf("the book's elsewhere: %v", c.Ledger.Elsewhere)
	}
	if got, err := c.account("two"); err != nil || got != two {
		t.Errorf("account two: %v, %v", got, err)
	}
	if _, err := c.account("three"); err == nil || !strings.Contains(err.Error(), "one, two") {
		t.Errorf("account three: %v; want the names there are", err)
	}
	if _, err := c.account(""); err == nil || !strings.Contains(err.Error(), "--account") {
		t.Errorf("no name and two accounts: %v", err)
	}
}

// What decides where the book is and which file is read: flag, then environment, then file, then default.
func TestConfigPrecedence(t *testing.T) {
	dir := writeFiles(t, map[string]string{"app.yaml": "listen: ':1'\ndatabase: sqlite:file.db\n", "b.yaml": "listen: ':2'\n", "bad.yaml": "x: 1\n"})
	t.Chdir(dir)
	for name, c := range map[string]struct {
		flag, flagDatabase string
		env                map[string]string
		listen, database   string
	}{
		"app.yaml when present": {"", "", nil, ":1", "sqlite:file.db"},
		"APP_CONFIG":            {"", "", map[string]string{"APP_CONFIG": "b.yaml"}, ":2", "sqlite:app.db"},
		"--config":              {"b.yaml", "", map[string]string{"APP_CONFIG": "bad.yaml"}, ":2", "sqlite:app.db"},
		"APP_LISTEN":            {"", "", map[string]string{"APP_LISTEN": ":3", "APP_DATABASE": ""}, ":3", "sqlite:file.db"},
		"DATABASE_URL":          {"", "", map[string]string{"DATABASE_URL": "sqlite:url.db"}, ":1", "sqlite:url.db"},
		"APP_DATABASE":          {"", "", map[string]string{"DATABASE_URL": "sqlite:url.db", "APP_DATABASE": "sqlite:own.db"}, ":1", "sqlite:own.db"},
		"--database":            {"", "sqlite:flag.db", map[string]string{"DATABASE_URL": "sqlite:url.db"}, ":1", "sqlite:flag.db"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{configFile: c.flag, database: c.flagDatabase, env: lookup(c.env)}
			conf, err := a.config()
			if err != nil {
				t.Fatal(err)
			}
			if database, err := a.databaseURL(); err != nil || conf.Listen != c.listen || database != c.database {
				t.Errorf("got %s and %s (%v), want %s and %s", conf.Listen, database, err, c.listen, c.database)
			}
		})
	}
}

func TestConfigEnvironment(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := loadConfig("", lookup(map[string]string{"APP_TRUSTED_PROXIES": "10.0.0.0/8, ::1", "APP_ORDERS_PAYMENT_WINDOW": "2h", "APP_SERVICE_HOST": "x"}))
	if err != nil || len(c.TrustedProxies) != 2 || c.PaymentWindow != 2*time.Hour || len(c.Accounts) != 0 || c.Listen != ":8080" {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = loadConfig("", lookup(map[string]string{"APP_LOG_LEVEL": "loud"}))
	if err == nil || !strings.HasPrefix(err.Error(), "environment APP_LOG_LEVEL: log.level:") {
		t.Errorf("APP_LOG_LEVEL=loud: %v; want the variable named", err)
	}
	if _, err := loadConfig("nosuch.yaml", lookup(nil)); err == nil || !strings.Contains(err.Error(), "nosuch.yaml") {
		t.Errorf("a file that is named must be there: %v", err)
	}
	if _, err := loadConfig("", lookup(map[string]string{"APP_CONFIG": "nosuch.yaml"})); err == nil {
		t.Error("a file that APP_CONFIG names must be there")
	}
}

// No message shows a secret, whatever is wrong beside it.
func TestConfigErrorHidesSecrets(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"app.yaml": stripeAccount + "  settings:\n    signing_secrets: ['${SECRET}', 'sk_live_CANARY']\n",
	})
	_, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(map[string]string{"SECRET": "whsec_CANARY"}))
	if err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("%v; want an error without the secret", err)
	}
}

func TestParseCut(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"00:00": 0, "04:30": 4*time.Hour + 30*time.Minute, "23:00": -time.Hour, "-01:00": -time.Hour, "12:00": -12 * time.Hour, "11:59": 11*time.Hour + 59*time.Minute,
	} {
		if got, err := parseCut(text); err != nil || got != want {
			t.Errorf("parseCut(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "24:00", "1:00", "-23:00", "01:00:00", "--01:00", "+01:00", "noon"} {
		if got, err := parseCut(text); err == nil {
			t.Errorf("parseCut(%q) = %v; want an error", text, got)
		}
	}
}

// The configuration of the recordings is complete, and each daily run finds the recorded statement.
func TestKitConfig(t *testing.T) {
	c, err := loadConfig(kitConfig, lookup(nil))
	if err != nil {
		t.Fatal(err)
	}
	for account, date := range map[string]string{"wechatpay": "2026-11-29", "stripe": "2026-11-27", "demopay": "20261127", "standardwebhooks": ""} {
		a, err := c.account(account)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range a.Statements {
			filled := strings.NewReplacer("{date}", date, "{yyyymmdd}", date).Replace(pattern)
			if files, err := filepath.Glob(filled); err != nil || len(files) == 0 {
				t.Errorf("%s: %s finds nothing (%v)", account, filled, err)
			}
		}
		if (len(a.Statements) == 0) != (date == "") {
			t.Errorf("%s: statements %v", account, a.Statements)
		}
	}
}

func FuzzConfig(f *testing.F) {
	kit, err := os.ReadFile(kitConfig)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(kit))
	f.Add(okAccount("a") + "  edge: 1s\n")
	f.Add("a: &a [*a]\n")
	f.Add("? [x]\n: y\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "app.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := loadConfig(path, lookup(nil))
		if (c == nil) == (err == nil) && err == nil {
			t.Error("neither a configuration nor an error")
		}
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without words")
		}
	})
}
