package cmd

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"paybook/models"
	"paybook/reconcile/bank"
)

// csvKeys are the keys of a bank that only a CSV has.
var csvKeys = []string{"columns", "delimiter", "skip_lines", "date_layout", "decimal", "sign", "directions", "statuses"}

// readBanks reads the accounts at banks that payouts land in.
func readBanks(s *section, accounts []*Account) []*bank.Bank {
	if !s.has("banks") {
		return nil
	}
	list := s.keys["banks"]
	if list.Kind != yaml.SequenceNode {
		s.fail("banks", "a list expected, each item with - in front")
		return nil
	}
	var banks []*bank.Bank
	lines := map[string]int{}
	for i, node := range list.Content {
		item := s.r.section(node, fmt.Sprintf("banks[%d].", i), append([]string{"name", "format", "account", "currency", "time_zone", "statements",
			"accounts", "window", "tolerance", "fee", "credits", "references", "encoding"}, csvKeys...)...)
		b := readBank(item, accounts)
		if first, twice := lines[b.Name]; twice {
			item.fail("name", "%s is the name of another bank too, line %d", b.Name, first)
		}
		if s.r.err() != nil {
			return nil
		}
		lines[b.Name] = item.keys["name"].Line
		banks = append(banks, b)
	}
	tellElsewhere(banks)
	return banks
}

// tellElsewhere tells each bank which currencies of its accounts land at another.
func tellElsewhere(banks []*bank.Bank) {
	for _, b := range banks {
		b.Elsewhere = map[string][]string{}
		for _, other := range banks {
			for _, account := range other.Accounts {
				if other != b && slices.Contains(b.Accounts, account) {
					b.Elsewhere[account] = append(b.Elsewhere[account], other.Currency)
				}
			}
		}
	}
}

func readBank(s *section, accounts []*Account) *bank.Bank {
	b := &bank.Bank{
		Name:     s.text("name", ""),
		Format:   s.word("format", bank.Camt053, bank.Camt053, bank.MT940, bank.CSV),
		Account:  s.list("account"),
		Zone:     readZone(s, "UTC"),
		Window:   readWindow(s),
		Encoding: s.word("encoding", "utf-8", bank.Encodings()...),
	}
	if !accountName.MatchString(b.Name) {
		s.fail("name", "%q: small letters, digits, - and _ expected, its gaps are those of account bank/NAME", b.Name)
	}
	if len(b.Account) == 0 || slices.ContainsFunc(b.Account, func(number string) bool { return strings.TrimSpace(number) == "" }) {
		s.fail("account", "missing: its IBAN or number, which every statement is held against; a list is several spellings of it")
	}
	var err error
	if b.Currency, err = models.ParseCurrency(s.text("currency", "")); err != nil {
		s.fail("currency", "the account's currency expected, such as EUR: %v", err)
		return b
	}
	b.Statements = readPatterns(s)
	b.Accounts = readPayers(s, accounts)
	b.Tolerance = readMinor(s, "tolerance", b.Currency)
	b.Fee = readBankFee(s, b.Currency)
	b.Ours = readOurs(s, b.Accounts, accounts)
	b.References = readReferences(s, b.Accounts)
	if b.Format == bank.Camt053 && s.has("encoding") {
		s.fail("encoding", "means nothing for camt053: the file itself says it")
	}
	readBankLayout(s, b)
	return b
}

func readZone(s *section, fallback string) *time.Location {
	name := s.text("time_zone", fallback)
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" { // the last two would mean this machine
		s.fail("time_zone", "%q: a name such as Europe/Berlin expected", name)
		return time.UTC
	}
	return zone
}

// readWindow reads a number of banking days, such as 5d.
func readWindow(s *section) int {
	const fallback, most = 5, 60
	text := s.text("window", "")
	if text == "" {
		return fallback
	}
	days, ok := strings.CutSuffix(text, "d")
	n := 0
	if _, err := fmt.Sscanf(days, "%d", &n); err != nil || !ok || fmt.Sprint(n) != days || n < 1 || n > most {
		s.fail("window", "%q: a number of banking days such as 5d expected, 1d to %dd", text, most)
		return fallback
	}
	return n
}

func readPatterns(s *section) (patterns []string) {
	for i, pattern := range s.list("statements") {
		if err := checkPattern(pattern); err != nil || strings.TrimSpace(pattern) == "" {
			s.failItem("statements", i, "%q: a pattern of files expected: %v", pattern, err)
		} else if !placeholder.MatchString(pattern) {
			s.failItem("statements", i, "%q: names no day, so that every day would read the same file; put %s where the date stands in its name", pattern, knownPlaceholders)
		}
		patterns = append(patterns, s.r.path(pattern))
	}
	return patterns
}

// readPayers are the accounts whose payouts land here.
func readPayers(s *section, accounts []*Account) []string {
	names := s.list("accounts")
	if len(names) == 0 {
		s.fail("accounts", "missing: the accounts whose payouts land here")
	}
	for i, name := range names {
		if !slices.ContainsFunc(accounts, func(a *Account) bool { return a.Name == name }) {
			s.failItem("accounts", i, "no account %q is configured", name)
		}
		if slices.Contains(names[:i], name) {
			s.failItem("accounts", i, "%s stands here twice", name)
		}
	}
	return names
}

// readMinor reads a sum in major units, not negative.
func readMinor(s *section, key, currency string) int64 {
	text := s.text(key, "")
	if text == "" {
		return 0
	}
	m, err := models.ParseMajor(text, currency)
	if err != nil || m.Minor < 0 {
		s.fail(key, "%q: a sum in %s such as %s expected", text, currency, models.Money{Minor: 15, Currency: currency}.Text())
	}
	return m.Minor
}

// readBankFee reads what the bank may keep: none, told, or up to a sum that nothing has to name.
func readBankFee(s *section, currency string) bank.Fee {
	switch s.text("fee", "none") {
	case "none":
		return bank.Fee{}
	case "told":
		return bank.Fee{Told: true}
	}
	return bank.Fee{Told: true, Max: readMinor(s, "fee", currency)}
}

// readOurs reads which lines look like a provider's money. Without a word about it, it is those that say a provider's name.
func readOurs(s *section, payers []string, accounts []*Account) bank.Ours {
	switch texts := s.list("credits"); {
	case !s.has("credits"):
		return bank.Ours{Patterns: providerNamed(payers, accounts)}
	case len(texts) == 1 && texts[0] == "all":
		return bank.Ours{Credits: true}
	case len(texts) == 1 && texts[0] == "none":
		return bank.Ours{}
	default:
		var ours bank.Ours
		for i, text := range texts {
			pattern, err := regexp.Compile("(?i)" + text)
			if err != nil || text == "" {
				s.failItem("credits", i, "%q: all, none, or regular expressions expected: %v", text, err)
				continue
			}
			ours.Patterns = append(ours.Patterns, pattern)
		}
		return ours
	}
}

func providerNamed(payers []string, accounts []*Account) (patterns []*regexp.Regexp) {
	for _, a := range accounts {
		if slices.Contains(payers, a.Name) && a.ProviderName != "generic" {
			patterns = append(patterns, regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(a.ProviderName)))
		}
	}
	return patterns
}

// readReferences reads, by account, how a payout is found in the bank's texts.
func readReferences(s *section, payers []string) map[string]bank.Reference {
	if !s.has("references") {
		return nil
	}
	out := map[string]bank.Reference{}
	all := s.object("references", payers...)
	for _, account := range payers {
		if !all.has(account) {
			continue
		}
		one := all.object(account, "last", "pattern", "payout")
		r := bank.Reference{Last: one.whole("last", bank.LastDefault, 0, 64), Pattern: readCapture(one, "pattern"), Payout: readCapture(one, "payout")}
		switch {
		case one.has("last") && r.Last == 0:
			r.Last = -1
		case one.has("last") && r.Last < bank.LastMin:
			one.fail("last", "%d characters are too few to tell payouts apart; %d or more, or 0 for the whole id only", r.Last, bank.LastMin)
		case r.Pattern != nil && one.has("last"):
			one.fail("last", "means nothing beside pattern")
		case r.Payout != nil && r.Pattern == nil:
			one.fail("payout", "means nothing without pattern")
		}
		out[account] = r
	}
	return out
}

func readCapture(s *section, key string) *regexp.Regexp {
	text := s.text(key, "")
	if text == "" {
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil || pattern.NumSubexp() < 1 {
		s.fail(key, "%q: a regular expression with a group ( ) around what names the payout expected", text)
		return nil
	}
	return pattern
}
