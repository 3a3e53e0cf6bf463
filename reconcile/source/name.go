package source

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameMax is how many bytes of a name are kept. With the hash before it, it fits every file system.
const nameMax = 120

// SafeName makes a file's name of what a stranger calls a file: its last element, without anything that a disk, a shell or a terminal
// could take for more than a letter, and not too long. Its ending stays.
func SafeName(name string) string {
	name = strings.ToValidUTF8(name, "")
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	base = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), strings.ContainsRune("._-()+=@", r):
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return '_'
	}, base)
	base = shorten(strings.Trim(base, ". "))
	if strings.Trim(base, "_") == "" {
		return "statement"
	}
	return base
}

// shorten takes from the middle, so that the ending stays.
func shorten(name string) string {
	if len(name) <= nameMax {
		return name
	}
	end := path.Ext(name)
	if len(end) > 16 {
		end = ""
	}
	head := name[:nameMax-len(end)]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	return head + end
}
