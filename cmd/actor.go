package cmd

import (
	"fmt"
	"os/user"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// envUser names who is at work, where the system's user does not: in a container, or for a job.
const envUser = "APP_USER"

// asFlag adds --as.
func asFlag(c *cobra.Command, as *string) {
	c.Flags().StringVar(as, "as", "", "whose word this is, a `NAME` (or APP_USER; default: the operating system's user)")
}

// actor is whose word a command is: --as, else APP_USER, else the operating system's user. Nobody is asked to prove it.
func (a *app) actor(as string) (string, error) {
	name, from := strings.TrimSpace(as), "--as"
	if name == "" {
		text, _ := a.env(envUser)
		name, from = strings.TrimSpace(text), envUser
	}
	if name == "" {
		from = "the operating system's user"
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	switch {
	case name == "":
		return "", fmt.Errorf("who are you? say --as NAME, or set %s", envUser)
	case len(name) > 100 || strings.ContainsFunc(name, unicode.IsControl):
		return "", fmt.Errorf("%s: a name of at most 100 bytes expected, without control characters", from)
	}
	return name, nil
}
