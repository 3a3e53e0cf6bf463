// Package source brings statements from where providers leave them (SFTP, S3-compatible storage, their own APIs, a folder) into an
// archive, from which the daily run then reads. A place is reached only as it is configured; what it sends is bounded, gets a name that
// is safe on any disk, and is either there as a whole or not at all.
package source

import (
	"context"
	"errors"
	"io"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

// Remote is a place that statements can be fetched from.
type Remote interface {
	// String names the place for people and in the archive, without anything secret. The same configuration gives the same name.
	String() string
	// Fetch shows save every file that the place has of the day. A *models.NotReady (perhaps wrapped) means that there is none yet. What
	// save was shown before an error counts for nothing; an error of save ends it.
	Fetch(ctx context.Context, day reconcile.Day, now time.Time, save Save) error
	// Check proves that the place can be reached and lets us in, and fetches nothing.
	Check(ctx context.Context) error
}

// Save takes one file. It opens the file unless its mark says that this very version is archived already.
type Save func(File) error

// File is a file that a place has.
type File struct {
	Name string // as the place calls it: it may be any text
	Mark string // what tells this version from another without a download; "": nothing does
	Open func() (io.ReadCloser, error)
}

// Limits of one look at a place. Ten million rows are about two gigabytes.
const (
	BytesMax = 8 << 30          // of one file, unless configured otherwise
	filesMax = 200              // of one day
	TimeMax  = 30 * time.Minute // for all of a day's files
)

// missing says whether an error only means that there is nothing yet.
func missing(err error) bool {
	return errors.As(err, new(*models.NotReady)) || errors.As(err, new(*reconcile.NoFileError))
}
