package reconcile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// WriteJSON prints the items as one array. A report's gaps are laid out one by one, for there may be many.
func WriteJSON(w io.Writer, items []Item) error {
	out := bufio.NewWriter(w)
	if len(items) == 0 {
		fmt.Fprintln(out, "[]")
		return out.Flush()
	}
	next := "[\n  "
	for _, item := range items {
		fmt.Fprint(out, next)
		next = ",\n  "
		if err := writeItem(out, item); err != nil {
			return err
		}
	}
	fmt.Fprint(out, "\n]\n")
	return out.Flush()
}

func writeItem(out *bufio.Writer, item Item) error {
	if item.Err != nil || item.Report == nil {
		return writeValue(out, item, "  ")
	}
	head := item.Report.head()
	head.Accepted = item.Report.Accepted
	text, err := json.MarshalIndent(head, "  ", "  ")
	if err != nil {
		return err
	}
	lists := map[string][]GapReport{ // by the line that holds the place of each
		"    \"gaps\": [],\n": item.Report.Gaps, "    \"carried\": [],\n": item.Report.Carried, "    \"healed\": [],\n": item.Report.Healed,
	}
	for line := range bytes.Lines(text) {
		gaps := lists[string(line)]
		if len(gaps) == 0 {
			if _, err := out.Write(visible(line)); err != nil {
				return err
			}
			continue
		}
		next := string(bytes.TrimSuffix(line, []byte("],\n"))) + "\n      "
		for i := range gaps {
			fmt.Fprint(out, next)
			next = ",\n      "
			if err := writeValue(out, gaps[i], "      "); err != nil {
				return err
			}
		}
		fmt.Fprint(out, "\n    ],\n")
	}
	return nil
}

func writeValue(out *bufio.Writer, v any, prefix string) error {
	text, err := json.MarshalIndent(v, prefix, "  ")
	if err != nil {
		return err
	}
	_, err = out.Write(visible(text))
	return err
}

// visible escapes what a terminal obeys and JSON allows in a string as it is: the control characters behind ASCII, and those that turn
// or hide the text around them.
func visible(text []byte) []byte {
	if bytes.IndexFunc(text, steers) < 0 {
		return text
	}
	var out []byte
	for len(text) > 0 {
		c, n := utf8.DecodeRune(text)
		if !steers(c) {
			out = append(out, text[:n]...)
		} else {
			for _, unit := range utf16.AppendRune(nil, c) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		text = text[n:]
	}
	return out
}

func steers(c rune) bool {
	return c >= 0x7f && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c))
}
