package stripe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"paybook/callback/ask"
	"paybook/callback/parse"
	"paybook/models"
)

// attemptsMax is how often a report that Stripe failed to make is asked for anew in one day.
const attemptsMax = 3

// FetchStatement has the day's reports made and downloads them. Making one takes minutes: it is asked for under a key that is the same
// each time, so that who comes back later finds the same one instead of having it made again. The day is cut by settings.report_timezone,
// at midnight.
func (p *Provider) FetchStatement(ctx context.Context, client *http.Client, date, now time.Time, save func(name string, r io.Reader) error) error {
	if err := p.canAsk(); err != nil {
		return err
	}
	zone, cut := p.Calendar()
	from, to, err := ask.Day(zone, cut, date, now)
	if err != nil {
		return err
	}
	for _, report := range p.api.reports {
		o := reportOrder{p: p, client: client, report: report, from: from, to: to}
		if err := o.fetch(ctx, date, save); err != nil {
			return fmt.Errorf("%s: %w", report, err)
		}
	}
	return nil
}

// reportOrder is a report that is to be made: of what kind, and from when to when.
type reportOrder struct {
	p        *Provider
	client   *http.Client
	report   string
	from, to time.Time
}

func (o reportOrder) fetch(ctx context.Context, date time.Time, save func(string, io.Reader) error) error {
	if err := o.dataIsThere(ctx); err != nil {
		return err
	}
	run, err := o.run(ctx)
	if err != nil {
		return err
	}
	if err := o.check(run); err != nil {
		return err
	}
	file, err := o.download(ctx, run.Get("result"))
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(o.report, ".", "_") + "_" + date.Format(time.DateOnly) + ".csv"
	return errors.Join(save(name, file.Reader()), file.Close())
}

// dataIsThere asks until when Stripe has the data of this kind of report: it is prepared twice a day. A report that reaches beyond is
// refused, and the refusal would stand for a day.
func (o reportOrder) dataIsThere(ctx context.Context) error {
	_, kind, err := o.p.get(ctx, o.client, "/v1/reporting/report_types/"+url.PathEscape(o.report), nil)
	if err != nil {
		return err
	}
	end, err := strconv.ParseInt(kind.Get("data_available_end").Number(), 10, 64)
	if err != nil {
		return errors.New("data_available_end: unix seconds expected")
	}
	if end < o.to.Unix() {
		return &models.NotReady{What: fmt.Sprintf("the data up to %s; Stripe has it up to %s", o.to.Format(time.RFC3339), time.Unix(end, 0).UTC().Format(time.RFC3339))}
	}
	return nil
}

// run has the report made, or finds the one that was asked for before.
func (o reportOrder) run(ctx context.Context) (parse.Value, error) {
	form := o.form()
	for attempt := range attemptsMax {
		hash := sha256.Sum256(fmt.Appendf(nil, "%s#%d", form.Encode(), attempt))
		req, err := o.p.request(ctx, "/v1/reporting/report_runs", nil, form, "paybook-"+hex.EncodeToString(hash[:16]))
		if err != nil {
			return parse.Value{}, err
		}
		_, run, err := o.p.call(o.client, req)
		if err != nil {
			return parse.Value{}, err
		}
		run, err = o.wait(ctx, run)
		if err != nil || run.Get("status").String() != "failed" {
			return run, err
		}
	}
	return parse.Value{}, fmt.Errorf("the report failed at Stripe %d times: look at it in the dashboard, and ask again tomorrow", attemptsMax)
}

// itemColumns are what the reader of itemized reports goes by; other reports come with the columns that Stripe chooses.
var itemColumns = []string{"balance_transaction_id", "created_utc", "source_id", "reporting_category", "currency", "gross", "fee", "net",
	"customer_facing_amount", "customer_facing_currency", "charge_id", "payment_intent_id", "automatic_payout_id"}

func (o reportOrder) form() url.Values {
	form := url.Values{
		"report_type": {o.report}, "parameters[timezone]": {o.p.timeZone},
		"parameters[interval_start]": {strconv.FormatInt(o.from.Unix(), 10)}, "parameters[interval_end]": {strconv.FormatInt(o.to.Unix(), 10)},
	}
	if strings.HasPrefix(o.report, "balance_change_from_activity.itemized") || strings.HasPrefix(o.report, "payout_reconciliation.itemized") {
		form["parameters[columns][]"] = append(append([]string{}, itemColumns...), "payment_metadata["+o.p.metadataKey+"]", "refund_metadata[refund_order_id]")
	}
	return form
}

// wait looks for the report until it is made, or it is time to leave it for later.
func (o reportOrder) wait(ctx context.Context, run parse.Value) (parse.Value, error) {
	id := idOf(run.Get("id"))
	if id == "" {
		return run, errors.New("the report run has no id")
	}
	for range pollsMax {
		switch status := run.Get("status").String(); status {
		case "succeeded", "failed":
			return run, nil
		case "pending":
		default:
			return run, fmt.Errorf("report run %s: status %q is a word we do not know", clip(id), clip(status))
		}
		select {
		case <-ctx.Done():
			return run, ctx.Err()
		case <-time.After(o.p.api.poll):
		}
		var err error
		if _, run, err = o.p.get(ctx, o.client, "/v1/reporting/report_runs/"+url.PathEscape(id), nil); err != nil {
			return run, err
		}
	}
	return run, &models.NotReady{What: "report run " + clip(id) + ", which Stripe is still making"}
}

// check holds what was made against what was asked for.
func (o reportOrder) check(run parse.Value) error {
	live, told := run.Get("livemode").Bool()
	switch {
	case o.p.livemode != nil && (!told || live != *o.p.livemode):
		return fmt.Errorf("the report is not of the mode that settings.livemode says (livemode %t)", live)
	case run.Get("report_type").String() != o.report,
		run.Get("parameters", "interval_start").Number() != strconv.FormatInt(o.from.Unix(), 10),
		run.Get("parameters", "interval_end").Number() != strconv.FormatInt(o.to.Unix(), 10):
		return errors.New("the report that was made is of another kind or day than asked for; it is not kept")
	}
	return nil
}

// download takes the key along, and so goes to the account's hosts only. No digest is told, but the size is.
func (o reportOrder) download(ctx context.Context, result parse.Value) (*ask.File, error) {
	link, err := ask.Link(o.p.api.base, o.p.Hosts(), result.Get("url").String())
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+o.p.api.key)
	file, err := ask.Download(o.client, req, ask.FileMax)
	if err != nil {
		return nil, err
	}
	if size := result.Get("size").Number(); size != "" && size != strconv.FormatInt(file.Size, 10) {
		return nil, errors.Join(fmt.Errorf("the file has %d bytes, Stripe promised %s: it was cut or changed on the way; it is not kept", file.Size, size), file.Close())
	}
	return file, nil
}
