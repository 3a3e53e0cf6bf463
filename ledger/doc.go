// Package ledger is the book: what providers told us, the orders it moved, and what daily runs found. All SQL of the product is
// here. ("Ledger" is the book of what providers said, not double-entry accounting.)
//
// There is one way in: Record (callbacks), with ImportTransactions and a run's repair going through the same engine (book.go,
// place.go). Whatever is decided about an order is decided while its row is locked, and written with the old status and
// version in the WHERE clause.
package ledger
