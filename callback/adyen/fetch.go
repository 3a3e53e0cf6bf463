package adyen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"paybook/callback/ask"
	"paybook/models"
)

const (
	lookBack = 40             // batches that are looked at for one day, from the newest down
	patience = 48 * time.Hour // after the day, until a merchant account without a batch is no longer waited for
)

// FetchStatement downloads the settlement details reports of the batches that closed on a day, by the account's zone. Reports are
// numbered, not dated: so the newest is looked for by number, and read for when it closed. Each is read to its end, where its sums
// prove it whole, before it is handed over. A day on which no batch closed is not there yet, for ever.
func (p *Provider) FetchStatement(ctx context.Context, client *http.Client, date, now time.Time, save func(name string, r io.Reader) error) (err error) {
	if err := p.reports.canAsk(); err != nil {
		return err
	}
	zone, cut := p.Calendar()
	_, to, err := ask.Day(zone, cut, date, now)
	if err != nil {
		return err
	}
	var all []*batchFile
	defer func() {
		for _, f := range all {
			err = errors.Join(err, f.Close())
		}
	}()
	for _, account := range slices.Sorted(maps.Keys(p.reports.first)) {
		s := search{p: p, client: client, account: account, date: date}
		found, err := s.batchesOf(ctx)
		all = append(all, found...)
		if err != nil {
			return err
		}
		if len(found) == 0 && !s.sawLater && now.Before(to.Add(patience)) {
			return &models.NotReady{What: fmt.Sprintf("a batch of %s that closed on %s", account, date.Format(time.DateOnly))}
		}
	}
	if all == nil {
		return &models.NotReady{What: "a batch that closed on " + date.Format(time.DateOnly)}
	}
	for _, f := range all {
		if err := save(f.name(len(p.reports.first) > 1), f.Reader()); err != nil {
			return err
		}
	}
	return nil
}

// batchFile is the report of one batch.
type batchFile struct {
	*ask.File
	account  string
	number   int
	closedOn string // YYYY-MM-DD in the account's zone
}

func reportName(number int) string {
	return fmt.Sprintf("settlement_detail_report_batch_%d.csv", number)
}

// name tells the merchant account where there is more than one: they count alike.
func (f *batchFile) name(several bool) string {
	if !several {
		return reportName(f.number)
	}
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, f.account)
	return strings.TrimSuffix(reportName(f.number), ".csv") + "_" + plain + ".csv"
}

// search looks for the batches of one merchant account that closed on a day.
type search struct {
	p        *Provider
	client   *http.Client
	account  string
	date     time.Time
	sawLater bool // a batch that closed after the day: none of the day will come any more
}

// batchesOf goes down from the newest batch to the first that closed before the day. They are in the order of their numbers.
func (s *search) batchesOf(ctx context.Context) (found []*batchFile, err error) {
	newest, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	day := s.date.Format(time.DateOnly)
	for number := newest; number >= s.p.reports.first[s.account] && number > newest-lookBack; number-- {
		f, err := s.download(ctx, number)
		switch {
		case err != nil:
			return found, err
		case f == nil: // a number that was left out
		case f.closedOn == day:
			found = slices.Insert(found, 0, f)
		case f.closedOn < day:
			return found, f.Close()
		default:
			s.sawLater = true
			if err := f.Close(); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// newest finds the highest number there is a report of, in few questions: first in steps that double, then by halves.
func (s *search) newest(ctx context.Context) (int, error) {
	first := s.p.reports.first[s.account]
	there, err := s.exists(ctx, first)
	if err != nil || !there {
		if err == nil {
			err = fmt.Errorf("%s has no report of batch %d of %s: correct settings.report_batches.%[3]s", s.p.reports.base.Host, first, s.account)
		}
		return 0, err
	}
	step := 1
	for ; there; step *= 2 {
		if there, err = s.exists(ctx, first+step); err != nil {
			return 0, err
		}
	}
	low, high := first+step/4, first+step/2 // low is there, high is not
	for high-low > 1 {
		middle := low + (high-low)/2
		if there, err = s.exists(ctx, middle); err != nil {
			return 0, err
		}
		if there {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// absent are the statuses of a report that is not there.
var absent = []int{http.StatusNotFound, http.StatusUnprocessableEntity}

// exists says whether there is a report of that number or of the next: one may be left out.
func (s *search) exists(ctx context.Context, number int) (bool, error) {
	for n := number; n <= number+1; n++ {
		there, err := s.report(ctx, n)
		if err != nil || there {
			return there, err
		}
	}
	return false, nil
}

func (s *search) report(ctx context.Context, number int) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := s.p.reports.request(ctx, s.account, reportName(number))
	if err != nil {
		return false, err
	}
	return ask.Exists(s.client, req, absent...)
}

// download fetches a report and reads it: for its faults, and for when its batch closed, which is when its last row was written. nil
// is a number without a report.
func (s *search) download(ctx context.Context, number int) (*batchFile, error) {
	req, err := s.p.reports.request(ctx, s.account, reportName(number))
	if err != nil {
		return nil, err
	}
	file, err := ask.Download(s.client, req, ask.FileMax)
	if refused := (*ask.StatusError)(nil); errors.As(err, &refused) && slices.Contains(absent, refused.Status) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	zone, err := location(s.p.timeZone)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	var last time.Time
	st, err := s.p.ReadStatement(reportName(number), file.Reader(), zone, func(e models.Entry) error {
		if e.OccurredAt.After(last) {
			last = e.OccurredAt
		}
		return nil
	})
	if err == nil && !st.Compared {
		err = fmt.Errorf("%s: a %s, not a settlement details report", reportName(number), st.Title)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &batchFile{file, s.account, number, last.In(zone).Format(time.DateOnly)}, nil
}
