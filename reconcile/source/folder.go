package source

import (
	"context"
	"fmt"
	"os"
	"time"

	"paybook/reconcile"
)

// folder is the account's patterns on our own disk, as a place whose files are kept in the archive too.
type folder struct{ reconcile.Source }

// folderName is the same wherever the folder lies: a folder that was moved is no other source.
const folderName = "folder"

func (folder) String() string { return folderName }

// Fetch implements Remote.
func (f folder) Fetch(ctx context.Context, day reconcile.Day, _ time.Time, save Save) error {
	files, err := f.Source(ctx, day)
	if err != nil {
		return err
	}
	for _, file := range files {
		mark := ""
		if info, err := os.Stat(file.Name); err == nil {
			mark = fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
		}
		if err := save(File{Name: file.Name, Mark: mark, Open: file.Open}); err != nil {
			return err
		}
	}
	return nil
}

// Check implements Remote. The doctor looks at folders itself.
func (folder) Check(context.Context) error { return nil }
