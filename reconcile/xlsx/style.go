package xlsx

import (
	"strings"

	"github.com/xuri/excelize/v2"
)

// Formats of numbers that every spreadsheet knows by their number.
const (
	formatWhole = 1  // 0
	formatText  = 49 // @
)

func amountStyle(digits int) string { return "0." + strings.Repeat("0", digits) }

func (b *workbook) styled(style string, value any) (cell excelize.Cell) {
	b.do(func() (err error) {
		cell.Value = value
		cell.StyleID, err = b.style(style)
		return err
	})
	return cell
}

// style makes each style once. A name that is none of the fixed ones is an amount's: "0.00" has two decimals.
func (b *workbook) style(name string) (int, error) {
	if id, made := b.styles[name]; made {
		return id, nil
	}
	day, amount := "yyyy-mm-dd", strings.TrimSuffix("#,##"+name, ".")
	style := map[string]*excelize.Style{
		"head":   {Font: &excelize.Font{Bold: true}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"DDE3EA"}}},
		"title":  {Font: &excelize.Font{Bold: true, Size: 14}},
		"text":   {NumFmt: formatText},
		"number": {NumFmt: formatWhole},
		"day":    {CustomNumFmt: &day},
	}[name]
	if style == nil {
		style = &excelize.Style{CustomNumFmt: &amount}
	}
	id, err := b.file.NewStyle(style)
	b.styles[name] = id
	return id, err
}
