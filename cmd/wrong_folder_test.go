package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongFolder: a command about what is in the book, typed where no database is, says so and leaves none behind.
func TestWrongFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{"orders list", "orders show O1", "gaps list", "gaps show a1", "gaps resolve a1 --reason why",
		"callbacks list", "callbacks show c1", "callbacks replay c1", "orders list --database sqlite:none/app.db", "orders list --no-migrate"} {
		got := runApp(t, nil, strings.Fields(line)...)
		if got.code != exitFailed || got.out != "" || strings.Count(got.err, "\n") != 1 {
			t.Errorf("app %s: exit %d, result %q, talk %q; want exit 2 and one line", line, got.code, got.out, got.err)
		}
		for _, want := range []string{"app.db", "--database", "app migrate up", string(filepath.Separator)} {
			if !strings.Contains(got.err, want) {
				t.Errorf("app %s: %q does not say %q", line, got.err, want)
			}
		}
		if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
			t.Fatalf("app %s leaves %v, %v", line, left, err)
		}
	}
	if got := runApp(t, nil, "migrate", "up"); got.code != exitDone {
		t.Fatalf("app migrate up: exit %d\n%s", got.code, got.err)
	}
	if got := runApp(t, nil, "gaps", "list"); got.code != exitDone {
		t.Errorf("in a database without gaps: exit %d\n%s", got.code, got.err)
	}
}
