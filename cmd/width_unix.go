//go:build unix

package cmd

import (
	"os"

	"golang.org/x/sys/unix"
)

// columnsOf is how wide a terminal is; 0 when it does not say.
func columnsOf(terminal *os.File) int {
	size, err := unix.IoctlGetWinsize(int(terminal.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
