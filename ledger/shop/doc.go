// Package shop is the shop's own side of the book over HTTP: its back end makes orders, moves them, reads them and their stock, and asks
// for one-time tokens. Requests prove who sends them by an API key; what must count once comes under an Idempotency-Key.
//
// It knows HTTP and nothing of SQL: what is allowed, and what counts as the same request, is decided by package ledger.
package shop
