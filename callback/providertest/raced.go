//go:build race

package providertest

// slower is how much longer everything may take under the race detector.
const slower = 20
