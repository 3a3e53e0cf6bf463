package wechatpay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1" //nolint:gosec // the provider's digest of a bill; where the bill is, and what it hashes to, is told under its signature
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"paybook/callback/ask"
	"paybook/callback/parse"
	"paybook/models"
)

// notThere are the answers that a bill before its hour is told by. A day without trade is told in the same word, so that it is not
// taken for one.
var notThere = map[string]bool{"NO_STATEMENT_EXIST": true, "STATEMENT_CREATING": true}

// FetchStatement downloads the trade bill of a day: where it is and its SHA-1 stand in a signed answer, the bill itself is not signed.
// WeChat Pay makes it from 09:00 Beijing time of the next day on.
func (p *Provider) FetchStatement(ctx context.Context, client *http.Client, date, now time.Time, save func(name string, r io.Reader) error) error {
	if err := p.canAsk(); err != nil {
		return err
	}
	zone, cut := p.Calendar()
	if _, _, err := ask.Day(zone, cut, date, now); err != nil {
		return err
	}
	link, digest, err := p.whereIsBill(ctx, client, date, now)
	if err != nil {
		return err
	}
	req, err := p.request(ctx, link, now)
	if err != nil {
		return err
	}
	file, err := ask.Download(client, req, ask.FileMax)
	if err != nil {
		return err
	}
	err = saveBill(file, date, digest, save)
	return errors.Join(err, file.Close())
}

// whereIsBill asks for the address of a bill, and for its digest.
func (p *Provider) whereIsBill(ctx context.Context, client *http.Client, date, now time.Time) (link *url.URL, digest string, err error) {
	u, err := p.target("/v3/bill/tradebill", url.Values{"bill_date": {date.Format(time.DateOnly)}, "bill_type": {"ALL"}, "tar_type": {"GZIP"}})
	if err != nil {
		return nil, "", err
	}
	answer, _, err := p.get(ctx, client, u, now)
	if err != nil {
		return nil, "", err
	}
	if code := said(answer); notThere[code] {
		return nil, "", &models.NotReady{What: fmt.Sprintf("the bill of %s (%s)", date.Format(time.DateOnly), code)}
	}
	if err := answer.OK(said(answer)); err != nil {
		return nil, "", err
	}
	st, err := readAnswer(answer.Host, bytes.NewReader(answer.Body))
	if err != nil {
		return nil, "", err
	}
	doc, err := parse.JSON(answer.Body)
	if err != nil {
		return nil, "", err
	}
	link, err = ask.Link(p.api.base, p.Hosts(), doc.Get("download_url").String())
	return link, st.Digest, err
}

// saveBill hands over a bill that hashes to what was promised. The digest is of the unpacked bill.
func saveBill(file *ask.File, date time.Time, digest string, save func(string, io.Reader) error) error {
	name := "tradebill_ALL_" + date.Format(time.DateOnly) + ".csv"
	src := bufio.NewReader(file.Reader())
	plain := io.Reader(src)
	if head, _ := src.Peek(2); string(head) == "\x1f\x8b" {
		name += ".gz"
		unpacked, err := gzip.NewReader(src)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		plain = unpacked
	}
	hash := sha1.New() //nolint:gosec // see the import
	n, err := io.Copy(hash, io.LimitReader(plain, ask.FileMax+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: cannot be unpacked: %w", name, err)
	case n > ask.FileMax:
		return fmt.Errorf("%s: unpacks to more than %d bytes", name, int64(ask.FileMax))
	}
	if got := "sha1:" + hex.EncodeToString(hash.Sum(nil)); got != digest {
		return fmt.Errorf("%s: its digest is %s, the provider promised %s: it was cut or changed on the way; it is not kept", name, got, digest)
	}
	return save(name, file.Reader())
}
