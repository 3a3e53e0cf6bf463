package cmd

import (
	"maps"
	"slices"
	"strings"
)

const envPrefix = "APP_"

// ignoredVariables are those of environ (NAME=value, as os.Environ has them) that look like ours and set nothing. An empty one counts as not
// set.
func (c *Config) ignoredVariables(environ []string) []string {
	var out []string
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, envPrefix) && value != "" && name != envConfig && name != envUser && !c.asked[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// ignoredText says of one of them what to do. It does not show the value.
func (c *Config) ignoredText(name string) string {
	for _, list := range []string{"api_keys", "accounts", "alerts"} {
		if own := envPrefix + strings.ToUpper(list); name == own || strings.HasPrefix(name, own+"_") {
			return "environment " + name + " is ignored: " + list + " are in the configuration file only"
		}
	}
	plain := func(name string) string { return strings.ReplaceAll(name, "_", "") }
	for _, known := range slices.Sorted(maps.Keys(c.asked)) {
		if plain(known) == plain(name) {
			return "environment " + name + " is ignored: no setting has this name; did you mean " + known + "?"
		}
	}
	return "environment " + name + " is ignored: no setting has this name; it is APP_ and the key in capitals, with _ for each dot, such as APP_ORDERS_TOKEN_LIFE"
}
