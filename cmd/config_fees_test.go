package cmd

import (
	"path/filepath"
	"strings"
	"testing"

	"paybook/models"
	"paybook/reconcile"
)

// withFees is a configuration of one account with a fee schedule.
func withFees(t *testing.T, rules ...string) (*Config, error) {
	t.Helper()
	text := okAccount("shop") + "  fees:\n"
	for _, r := range rules {
		text += "  - " + r + "\n"
	}
	return loadConfig(filepath.Join(writeFiles(t, map[string]string{"app.yaml": text}), "app.yaml"), lookup(nil))
}

// The usual prices of the providers can be said.
func TestFeeSchedulesOfTheProviders(t *testing.T) {
	c, err := withFees(t,
		`{kind: payment, currency: CNY, rate: 0.6%, refunds: returned}`,
		`{kind: payment, converted: true, fee_currency: usd, rate: "4.4%", fixed: 0.30, refunds: kept}`,
		`{kind: payment, converted: false, currency: USD, rate: 2.9%, fixed: "0.30", from: 2026-01-01, until: 2026-12-31, tolerance: 0.01}`,
		`{kind: payment, currency: HKD, rate: 0.5 %, min: 0.08, cap: 20, rounding: half_even, refunds: proportional}`,
		`{kind: chargeback, currency: EUR, fixed: 7.50}`,
		`{kind: refund, currency: JPY, rate: -1.25%}`,
		`{rate: 0%}`)
	if err != nil {
		t.Fatal(err)
	}
	fees := c.Accounts[0].Fees
	if got := c.Accounts[0].reconciled().Fees; len(fees) != 7 || len(got) != 7 {
		t.Fatalf("%d rules, %d handed on", len(fees), len(got))
	}
	for i, want := range []string{"0.6%", "4.4% + 0.30", "2.9% + 0.30", "0.5%, at least 0.08, at most 20.00", "7.50", "-1.25%", "0%"} {
		if got := fees[i].String(); got != want {
			t.Errorf("fees[%d] is %q, want %q", i, got, want)
		}
	}
	usd := fees[2]
	if usd.Kind != models.Payment || usd.Currency != "USD" || *usd.Converted || usd.From.String() != "2026-01-01" || usd.Until.String() != "2026-12-31" ||
		usd.Tolerance.String() != "0.01" || usd.Rounding != reconcile.RoundHalfUp || usd.Refunds != "" {
		t.Errorf("fees[2] is %+v", usd)
	}
	if fees[1].FeeCurrency != "USD" || !*fees[1].Converted || fees[1].Refunds != reconcile.FeesKept || fees[3].Rounding != reconcile.RoundHalfEven || fees[6].Kind != models.Payment {
		t.Errorf("fees are %+v", fees)
	}
}

// What is wrong with a schedule is told with its line and its key.
func TestFeeScheduleMistakes(t *testing.T) {
	for rule, want := range map[string]string{
		`{kind: payments, rate: 1%}`:                                                      `fees[0].kind: "payments"`,
		`{kind: payment, rate: 0.6}`:                                                      `fees[0].rate: "0.6": a share of the amount such as 0.6%`,
		`{kind: payment, rate: 101%}`:                                                     `fees[0].rate`,
		`{kind: payment, rate: 1e-2%}`:                                                    `fees[0].rate`,
		`{kind: payment, rate: "1,5%"}`:                                                   `fees[0].rate`,
		`{kind: payment, currency: XXX, rate: 1%}`:                                        `fees[0].currency`,
		`{kind: payment, currency: USD, fee_currency: dollars, rate: 1%}`:                 `fees[0].fee_currency`,
		`{kind: payment, currency: USD}`:                                                  `fees[0].rate: missing`,
		`{kind: payment, rate: 1%, fixed: 0.30}`:                                          `fees[0].fixed: of which currency?`,
		`{kind: payment, currency: JPY, rate: 1%, fixed: 0.30}`:                           `fees[0].fixed`,
		`{kind: payment, currency: USD, fixed: 1.234}`:                                    `fees[0].fixed`,
		`{kind: payment, currency: USD, fixed: "1,50"}`:                                   `fees[0].fixed`,
		`{kind: payment, currency: USD, rate: 1%, cap: 0}`:                                `fees[0].cap`,
		`{kind: payment, currency: USD, rate: 1%, min: 2, cap: 1}`:                        `fees[0].min: 2 is more than cap, 1`,
		`{kind: payment, currency: USD, rate: 1%, min: -1}`:                               `fees[0].min`,
		`{kind: payment, rate: 1%, tolerance: -0.01}`:                                     `fees[0].tolerance`,
		`{kind: payment, rate: 1%, rounding: bankers}`:                                    `fees[0].rounding`,
		`{kind: payment, rate: 1%, refunds: maybe}`:                                       `fees[0].refunds`,
		`{kind: refund, rate: 1%, refunds: kept}`:                                         `fees[0].refunds: stands in a rule of payments`,
		`{kind: payment, rate: 1%, converted: perhaps}`:                                   `fees[0].converted`,
		`{kind: payment, rate: 1%, from: 1.1.2026}`:                                       `fees[0].from`,
		`{kind: payment, rate: 1%, from: 2026-02-30}`:                                     `fees[0].from`,
		`{kind: payment, rate: 1%, from: 2026-02-02, until: 2026-02-01}`:                  `fees[0].until: 2026-02-01 is before from`,
		`{kind: payment, rate: 1%, percent: 2}`:                                           `fees[0].percent: unknown key`,
		`1%`:                                                                              `keys and values expected`,
		``:                                                                                `fees[0].kind: missing`,
		"{kind: payment, rate: 1%}\n  - {kind: payment, rate: 2%}":                        `fees[1].kind: never decides: fees[0] stands before it`,
		"{rate: 1%, refunds: kept}\n  - {kind: refund, currency: USD, rate: 2%}":          `fees[1].kind: never decides`,
		"{rate: 1%, until: 2026-06-30}\n  - {rate: 2%, currency: CNY, until: 2026-06-30}": `fees[1].kind: never decides`,
	} {
		_, err := withFees(t, rule)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "app.yaml:") {
			t.Errorf("%s: %v, want file, line and %q", rule, err, want)
		}
	}
	for _, rules := range [][]string{
		{`{rate: 1%, until: 2026-06-30}`, `{rate: 2%}`},
		{`{rate: 1%, from: 2026-07-01}`, `{rate: 2%}`},
		{`{rate: 1%, currency: CNY}`, `{rate: 2%}`},
		{`{rate: 1%}`, `{rate: 2%, refunds: kept}`}, // of refunds only the second speaks
		{`{rate: 1%, converted: true}`, `{rate: 2%, converted: false}`},
		{`{kind: refund, rate: 1%}`, `{rate: 2%, refunds: kept}`},
	} {
		if _, err := withFees(t, rules...); err != nil {
			t.Errorf("%q: %v", rules, err)
		}
	}
}
