//go:build race

package ledger_test

// raced: the race detector looks at what runs side by side, and makes everything many times slower. What runs one after the other is
// told in every order without it, and in a share of the orders with it.
const raced = true
