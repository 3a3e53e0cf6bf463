package cmd

import "github.com/spf13/cobra"

func newServeCommand(a *app) *cobra.Command { return &cobra.Command{Use: "serve"} }
