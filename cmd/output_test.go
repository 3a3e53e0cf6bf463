package cmd

import "testing"

func TestCutRule(t *testing.T) {
	for _, c := range []struct {
		rule  string
		width int
		want  string
	}{{"─────", 3, "───"}, {"─────", 5, "─────"}, {"─────", 0, "─────"}, {"", 3, ""}} {
		if got := cutRule(c.rule, c.width); got != c.want {
			t.Errorf("cutRule(%q, %d) = %q, want %q", c.rule, c.width, got, c.want)
		}
	}
}
