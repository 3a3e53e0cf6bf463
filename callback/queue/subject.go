package queue

import "strings"

// covers says whether every subject that the second pattern takes is taken by the first. Patterns have NATS's wildcards: * for one
// token, > for all that follow.
func covers(pattern, of string) bool {
	have, want := strings.Split(pattern, "."), strings.Split(of, ".")
	for i, token := range have {
		switch {
		case token == ">":
			return len(want) > i
		case i >= len(want):
			return false
		case token == "*" && want[i] != ">":
		case token != want[i]:
			return false
		}
	}
	return len(have) == len(want)
}

// anyCovers is covers for a list.
func anyCovers(patterns []string, of string) bool {
	for _, p := range patterns {
		if covers(p, of) {
			return true
		}
	}
	return false
}

// oneToken makes text from a subject fit for one token of another.
func oneToken(text string) string {
	if text == "" {
		return "_"
	}
	return strings.ReplaceAll(text, ".", "_")
}
