package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// envLang is the language of reports where neither --lang nor reports.lang says it.
const envLang = "APP_LANG"

// lookFlags are about how results look to people. Every command has them, as every table has colours and every gap a reason.
func (a *app) lookFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&a.lang, "lang", "", "`LANGUAGE` of what finance reads: en or zh (default: reports.lang, APP_LANG, en); JSON is English always")
	flags.StringVar(&a.color, "color", "auto", "`WHEN` to colour results: auto (on a terminal, unless NO_COLOR is set), always or never")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "no progress on standard error")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.checkLook() }
}

// checkLook refuses words of the flags before any work is done.
func (a *app) checkLook() error {
	if _, err := oneOf("--color", a.color, "auto", "always", "never"); err != nil {
		return err
	}
	if a.lang == "" {
		return nil
	}
	if _, err := lang.Parse(a.lang); err != nil {
		return fmt.Errorf("--lang: %w", err)
	}
	return nil
}

// language is the one of --lang, else the configuration's.
func (a *app) language() lang.Language {
	if l, err := lang.Parse(a.lang); err == nil {
		return l
	}
	if c, err := a.config(); err == nil {
		return c.Lang
	}
	return lang.English
}

// look is how a report on standard output looks.
func (a *app) look() reconcile.Look {
	return reconcile.Look{Lang: a.language(), Color: a.colours().on, Width: a.width()}
}

// heads are the headings of a table for people.
func (a *app) heads(names ...string) []any {
	l := a.language()
	heads := make([]any, len(names))
	for i, name := range names {
		heads[i] = l.Text(name)
	}
	return heads
}

// readReports takes APP_REPORTS_LANG, as for every key, else the file, else APP_LANG, which may be what the system makes of a language.
func readReports(s *section) lang.Language {
	reports := s.object("reports", "lang")
	fallback, _ := s.r.lookUp(envLang)
	text := reports.text("lang", fallback)
	if text == "" {
		return lang.English
	}
	l, err := lang.Parse(text)
	switch {
	case err == nil:
	case text != fallback:
		reports.fail("lang", "%v", err)
	case s.r.err() == nil:
		*s.r.first = fmt.Errorf("environment %s: %w", envLang, err)
	}
	return l
}
