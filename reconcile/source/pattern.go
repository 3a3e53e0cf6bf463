package source

import (
	"path"
	"slices"
	"strings"

	"paybook/reconcile"
)

// fill puts the day into every pattern.
func fill(patterns []string, day reconcile.Day) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = day.Fill(p)
	}
	return out
}

// fixed is how a pattern begins before anything in it varies.
func fixed(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[\{`); i >= 0 {
		return pattern[:i]
	}
	return pattern
}

// matches says whether any of the patterns is that name's. They have been checked when they were configured.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}
