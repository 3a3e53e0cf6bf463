// Floor measures how long PostgreSQL takes to hand over an account's rows in order of time, which no daily run can be quicker than.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

func main() {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, os.Args[1])
	if err != nil {
		panic(err)
	}
	for _, q := range os.Args[2:] {
		began := time.Now()
		tag, err := conn.PgConn().CopyTo(ctx, io.Discard, q)
		fmt.Printf("%6.2fs %d %v  %s\n", time.Since(began).Seconds(), tag.RowsAffected(), err, q)
	}
}
