package models

import "time"

// Stock is one article's units. What may still be ordered is Available; the database refuses a row that would make it negative.
type Stock struct {
	SKU       string `gorm:"primaryKey"`
	Quantity  int64  // units owned in all
	Reserved  int64  // held by orders that are not paid
	Sold      int64
	UpdatedAt time.Time `gorm:"serializer:utc;autoUpdateTime:false"`
}

// TableName is what operators will query: the word has no plural.
func (Stock) TableName() string { return "stock" }

// Available is what may still be ordered.
func (s Stock) Available() int64 { return s.Quantity - s.Reserved - s.Sold }

// Item is what one order takes from stock.
type Item struct {
	OrderID  string `gorm:"primaryKey"`
	SKU      string `gorm:"primaryKey"`
	Quantity int64  // units, at least 1
}

// StockState is what became of the units an order's items name.
type StockState string

// An order's units are reserved when it is made, sold when it is paid, and released once, when it closes.
const (
	StockNone     StockState = ""
	StockReserved StockState = "reserved"
	StockSold     StockState = "sold"
	StockReleased StockState = "released"
)
