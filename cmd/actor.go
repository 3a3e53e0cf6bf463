package cmd

import (
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"paybook/ledger"
)

// envUser names the person who types, for the audit log, where nobody says it by --as.
const envUser = "APP_USER"

// actorMax is how long a person's name may be, in characters.
const actorMax = 100

// actorFlag adds --as to a command that changes something in a person's name.
func actorFlag(c *cobra.Command, as *string) {
	c.Flags().StringVar(as, "as", "", "your `NAME` in the audit log (or "+envUser+"; default: the operating system's user)")
}

// actor is whose name a change is made in.
func (a *app) actor(as string) (string, error) {
	if as != "" {
		return actorName("--as", as)
	}
	if name, _ := a.env(envUser); name != "" {
		return actorName(envUser, name)
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return actorName("the operating system's user", u.Username)
	}
	for _, variable := range []string{"USER", "LOGNAME", "USERNAME"} {
		if name, _ := a.env(variable); name != "" {
			return actorName(variable, name)
		}
	}
	return "", errors.New("the operating system does not say who you are: name yourself by --as or " + envUser)
}

// actorName refuses what would make the log unreadable, and the names of those who are no persons.
func actorName(from, name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "" || !utf8.ValidString(name) || utf8.RuneCountInString(name) > actorMax || strings.ContainsFunc(name, unseen):
		return "", fmt.Errorf("%s: a name of up to %d characters on one line expected", from, actorMax)
	case slices.ContainsFunc(ledger.NoPersons, func(taken string) bool { return strings.EqualFold(taken, name) }):
		return "", fmt.Errorf("%s %q: the audit log calls by this name what no person does; name yourself otherwise", from, name)
	}
	return name, nil
}

func unseen(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) }
