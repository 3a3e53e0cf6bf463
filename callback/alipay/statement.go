package alipay

import (
	"bufio"
	"io"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// ReadStatement reads one file out of a bill's zip, told by its header and never by its name: the business bill's detail
// (业务明细, compared) and summary (业务汇总, whose figures the detail must keep), and the account bill (账务明细, checked only).
// Anything else is a *models.FileError that says what it is.
func (p *Provider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	buf := bufio.NewReaderSize(r, 64<<10)
	if err := parse.Sniff(name, buf); err != nil {
		return models.Statement{}, err
	}
	t, err := openTable(name, buf, zone)
	if err != nil {
		return models.Statement{}, err
	}
	read := t.reader(each)
	if read == nil {
		return models.Statement{}, t.refuse()
	}
	if err := t.checkPreamble(p.sellerID); err != nil {
		return models.Statement{}, err
	}
	s, err := read()
	if err != nil {
		return models.Statement{}, err
	}
	s.From, s.To = t.from, t.to
	return s, nil
}

// reader chooses by the columns that only one kind of bill has; the title helps when just those are missing.
func (t *table) reader(each func(models.Entry) error) func() (models.Statement, error) {
	titled := func(what string) bool { return strings.Contains(t.title, what) }
	has := func(name string) bool { return t.column(name) >= 0 }
	detail := func() (models.Statement, error) { return t.readDetail(each) }
	account := func() (models.Statement, error) { return t.readAccount(each) }
	switch {
	case has("收/支"), has("交易对方"), has("交易创建时间"): // the personal export, which has a 交易号 too
		return nil
	case has(paymentCount):
		return t.readSummary
	case has("账务流水号"):
		return account
	case has("支付宝交易号"):
		return detail
	case titled("业务汇总"):
		return t.readSummary
	case titled("账务汇总"):
		return t.readAccountSummary
	case titled("账务明细"):
		return account
	case titled("业务明细"):
		return detail
	}
	return nil
}

// lookAhead is how many lines may stand above the table of the personal export.
const lookAhead = 40

// refuse names what the file is, if it is what people often take for a bill.
func (t *table) refuse() error {
	line, header := t.line, t.text
	for more := true; more && t.line < line+lookAhead; {
		for _, word := range []string{"收/支", "交易对方", "支付宝交易记录明细", "电子客户回单"} {
			if strings.Contains(t.text, word) {
				return &models.FileError{File: t.file, Line: line, What: "the personal export of a payer's own transactions (交易记录明细), not a merchant's bill",
					Next: "download the bill (业务明细) from the merchant's account"}
			}
		}
		var err error
		if more, err = t.read(); err != nil {
			return err
		}
	}
	return &models.FileError{File: t.file, Line: line, What: "no bill of Alipay we know: neither 业务明细 nor 账务明细; its header is " + printable(header)}
}
