package models

import "time"

// Archive is one statement file that was kept as it came: named by its hash, so that a corrected file is a further row beside the first.
type Archive struct {
	Account string `gorm:"primaryKey"`
	Date    string `gorm:"primaryKey"` // business day it was fetched for, YYYY-MM-DD
	SHA256  string `gorm:"primaryKey;column:sha256"`
	Name    string // as the source calls it, made fit to be a file's name
	Bytes   int64
	Source  string // where it was seen last, without anything secret: "sftp reports@example.com:22"
	// Mark is what the source tells of this version of the file without a download (size and time, or ETag); "": nothing.
	Mark      string
	FetchedAt time.Time `gorm:"serializer:utc"`
	SeenAt    time.Time `gorm:"serializer:utc"` // when the source showed it last: what it shows now are the files with its newest time
}

// Fetch is how far the scheduled run of one account and day has come.
type Fetch struct {
	Account string    `gorm:"primaryKey"`
	Date    string    `gorm:"primaryKey"` // business day, YYYY-MM-DD
	Tries   int64     // so far
	TriedAt time.Time `gorm:"serializer:utc"` // last
	Problem string    // why the last try made no run; "" when it made one
}
