package models

import "time"

// Run is one reconciliation of one account and day.
type Run struct {
	ID            string `gorm:"primaryKey"`
	Account       string
	Provider      string
	Date          string // business day, YYYY-MM-DD in TimeZone
	TimeZone      string
	Result        RunResult
	Files         []RunFile `gorm:"serializer:json"`
	Entries       int64     // rows read from compared files
	ControlTotals string    // agree, or none when the file has none
	Report        string    // the whole report as JSON, as it was printed
	Fingerprint   string    // hash of all that the run found: an equal one means that nothing new was learnt
	CreatedAt     time.Time `gorm:"serializer:utc;autoCreateTime:false"`
}

// RunFile is one file a run has read.
type RunFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // of the file as it lies on the disk
}

// RunResult is how a run ended.
type RunResult string

// Results of runs.
const (
	Balanced RunResult = "balanced"
	Gapped   RunResult = "gaps"
)
