// Command pgserver runs a throw-away PostgreSQL for a benchmark, on disk and with fsync on, until it gets SIGINT or SIGTERM.
//
//	go run ./testdata/bench/pgserver -out bench-out/pg.env textbook callbacks
//
// It makes the databases named behind the flags and writes, when all is ready, a file for the shell to source: NAME_url='…' each.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"

	"paybook/ledger/ledgertest"
)

// conf keeps checkpoints out of a run of some minutes; everything that makes a commit durable stays as it is delivered.
var conf = map[string]string{"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "30min"}

func main() {
	out := flag.String("out", "pg.env", "file to write the URLs to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pgserver:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, out string, databases []string) error {
	if len(databases) == 0 {
		return errors.New("name at least one database")
	}
	server, err := ledgertest.Start(ledgertest.Options{Durable: true, TCP: true, Conf: conf})
	if err != nil {
		return err
	}
	defer server.Stop()
	var env bytes.Buffer
	for _, name := range databases {
		if err := create(ctx, server.TCP("postgres"), name); err != nil {
			return err
		}
		fmt.Fprintf(&env, "%s_url='%s'\n", name, server.TCP(name))
	}
	if err := os.WriteFile(out+".new", env.Bytes(), 0o600); err != nil {
		return err
	}
	if err := os.Rename(out+".new", out); err != nil { // whoever waits for the file finds all of it
		return err
	}
	<-ctx.Done()
	return nil
}

func create(ctx context.Context, url, name string) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "CREATE DATABASE "+name)
	return err
}
