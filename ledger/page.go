package ledger

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Page asks for a part of a list, newest first.
type Page struct {
	Limit int    // 0: 100
	After string // the cursor of the page before; "": from the newest
}

const pageMax = 10_000

func (p Page) limit() int {
	if p.Limit <= 0 {
		return 100
	}
	return min(p.Limit, pageMax)
}

// cursor names a place in a list by time and id: ids alone have no order of time.
func cursor(at time.Time, id string) string { return strconv.FormatInt(at.UnixMicro(), 10) + "~" + id }

// page adds the keyset condition, the order and the limit, with one row more than asked for, which says whether there is more.
func (b *builder) page(p Page, at, id string) error {
	if p.After != "" {
		micro, last, ok := strings.Cut(p.After, "~")
		n, err := strconv.ParseInt(micro, 10, 64)
		if !ok || err != nil {
			return fmt.Errorf("--after %q is not a cursor that a list has printed", p.After)
		}
		t := time.UnixMicro(n).UTC()
		b.add(" AND (" + at + " < ").arg(t).add(" OR " + at + " = ").arg(t).add(" AND " + id + " < ").arg(last).add(")")
	}
	b.add(" ORDER BY " + at + " DESC, " + id + " DESC LIMIT ").arg(p.limit() + 1)
	return nil
}

// cutPage is a list without the row that was read beyond the page, and the cursor of the next page; "" at the end.
func cutPage[T any](p Page, list []T, cursorOf func(last *T) string) (page []T, next string) {
	if len(list) <= p.limit() {
		return list, ""
	}
	page = list[:p.limit()]
	return page, cursorOf(&page[len(page)-1])
}
