package cmd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/models"
)

func newImportStockCommand(a *app) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "stock FILE",
		Short: "Set the units owned of each article from a JSON or CSV file",
		Long: "Set the units owned of each article.\n\n" + importHelp + `

Columns: sku, quantity (whole units owned in all, those sold and those reserved by unpaid orders among them). What may still be
ordered is quantity − sold − reserved; a quantity that would make that negative is refused. An article that the file does not name is
left as it is.

` + exitCodesHelp,
		Example: "  app import stock stock.csv",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			o.file = args[0]
			return a.importStock(c.Context(), o)
		},
	}
	formatFlag(c, &o.format, "text", "json")
	return c
}

func (a *app) importStock(ctx context.Context, o importOptions) error {
	rows, closeFile, err := a.openRows(o.file, stockColumns)
	if err != nil {
		return err
	}
	defer closeFile()
	book, err := a.openBook(ctx)
	if err != nil {
		return err
	}
	defer book.Close()

	reader := &stockReader{file: fileName(o.file), rows: rows, lines: map[string]int{}}
	result, err := importAll(a, reader.read, rows, func(seq iter.Seq2[models.Stock, error]) (int, error) { return book.ImportStock(ctx, seq) })
	if err != nil {
		return reader.place(err)
	}
	if o.format == "json" {
		return printJSON(a.out, result)
	}
	_, err = fmt.Fprintf(a.out, "stock: %d new or changed, %d as they were\n", result.New, result.Rows-result.New)
	return err
}

// stockReader makes stock of rows, and remembers where each SKU stood last.
type stockReader struct {
	file  string
	rows  rowReader
	lines map[string]int
}

func (r *stockReader) read() (models.Stock, error) {
	sku, err := readID(r.rows, "sku")
	if err != nil {
		return models.Stock{}, err
	}
	if sku == "" {
		return models.Stock{}, r.rows.Fail("sku", "empty")
	}
	text := r.rows.Get("quantity")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || text[0] == '+' {
		return models.Stock{}, r.rows.Fail("quantity", "%q: a whole number of units expected, 0 or more", text)
	}
	r.lines[sku] = r.rows.Line()
	return models.Stock{SKU: sku, Quantity: n}, nil
}

// place adds file and row to what the book says of one SKU.
func (r *stockReader) place(err error) error {
	var conflict *ledger.StockConflict
	if !errors.As(err, &conflict) {
		return err
	}
	return &models.FileError{File: r.file, Line: r.lines[conflict.SKU], What: conflict.Error(), Next: "correct the file; nothing of it was imported"}
}
