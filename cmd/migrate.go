package cmd

import "github.com/spf13/cobra"

func newMigrateCommand(a *app) *cobra.Command { return &cobra.Command{Use: "migrate"} }
