package reconcile

import (
	"bufio"
	"context"
	"io"
	"net/http"
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

// Fetcher is implemented by a provider whose statements can be downloaded from its own API. An account that was not given what it
// takes (a private key, an API key) has a provider of this kind all the same: the error then names the setting.
type Fetcher interface {
	// FetchStatement downloads what there is of one business day, and hands over each file under the name it shall be kept by, as it
	// came (packed, where the provider packs). date is the civil date at midnight UTC, now the time of asking. A *models.NotReady
	// (perhaps wrapped) means that the provider has not published it yet, or has nothing of that day and cannot tell the two apart:
	// try later. Any other error is final for this try. What the provider promises of a file (digest, signature) is checked before
	// FetchStatement returns nil; what save was given before an error must be thrown away. An error of save ends it.
	FetchStatement(ctx context.Context, client *http.Client, date, now time.Time, save func(name string, r io.Reader) error) error
}
