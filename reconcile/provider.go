package reconcile

import (
	"bufio"
	"io"
	"time"

	"paybook/models"
)

// Provider is what a payment provider must know for its statements to be read.
type Provider interface {
	// Name is the provider's name in the configuration.
	Name() string
	// Calendar is the provider's own business day: its time zone (IANA name) and when the day begins, as an offset from local
	// midnight (negative: the evening before). The account's time_zone and day_cut override it.
	Calendar() (zone string, cut time.Duration)
	// ReadStatement reads one native file, already unpacked, and hands over its entries in the file's order, without loading it
	// whole. It finds columns by header, checks merchant and control totals, and returns a *models.FileError with the place for
	// whatever it cannot use; entries handed over before an error are thrown away by the caller. Times without an offset are of zone.
	ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error)
}

// Unwrapper is implemented by a provider whose statements may also lie inside an answer of its API.
type Unwrapper interface {
	// Unwrap returns what such an answer carries, once it is proven to come from the provider where it is signed; the content may be
	// packed, and is looked at like any file. It returns nil, with nothing read beyond a Peek, for a file that is no such answer, and a
	// *models.FileError for an answer that cannot be used. What it carries is held in memory, so it is bounded.
	Unwrap(name string, src *bufio.Reader) (io.Reader, error)
}

// BatchSettler is implemented by a provider whose statements are settlement batches: numbered instead of dated, with rows of any day.
type BatchSettler interface{ SettlesInBatches() bool }
