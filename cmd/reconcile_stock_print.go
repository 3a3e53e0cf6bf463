package cmd

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

func (a *app) printStock(format string, lines []*stockLine) error {
	switch format {
	case "json":
		return printJSON(a.out, lines)
	case "csv":
		return writeStockCSV(a.out, lines)
	}
	t := newTable("sku", "quantity", "reserved", "sold", "available", "queued", "redis", "result")
	colours := a.colours()
	for _, l := range lines {
		result := colours.good(l.Result)
		if l.Result != "equal" {
			result = colours.warn(l.Result) + ": " + cell(l.Reason)
		}
		if l.Repair != "" {
			done := "to repair, say --repair=apply"
			if l.Repaired {
				done = "repaired"
			}
			result += " (" + done + ": " + l.Repair + ")"
		}
		t.AppendRow([]any{cell(l.SKU), l.Quantity, l.Reserved, l.Sold, l.Available, l.Queued, figureText(l.Redis), result})
	}
	return printTable(a.out, t, "no stock: give the units of each article with app import stock FILE")
}

func figureText(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func writeStockCSV(to io.Writer, lines []*stockLine) error {
	w := csv.NewWriter(to)
	_ = w.Write([]string{"sku", "quantity", "available", "reserved", "orders_reserved", "queued", "sold", "orders_sold", "redis", "result", "reason", "repair", "repaired"}) // Error tells
	for _, l := range lines {
		row := []string{csvText(l.SKU)}
		for _, n := range []int64{l.Quantity, l.Available, l.Reserved, l.OrdersReserved, l.Queued, l.Sold, l.OrdersSold} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		_ = w.Write(append(row, figureText(l.Redis), l.Result, l.Reason, l.Repair, strconv.FormatBool(l.Repaired)))
	}
	w.Flush()
	return w.Error()
}

// csvText keeps a spreadsheet from taking a name for a formula.
func csvText(s string) string {
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return cell(s)
}
