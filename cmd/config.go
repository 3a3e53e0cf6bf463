package cmd

import (
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"paybook/ledger"
)

// Config is everything that can be set. Packages below cmd are handed values; none reads a file or the environment itself.
type Config struct {
	File           string // where it was read; "" when there is no file
	Listen         string // HOST:PORT of the public routes
	AdminListen    string // HOST:PORT of metrics, console and shop routes; "": they are public
	Database       string
	PublicURL      string         // how the world reaches us, without a slash at the end; "": unknown
	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed
	Accounts       []*Account     // in the order of the file
	PaymentWindow  time.Duration  // how long an order made by POST /orders may be paid
	RetryWindow    time.Duration  // how long deliveries to the shop are tried again
	LogLevel       slog.Level
}

// Account is one configured account of a provider.
type Account struct {
	Name         string
	ProviderName string // as configured, such as "generic"; Provider.Name may say more
	Provider     provider
	Zone         *time.Location // of its business day and of times without an offset
	Cut          time.Duration  // when its business day begins, from local midnight; negative: the evening before
	Edge         time.Duration  // near a bound of the day, an unmatched row waits for the neighbouring day
	Lag          int            // days that missing_provider may wait, for providers that settle in batches
	Elsewhere    bool           // its orders are not kept here
	Statements   []string       // patterns of the daily run's files, already joined with the configuration's folder
}

// account finds an account by name; with "" the only one there is.
func (c *Config) account(name string) (*Account, error) { return nil, errors.New("no such account") }

func (c *Config) ledgerOptions() ledger.Options { return ledger.Options{} }

func loadConfig(file string, env func(string) (string, bool)) (*Config, error) {
	return &Config{Listen: ":8080", Database: "sqlite:app.db"}, nil
}
