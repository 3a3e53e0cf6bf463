//go:build race

package reconcile_test

// raced: under the race detector, which makes everything many times slower, what runs one after the other is told in fewer variants.
const raced = true
