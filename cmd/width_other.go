//go:build !unix

package cmd

import "os"

// columnsOf is how wide a terminal is; 0 when it does not say.
func columnsOf(*os.File) int { return 0 }
