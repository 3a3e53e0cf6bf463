//go:build !race

package providertest

const slower = 1
