package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"paybook/reconcile"
)

// formatFlag adds --format; the first format is the default.
func formatFlag(c *cobra.Command, format *string, formats ...string) {
	*format = formats[0]
	c.Flags().Var(&formatValue{format, formats}, "format", strings.Join(formats, " or "))
}

// formatValue is a --format that takes no other word than those it knows.
type formatValue struct {
	format *string
	known  []string
}

// Set implements pflag.Value, as do the others.
func (f *formatValue) Set(word string) error {
	if !slices.Contains(f.known, word) {
		return fmt.Errorf("expected %s", strings.Join(f.known, " or "))
	}
	*f.format = word
	return nil
}

func (f *formatValue) String() string { return *f.format }

// Type is what the help calls the value.
func (f *formatValue) Type() string { return "string" }

// printJSON writes v for machines and people alike: indented, and with < > & as they are.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// newTable is a table without a frame, so that a column can be copied from the screen.
func newTable(header ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Name = "paybook"
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(header)
	return t
}

// rightAligned are the columns whose amounts stand below each other, counted from 1.
func rightAligned(columns ...int) []table.ColumnConfig {
	list := make([]table.ColumnConfig, len(columns))
	for i, n := range columns {
		list[i] = table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	return list
}

// printTable writes a table, or the words that say why there is none. Its rule is no wider than the terminal: a longer one would fill
// several lines.
func printTable(w io.Writer, t table.Writer, empty string) error {
	if t.Length() == 0 {
		_, err := fmt.Fprintln(w, empty)
		return err
	}
	var b strings.Builder
	for line := range strings.Lines(t.Render() + "\n") {
		line = strings.TrimRight(line, " \n")
		if strings.Trim(line, "─") == "" {
			line = cutRule(line, widthOf(w))
		}
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell makes text from outside fit to be shown: what steers a terminal and what looks like a card number stays hidden.
func cell(s string) string {
	return digitRuns.ReplaceAllStringFunc(reconcile.Plain(s), maskCard)
}

var (
	digitRuns  = regexp.MustCompile(`\d{13,}`)
	cardPrefix = regexp.MustCompile(`^(4|5\d|2[2-7]|3[4-8]|6\d)`)
)

// maskCard hides the middle of a number that a card could have: 13 to 19 digits, a scheme's first digits, a right check digit.
func maskCard(digits string) string {
	if len(digits) > 19 || !cardPrefix.MatchString(digits) || !luhn(digits) {
		return digits
	}
	return digits[:6] + strings.Repeat("*", len(digits)-10) + digits[len(digits)-4:]
}

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
		}
		sum += d/10 + d%10
	}
	return sum%10 == 0
}

// paint colours words for a terminal and leaves them alone elsewhere.
type paint struct{ on bool }

// colours says whether results may be coloured: as --color has it, else on a terminal, unless NO_COLOR is set to something (no-color.org).
func (a *app) colours() paint {
	switch a.color {
	case "always", "never":
		return paint{on: a.color == "always"}
	}
	no, _ := a.env("NO_COLOR")
	return paint{on: no == "" && isTerminal(a.out)}
}

func (p paint) in(c text.Colors, s string) string {
	if !p.on || s == "" {
		return s
	}
	return c.Sprint(s)
}

func (p paint) good(s string) string { return p.in(text.Colors{text.FgGreen}, s) }
func (p paint) bad(s string) string  { return p.in(text.Colors{text.FgRed}, s) }
func (p paint) warn(s string) string { return p.in(text.Colors{text.FgYellow}, s) }
func (p paint) dim(s string) string  { return p.in(text.Colors{text.Faint}, s) }
func (p paint) bold(s string) string { return p.in(text.Colors{text.Bold}, s) }

func isTerminal(w io.Writer) bool { return terminalOf(w) != nil }

// terminalOf is the terminal behind a writer; nil when it is a file, a pipe or a test.
func terminalOf(w io.Writer) *os.File {
	if c, ok := w.(*checkedWriter); ok {
		w = c.w
	}
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}

// width is how many columns a result may have; 0: any number.
func (a *app) width() int { return widthOf(a.out) }

func widthOf(w io.Writer) int {
	if f := terminalOf(w); f != nil {
		return columnsOf(f)
	}
	return 0
}

// cutRule is a line of dashes that is at most width columns long; 0: as long as it is.
func cutRule(rule string, width int) string {
	dashes := []rune(rule)
	if width <= 0 || len(dashes) <= width {
		return rule
	}
	return string(dashes[:width])
}

// count is a number of things: 1 file, 2 files.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// printNext names the cursor of the next page on standard error: the list itself stays a list.
func (a *app) printNext(next string) {
	if next != "" {
		fmt.Fprintf(a.err, "next: --after '%s'\n", next)
	}
}

// dayBounds is the calendar day "2026-11-29" in zone; zero times for "".
func dayBounds(date string, zone *time.Location) (from, to time.Time, err error) {
	if date == "" {
		return from, to, nil
	}
	from, err = time.ParseInLocation(time.DateOnly, date, zone)
	if err != nil {
		return from, to, fmt.Errorf("--date %q: expected YYYY-MM-DD", date)
	}
	return from, from.AddDate(0, 0, 1), nil
}

// oneOf refuses a filter's word that nothing could ever match.
func oneOf[T ~string](flag, word string, known ...T) (T, error) {
	if word == "" {
		return "", nil
	}
	names := make([]string, len(known))
	for i, k := range known {
		if strings.EqualFold(word, string(k)) {
			return k, nil
		}
		names[i] = string(k)
	}
	return "", fmt.Errorf("%s %q: expected one of %s", flag, word, strings.Join(names, ", "))
}
