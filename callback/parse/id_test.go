package parse_test

import (
	"strings"
	"testing"

	"paybook/callback/parse"
)

func TestCheckID(t *testing.T) {
	for id, want := range map[string]string{
		"CNA20261129001": "", "a b": "", "订单 7/8": "", "=1+1": "", strings.Repeat("x", 65): "", strings.Repeat("x", parse.IDMax): "",
		"": "is missing", strings.Repeat("x", parse.IDMax+1): "has 256 bytes, at most 255", "a\x00": `"a\x00" holds a control character`,
		"a\nb": "holds a control character", "\xff1": `"\xff1" holds bytes`, "a\ufffd": "holds bytes that are no text", "  ": "shows no character",
		"\u200b": "shows no character",
	} {
		if err := parse.CheckID(id); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("CheckID(%q) = %v, want %q", id, err, want)
		}
	}
}

func TestCheckOwnID(t *testing.T) {
	for id, want := range map[string]string{
		"4200001": "", strings.Repeat("1", 64): "", "": "is missing", strings.Repeat("1", 65): "has 65 bytes, an id of the provider has at most 64",
		"1 2": `"1 2" holds a blank`, "1\u00a02": "holds a blank", "1\x7f": "control character", "\xff": "no text",
	} {
		if err := parse.CheckOwnID(id, 64); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("CheckOwnID(%q) = %v, want %q", id, err, want)
		}
	}
}
