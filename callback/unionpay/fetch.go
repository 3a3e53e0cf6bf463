package unionpay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"paybook/callback/ask"
	"paybook/models"
)

// FetchStatement downloads the files of a settlement day: a signed answer that carries them, which is kept as it came, so that whoever
// reads it later can prove it anew. UnionPay has them from about 09:00 Beijing time of the next morning on. It tells a day without
// transactions and one whose files are not there yet by the same code.
func (p *Provider) FetchStatement(ctx context.Context, client *http.Client, date, now time.Time, save func(name string, r io.Reader) error) error {
	if err := p.canAsk(); err != nil {
		return err
	}
	zone, cut := p.Calendar()
	if _, _, err := ask.Day(zone, cut, date, now); err != nil {
		return err
	}
	question := form{"txnType": "76", "txnSubType": "01", "fileType": "00", "settleDate": date.Format(dayLayout), "txnTime": momentOf(now)}
	answer, f, err := p.call(ctx, client, p.api.files.String()+"/", question, answerMax)
	switch {
	case err != nil:
		return err
	case f["respCode"] == "98":
		return &models.NotReady{What: fmt.Sprintf("the files of settlement day %s (respCode 98)", date.Format(time.DateOnly))}
	case f["respCode"] != "00":
		return failure(answer.Host, f)
	}
	for _, field := range []string{"settleDate", "txnTime"} {
		if f[field] != question[field] {
			return fmt.Errorf("%s: the answer's %s is %q, asked was %s; it is not kept", answer.Host, field, clip(f[field]), question[field])
		}
	}
	name := fmt.Sprintf("%s_%s.txt", p.merID, date.Format("20060102"))
	if err := p.checkFiles(name, answer.Body); err != nil {
		return err
	}
	return save(name, bytes.NewReader(answer.Body))
}

// checkFiles proves the answer and unpacks what it carries.
func (p *Provider) checkFiles(name string, body []byte) error {
	content, err := p.Unwrap(name, bufio.NewReader(bytes.NewReader(body)))
	if err == nil && content == nil {
		err = errors.New("no answer of UnionPay's file transfer")
	}
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	if err := ask.CheckZip(bytes.NewReader(raw), int64(len(raw)), func(string) error { return nil }); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
