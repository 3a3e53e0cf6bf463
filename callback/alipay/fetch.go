package alipay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"paybook/callback/ask"
	"paybook/models"
)

// FetchStatement downloads the bill of a day, a zip. Where it is stands in a signed answer and is good for 30 s; the zip is not signed,
// and no digest of it is told, so all that can be checked is that it is whole and of that day. Alipay makes it from about 09:00 Beijing
// time of the next day on; a day without trade has none, and is told like one whose bill is not there yet.
func (p *Provider) FetchStatement(ctx context.Context, client *http.Client, date, now time.Time, save func(name string, r io.Reader) error) error {
	if err := p.canAsk(); err != nil {
		return err
	}
	zone, cut := p.Calendar()
	if _, _, err := ask.Day(zone, cut, date, now); err != nil {
		return err
	}
	question := map[string]any{"bill_type": p.api.billType, "bill_date": date.Format(time.DateOnly)}
	_, answer, err := p.call(ctx, client, "alipay.data.dataservice.bill.downloadurl.query", question, now)
	if err != nil {
		return err
	}
	if sub := answer.Get("sub_code").String(); notThere(sub) {
		return &models.NotReady{What: fmt.Sprintf("the bill of %s (%s)", date.Format(time.DateOnly), clip(sub))}
	}
	if err := p.failed(answer); err != nil {
		return err
	}
	link, err := ask.Link(p.api.base, p.Hosts(), answer.Get("bill_download_url").String())
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link.String(), nil)
	if err != nil {
		return err
	}
	file, err := ask.Download(client, req, ask.FileMax)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s_%s.csv.zip", p.sellerID, date.Format("20060102"))
	if err = checkZip(file, date); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	} else {
		err = save(name, file.Reader())
	}
	return errors.Join(err, file.Close())
}

// notThere knows the spellings of one answer: pages and gateways differ in what stands before it.
func notThere(sub string) bool {
	sub = strings.ToUpper(sub)
	return strings.HasSuffix(sub, "BILL_NOT_EXIST") || strings.HasSuffix(sub, "NO_BILL_DATA")
}

var dateInName = regexp.MustCompile(`_(20\d{6})[_.]`)

// checkZip holds the names inside against the day.
func checkZip(file *ask.File, date time.Time) error {
	return ask.CheckZip(file, file.Size, func(name string) error {
		if found := dateInName.FindStringSubmatch(name); found != nil && found[1] != date.Format("20060102") {
			return fmt.Errorf("holds a bill of %s, asked for was %s; it is not kept", found[1], date.Format(time.DateOnly))
		}
		return nil
	})
}
