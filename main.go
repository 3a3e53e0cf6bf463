// Command app receives payment callbacks, keeps the book they make, and compares it every day with what the providers say.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // business days need zones, also in an image that has none

	"paybook/cmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal asks, a second one ends at once
	os.Exit(cmd.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
