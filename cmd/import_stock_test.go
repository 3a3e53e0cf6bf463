package cmd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/ledger/shop"
	"paybook/models"
)

// Stock comes from a CSV or JSON file, again and again, and is shown with the orders it is in.
func TestImportStock(t *testing.T) {
	s := newShell(t)
	csv := s.file("stock.csv", "sku,quantity,note,source\nA-1,5,shelf 3,count\nB/2,0,,\nA-1,5,again,\n")
	for _, want := range []string{"stock: 2 new or changed, 1 as they were\n", "stock: 0 new or changed, 3 as they were\n"} {
		if got := s.ok("import", "stock", csv); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var got imported
	s.stdin = `[{"sku":"A-1","quantity":9},{"sku":"C","quantity":"9223372036854775807"}]`
	s.json(&got, "import", "stock", "-")
	if got.Rows != 2 || got.New != 2 {
		t.Errorf("imported %+v", got)
	}
	book := s.book()
	o := ledger.NewOrder{Order: models.Order{OrderID: "O1", AmountMinor: 100, Currency: "CNY"}, Items: []models.Item{{SKU: "C", Quantity: 2}, {SKU: "A-1", Quantity: 4}}}
	if _, err := book.CreateOrder(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s.fails([]string{"new.csv: row 3: SKU A-1 is given with 3 units, but 0 are sold and 4 reserved: at least 4 expected", "nothing of it was imported"},
		"import", "stock", s.file("new.csv", "sku,quantity\nB/2,7\nA-1,3\n"))
	for sku, want := range map[string]int64{"A-1": 5, "B/2": 0} {
		if row, err := book.Stock(t.Context(), sku); err != nil || row.Available() != want {
			t.Errorf("%+v %v", row, err)
		}
	}
	shown := s.ok("orders", "show", "O1", "--format", "json")
	var h shop.HistoryJSON
	if decode(t, shown, &h); h.Stock != models.StockReserved || fmt.Sprint(h.Items) != "[{A-1 4} {C 2}]" {
		t.Errorf("shown: %s", shown)
	}
	if text := s.ok("orders", "show", "O1"); !strings.Contains(text, "items, reserved") || !strings.Contains(text, "A-1") {
		t.Errorf("shown: %s", text)
	}
	s.ok("import", "orders", s.file("o.csv", "order_id,amount,currency\nO2,1.00,CNY\n"))
	if shown := s.ok("orders", "show", "O2", "--format", "json"); strings.Contains(shown, "items") || strings.Contains(shown, "stock") {
		t.Errorf("an order without items shows some: %s", shown)
	}
}

func TestImportStockAllOrNothing(t *testing.T) {
	s := newShell(t)
	const header = "sku,quantity\nA,5\n"
	for text, want := range map[string][]string{
		"":                                   {"in.csv", "empty"},
		"sku,quantity,price\nA,1,1\n":        {"in.csv: row 1: column price", "unknown; the columns are sku, quantity"},
		"sku\nA\n":                           {"column quantity", "no such column"},
		header + ",1\n":                      {"in.csv: row 3: column sku", "empty"},
		header + "4.2E+27,1\n":               {"row 3: column sku", "rounded number"},
		header + "B,\n":                      {"row 3: column quantity", `""`, "0 or more"},
		header + "B,-1\n":                    {"row 3: column quantity", `"-1"`, "a whole number"},
		header + "B,+1\n":                    {"row 3: column quantity"},
		header + "B,1.0\n":                   {"row 3: column quantity"},
		header + "B,1e2\n":                   {"row 3: column quantity"},
		header + "B,9223372036854775808\n":   {"row 3: column quantity"},
		header + "B,\"1,000\"\n":             {"row 3: column quantity"},
		header + "B,1\nA,6\n":                {"in.csv: row 4: SKU A is given twice, with 5 and 6 units", "nothing of it was imported"},
		`[{"sku":"A","quantity":5},{}]`:      {"row 2: column"},
		`[{"sku":"A","quantity":1.5}]`:       {"row 1: column quantity"},
		`[{"sku":"A","quantity":null}]`:      {"row 1: column quantity"},
		`[{"sku":"A","quantity":[1]}]`:       {"row 1: column quantity", "text or a number"},
		`[{"sku":"A","quantity":1,"x":"y"}]`: {"row 1: column x", "unknown"},
	} {
		s.fails(want, "import", "stock", s.file("in.csv", text))
	}
	s.fails([]string{"no such file"}, "import", "stock", "nowhere.csv")
	s.fails([]string{"FILE is missing"}, "import", "stock")
	if _, err := s.book().Stock(t.Context(), "A"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a failed import left something: %v", err)
	}
}

// book opens the shell's book beside the commands.
func (s *shell) book() *ledger.Ledger {
	s.t.Helper()
	return ledgertest.Open(s.t, s.global[3])
}
