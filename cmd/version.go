package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version and commit can be set by the linker: -ldflags "-X paybook/cmd.version=v1.2.3 -X paybook/cmd.commit=…". Without it
// the build information that the Go tool stamps into the executable is used.
var version, commit string

// build is what `app version` prints.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"` // built from a tree with changes that are not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func programVersion() build {
	b := build{Version: version, Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.fill(info)
	}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	if b.Commit == "" {
		b.Commit = "unknown"
	}
	return b
}

// fill takes what the linker was not told.
func (b *build) fill(info *debug.BuildInfo) {
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
}

func (b build) String() string {
	text := b.Version + " (commit " + b.Commit
	if b.Modified {
		text += ", modified"
	}
	return text + ", " + b.Go + ", " + b.Platform + ")"
}

func newVersionCommand(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the commit and the Go version of this executable",
		Long:    "Print the version, the commit and the Go version of this executable.\n\n" + exitCodesHelp,
		Example: "  app version\n  app version --format json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if format == "json" {
				return printJSON(a.out, programVersion())
			}
			_, err := fmt.Fprintln(a.out, "app "+programVersion().String())
			return err
		},
	}
	formatFlag(c, &format, "text", "json")
	return c
}
