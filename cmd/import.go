package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
)

func newImportCommand(a *app) *cobra.Command {
	return newGroup("import", "Bring in what the shop has: its orders, the transactions it knows of, its stock",
		newImportOrdersCommand(a), newImportTransactionsCommand(a), newImportStockCommand(a))
}

type importOptions struct {
	file    string // "-": standard input
	account string
	format  string
}

const importHelp = `FILE is a JSON array of objects or a CSV with a header; which one is seen by its content, and - is standard input. All or nothing: one
bad row, and nothing is written. The same file can be imported again.`

func newImportOrdersCommand(a *app) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "orders FILE",
		Short: "Create orders from a JSON or CSV file",
		Long: "Create orders.\n\n" + importHelp + `

Columns: order_id, amount (major units: 19.99), currency; optional status (default unpaid) and expires_at (RFC 3339; without it the
order never expires). Callbacks that came before their order are applied to it at once.

` + exitCodesHelp,
		Example: "  app import orders testdata/wechatpay/orders.json",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			o.file = args[0]
			return a.importOrders(c.Context(), o)
		},
	}
	formatFlag(c, &o.format, "text", "json")
	return c
}

func newImportTransactionsCommand(a *app) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "transactions FILE",
		Short: "Book payments, refunds and chargebacks from a JSON or CSV file",
		Long: "Book the transactions a shop already knows of. They move their orders as callbacks would; the shop is not told.\n\n" + importHelp + `

Columns: account (or --account; may be left out when only one is configured), kind, transaction_id, parent_id, refund_order_id,
order_id, amount, currency, status, occurred_at. A time without an offset is the account's local time.

  kind     payment refund chargeback (or dispute) payout refund_reversal chargeback_reversal
           (a reversal's transaction_id is the id of the refund or chargeback that it takes back)
  status   succeeded (paid), pending (processing, requested, abnormal), authorised, failed, closed;
           a refund also reversed; a chargeback open, lost, won

` + exitCodesHelp,
		Example: "  app import transactions --account wechatpay testdata/wechatpay/seed_transactions.json --config testdata/app.yaml",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			o.file = args[0]
			return a.importTransactions(c.Context(), o)
		},
	}
	formatFlag(c, &o.format, "text", "json")
	c.Flags().StringVar(&o.account, "account", "", "the account of every row")
	return c
}

// imported is what an import prints: rows read, rows that were new, and what became of the transactions.
type imported struct {
	Rows     int                    `json:"rows"`
	New      int                    `json:"new"`
	Outcomes map[models.Outcome]int `json:"outcomes,omitempty"`
}

func (a *app) importOrders(ctx context.Context, o importOptions) error {
	rows, closeFile, err := a.openRows(o.file, orderColumns)
	if err != nil {
		return err
	}
	defer closeFile()
	book, err := a.openBook(ctx)
	if err != nil {
		return err
	}
	defer book.Close()

	reader := &orderReader{file: fileName(o.file), rows: rows}
	result, err := importAll(a, reader.read, rows, func(seq iter.Seq2[models.Order, error]) (int, error) { return book.ImportOrders(ctx, seq) })
	if err != nil {
		return reader.place(err)
	}
	return a.printImported("orders", o.format, result)
}

func (a *app) importTransactions(ctx context.Context, o importOptions) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	rows, closeFile, err := a.openRows(o.file, transactionColumns)
	if err != nil {
		return err
	}
	defer closeFile()
	reader, err := newTransactionReader(c, o.account, fileName(o.file), rows)
	if err != nil {
		return err
	}
	book, err := a.openBook(ctx)
	if err != nil {
		return err
	}
	defer book.Close()

	var outcomes map[models.Outcome]int
	result, err := importAll(a, reader.read, rows, func(seq iter.Seq2[ledger.Import, error]) (int, error) {
		var err error
		outcomes, err = book.ImportTransactions(ctx, reader.reversalsLast(seq))
		fresh := 0
		for outcome, n := range outcomes {
			if outcome != models.OutcomeDuplicate {
				fresh += n
			}
		}
		return fresh, err
	})
	if err != nil {
		return err
	}
	result.Outcomes = outcomes
	return a.printImported("transactions", o.format, result)
}

// importAll streams a file's rows into the book and counts them; the first bad row ends it.
func importAll[T any](a *app, read func() (T, error), rows rowReader, book func(iter.Seq2[T, error]) (int, error)) (imported, error) {
	var result imported
	progress := a.progress("import")
	defer progress.done()
	fresh, err := book(func(yield func(T, error) bool) {
		for {
			more, err := rows.Next()
			if !more && err == nil {
				return
			}
			var v T
			if err == nil {
				v, err = read()
			}
			if !yield(v, err) || err != nil {
				return
			}
			result.Rows++
			progress.tick(reconcile.Progress{Rows: int64(result.Rows)})
		}
	})
	result.New = fresh
	return result, err
}

func (a *app) printImported(what, format string, result imported) error {
	if format == "json" {
		return printJSON(a.out, result)
	}
	line := fmt.Sprintf("%s: %d new, %d already here", what, result.New, result.Rows-result.New)
	var odd []string
	for _, outcome := range allOutcomes {
		if n := result.Outcomes[outcome]; n > 0 && outcome != models.OutcomeApplied && outcome != models.OutcomeDuplicate {
			odd = append(odd, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	if len(odd) > 0 {
		line += "; of these " + strings.Join(odd, ", ")
	}
	_, err := fmt.Fprintln(a.out, line)
	return err
}

// openFile opens FILE, or standard input for "-".
func (a *app) openFile(file string) (r io.Reader, closeFile func(), err error) {
	if file == "-" {
		return a.in, func() {}, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close()
		return nil, nil, errors.New(file + ": a folder, a JSON or CSV file expected")
	}
	return f, func() { _ = f.Close() }, nil
}

// fileName is what errors call FILE.
func fileName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}
