package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"paybook/callback"
	"paybook/callback/queue"
	"paybook/ledger"
	"paybook/ledger/shop"
	"paybook/reconcile/bank"
	"paybook/reconcile/lang"
)

// Config is everything that can be set. Packages below cmd are handed values; none reads a file or the environment itself.
type Config struct {
	File           string         // where it was read; "" when there is no file
	Listen         string         // HOST:PORT of the public routes
	AdminListen    string         // HOST:PORT of metrics, console and shop routes; "": they are on Listen
	Database       string         // postgres://… or sqlite:FILE, a file relative to the working folder
	PublicURL      string         // how the world reaches us, without a slash at the end; "": unknown
	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed
	Accounts       []*Account     // in the order of the file
	Alerts         []Alert        // who is told
	Archive        string         // folder in which statement files are kept, those found by pattern too; "": fetched ones only, see archiveDir
	Banks          []*bank.Bank   // where payouts land, in the order of the file
	Queue          *queue.Options // where callbacks come from besides HTTP; nil: from nowhere
	APIKeys        []shop.Key     // of the shop's routes; none: they answer this machine only
	PaymentWindow  time.Duration  // how long an order made by POST /orders may be paid
	RetryWindow    time.Duration  // how long a client of POST /orders may repeat itself
	TokenLife      time.Duration  // how long a token of POST /tokens may be spent
	Redis          Redis          // in front of the database; zero: none
	Flash          []string       // SKUs whose orders take the way of a flash sale, which needs Redis
	BodyMax        int64          // bytes of a callback's body
	LogLevel       slog.Level
	Lang           lang.Language // of reports for people
	ShutdownDelay  time.Duration // between "not ready" and closing the door, for the balancer to notice
	Ledger         ledger.Options
	Approvals      int    // how many persons a repair needs: 1 or 2
	Inquiries      Asking // when providers are asked about orders

	files   []configFile    // every file it was made of, for the doctor
	asked   map[string]bool // variables of the environment that mean something
	ignored []string        // variables that look like ours and mean nothing
}

// configFile is one file the configuration was made of.
type configFile struct{ path, kind string }

// Names of the environment that are no setting of the file.
const (
	envConfig      = "APP_CONFIG"
	envDatabaseURL = "DATABASE_URL"
)

// configFileDefault is read when it is there and nobody names another.
const configFileDefault = "app.yaml"

// loadConfig reads the file that --config names, else APP_CONFIG, else app.yaml when present; without one all is default and
// there are no accounts. The first thing that is wrong is the error, with the file, the line and the key.
func loadConfig(name string, env func(string) (string, bool)) (*Config, error) {
	if name == "" {
		name, _ = env(envConfig)
	}
	optional := name == ""
	if optional {
		name = configFileDefault
	}
	raw, err := os.ReadFile(name)
	r := newReader(name, env)
	switch {
	case optional && errors.Is(err, fs.ErrNotExist):
		r.name, raw = "", nil
	case err != nil:
		return nil, fmt.Errorf("configuration: %w", err)
	default:
		r.used(name, "configuration")
	}
	root, err := parseYAML(r.name, raw)
	if err != nil {
		return nil, err
	}
	c := readConfig(r.section(root, "", "listen", "admin_listen", "database", "public_url", "trusted_proxies", "accounts", "orders",
		"limits", "log", "shutdown", "ledger", "api_keys", "redis", "queue", "repair", "archive", "alerts", "reports", "banks"))
	c.File, c.files, c.asked = r.name, *r.files, r.asked
	return c, r.err()
}

func readConfig(s *section) *Config {
	s.environment = true
	c := &Config{
		Listen:      s.address("listen", ":8080"),
		AdminListen: s.address("admin_listen", ""),
		Database:    readDatabase(s),
		PublicURL:   readPublicURL(s),
	}
	c.TrustedProxies = readProxies(s)
	orders := s.object("orders", "payment_window", "retry_window", "token_life", "flash", "query")
	c.PaymentWindow = orders.duration("payment_window", 30*time.Minute, time.Minute, 366*24*time.Hour)
	c.RetryWindow = orders.duration("retry_window", 2*time.Minute, time.Minute, 366*24*time.Hour)
	c.TokenLife = readTokenLife(orders, c.PaymentWindow)
	c.Redis = readRedis(s.object("redis", "url", "timeout", "prefix"))
	c.Flash = readFlash(orders, c.Redis)
	c.BodyMax = s.object("limits", "body").size("body", callback.BodyMax, 1<<10, 64<<20)
	c.LogLevel = readLevel(s.object("log", "level"))
	c.ShutdownDelay = s.object("shutdown", "delay").duration("delay", 1200*time.Millisecond, 0, time.Minute)
	book := s.object("ledger", "connections", "batch", "refused_rows", "refused_bytes")
	c.Ledger = ledger.Options{
		MaxConns:     book.whole("connections", 16, 1, 1000),
		BatchMax:     book.whole("batch", 256, 1, 1000),
		RefusedRows:  book.whole("refused_rows", 20_000, 1, 100_000_000),
		RefusedBytes: book.size("refused_bytes", 16<<20, 64<<10, 1<<40),
	}
	c.Accounts = readAccounts(s)
	if dir := s.text("archive", ""); dir != "" {
		c.Archive = s.r.path(dir)
	}
	c.Alerts = readAlerts(s, c.Accounts)
	c.Banks = readBanks(s, c.Accounts)
	c.APIKeys = readAPIKeys(s)
	c.Queue = readQueue(s)
	c.Approvals = readRepair(s)
	c.Inquiries = readAsking(orders)
	c.Ledger.AskAfter = c.askAfter()
	c.Lang = readReports(s)
	for _, a := range c.Accounts {
		if a.Elsewhere {
			c.Ledger.Elsewhere = append(c.Ledger.Elsewhere, a.Name)
		}
	}
	return c
}

// readDatabase takes APP_DATABASE, as for every key, else DATABASE_URL, else the file.
func readDatabase(s *section) string {
	const fallback = "sqlite:app.db"
	if _, set := s.override("database"); !set {
		if url, _ := s.r.env(envDatabaseURL); url != "" {
			s.text("database", "") // the file's must make sense all the same
			return url
		}
	}
	if url := s.text("database", ""); url != "" {
		return url
	}
	return fallback
}

// readTokenLife refuses a token that outlives the order it was spent on: who presses "buy" again after the order was closed unpaid would be
// told of the closed one, and could not order anew.
func readTokenLife(orders *section, paymentWindow time.Duration) time.Duration {
	life := orders.duration("token_life", ledger.TokenLife, time.Second, 366*24*time.Hour)
	if life > paymentWindow {
		orders.fail("token_life", "%v is longer than orders.payment_window, %v: an order that was cancelled unpaid must be orderable again; set orders.token_life to %v at most",
			life, paymentWindow, paymentWindow)
	}
	return life
}

// warnings are settings that work but protect less than they seem to, one line each.
func (c *Config) warnings() []string {
	var out []string
	if c.TokenLife < c.RetryWindow {
		out = append(out, fmt.Sprintf("orders.token_life, %v, is shorter than orders.retry_window, %v: a client that repeats itself may find its token expired", c.TokenLife, c.RetryWindow))
	}
	for _, name := range c.ignored {
		out = append(out, c.ignoredText(name))
	}
	return out
}

func readPublicURL(s *section) string {
	text := s.text("public_url", "")
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
		s.fail("public_url", "an address such as https://pay.example.com expected")
		return ""
	}
	return strings.TrimRight(text, "/")
}

func readProxies(s *section) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range s.list("trusted_proxies") {
		prefix, err := netip.ParsePrefix(text)
		if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
			prefix, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			s.fail("trusted_proxies", "%q: an address or a range such as 10.0.0.0/8 expected", text)
		}
		out = append(out, prefix)
	}
	return out
}

func readLevel(s *section) slog.Level {
	var level slog.Level
	if text := s.text("level", "info"); level.UnmarshalText([]byte(text)) != nil {
		s.fail("level", "%q: debug, info, warn or error expected", text)
	}
	return level
}

// account finds an account by its name. Without a name it is the only one there is.
func (c *Config) account(name string) (*Account, error) {
	for _, a := range c.Accounts {
		if a.Name == name || name == "" && len(c.Accounts) == 1 {
			return a, nil
		}
	}
	switch {
	case len(c.Accounts) == 0:
		return nil, c.noAccounts()
	case name == "":
		return nil, fmt.Errorf("say which account with --account: %s", c.accountNames())
	}
	return nil, fmt.Errorf("no account %q in %s; there is: %s", name, c.File, c.accountNames())
}

// filtered is the account that a list's --account names; nil without one. A name that is not configured can only be a slip; without any
// accounts a look into the book is still allowed.
func (a *app) filtered(name string) (*Account, error) {
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	if name == "" || len(c.Accounts) == 0 || c.bankOf(name) != nil {
		return nil, nil
	}
	return c.account(name)
}

func (c *Config) accountNames() string {
	names := make([]string, len(c.Accounts))
	for i, a := range c.Accounts {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}

// noAccounts is what a command says that needs some. It names the file that was read.
func (c *Config) noAccounts() error {
	if c.File == "" {
		return errors.New("no accounts configured: give --config FILE, or write them into app.yaml")
	}
	return fmt.Errorf("no accounts configured in %s: write them there, or give --config FILE", c.File)
}

// checkAddress says whether text is HOST:PORT; the host may be empty.
func checkAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%q: HOST:PORT such as 127.0.0.1:8080 expected", text)
	}
	return nil
}
