// Package testdata is the test kit as a part of the program, so that `app demo` works from any folder: made-up accounts, recorded
// callbacks, native statements, and what must come of them. Private keys, which only tests that sign need, stay outside.
package testdata

import (
	"embed"
	"os"
)

// Kit is the kit as it lies in this folder. The pattern of the keys leaves out *.TEST_ONLY.pem, the private ones.
//
//go:embed app.yaml presets.yaml closing.json bank/*.xml bank/*.sta */config.json */orders.json */callbacks */statements
//go:embed */local_records.json */seed_transactions.json */expected_reconciliation.json
//go:embed */keys/*[a-z0-9].pem */keys/*.cer */keys/*.crt */certs/*
var Kit embed.FS

// Unpack writes the kit to a folder: providers read their keys from files.
func Unpack(dir string) error { return os.CopyFS(dir, Kit) }
