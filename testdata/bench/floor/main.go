// Command floor measures how long PostgreSQL takes to hand over an account's rows of a day in order of time, by COPY and to nobody: no
// daily run can be quicker than that, so that it is what one is measured by.
//
//	floor -database postgres://… -account day -from 2026-11-29T00:00:00+08:00
//
// It prints the seconds, and on standard error how many rows there were.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

func main() {
	database := flag.String("database", "", "PostgreSQL `URL`")
	account := flag.String("account", "day", "whose rows")
	from := flag.String("from", "2026-11-29T00:00:00+08:00", "when the day begins, RFC 3339; it has 24 hours")
	flag.Parse()
	if err := run(context.Background(), *database, *account, *from); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, database, account, begins string) error {
	from, err := time.Parse(time.RFC3339, begins)
	if err != nil {
		return fmt.Errorf("-from: %w", err)
	}
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // the rows are read by then
	name, err := conn.PgConn().EscapeString(account)
	if err != nil {
		return err
	}
	const columns = "transaction_id, kind, amount_minor, currency, status, outcome, occurred_at"
	query := fmt.Sprintf("COPY (SELECT %s FROM transactions WHERE account = '%s' AND occurred_at >= '%s' AND occurred_at < '%s' ORDER BY occurred_at) TO STDOUT",
		columns, name, from.Format(time.RFC3339), from.Add(24*time.Hour).Format(time.RFC3339))
	start := time.Now()
	tag, err := conn.PgConn().CopyTo(ctx, io.Discard, query)
	if err != nil {
		return err
	}
	fmt.Printf("%.2f\n", time.Since(start).Seconds())
	fmt.Fprintf(os.Stderr, "floor    %d rows handed over in %.2f s\n", tag.RowsAffected(), time.Since(start).Seconds())
	return nil
}
