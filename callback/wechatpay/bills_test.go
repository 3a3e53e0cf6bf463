package wechatpay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
	"paybook/models"
)

// A bill of refunds has a payment's columns with the two times of the refund, and says nothing of payments.
func TestRefundBill(t *testing.T) {
	p := mustNew(t, nil)
	header := strings.Replace(allHeader, "微信退款单号", "退款申请时间,退款成功时间,微信退款单号", 1)
	done := strings.Replace(refund5, "`50300", "`2026-11-29 18:13:10,`2026-11-29 18:13:12,`50300", 1)
	begun := strings.Replace(refund3, "`50300", "`2026-11-29 19:00:00,`,`50300", 1)
	text := lines(header, done, begun, allSums, "`2,`0.00,`7.00,`1.00,`-0.05000,`0.00,`8.00")
	s, got, err := read(p, text)
	if err != nil || !s.Compared || !s.Totals || s.Only != models.Refund || len(got) != 2 {
		t.Fatalf("%+v, %d entries, %v", s, len(got), err)
	}
	for i, want := range []string{
		"refund 50300000002026112800000000031 4200000000202611280000000001 FC1 FCR31 5.00 CNY -0.03 CNY succeeded 2026-11-29T10:13:10Z",
		"refund 50300000002026112800000000032 4200000000202611280000000001 FC1 FCR32 3.00 CNY -0.02 CNY pending 2026-11-29T11:00:00Z",
	} {
		e := got[i]
		text := fmt.Sprintf("%s %s %s %s %s %s %s %s %s", e.Kind, e.TransactionID, e.ParentID, e.OrderID, e.RefundOrderID, e.Money, e.Fee, e.Status, e.OccurredAt.Format(time.RFC3339))
		if text != want {
			t.Errorf("entry %d\n got %s\nwant %s", i, text, want)
		}
	}
	for name, damaged := range map[string]string{
		"a row less": lines(header, done, allSums, "`2,`0.00,`7.00,`1.00,`-0.05000,`0.00,`8.00"), "no summary": lines(header, done, begun),
		"cut in the summary": lines(header, done, begun, allSums), "time cut": strings.Replace(text, "`2026-11-29 18:13:10", "`2026-11-29", 1),
	} {
		if fe := (*models.FileError)(nil); !errors.As(second(read(p, damaged)), &fe) {
			t.Errorf("%s: %v, want a FileError", name, fe)
		}
	}
}

func second(_ models.Statement, _ []models.Entry, err error) error { return err }

// The three accounts of a merchant (BASIC, OPERATION, FEES) have the same fund flow bill, and all movements that can be on them.
func TestFundFlowVariants(t *testing.T) {
	p := mustNew(t, nil)
	const (
		header = "记账时间,微信支付业务单号,资金流水单号,业务名称,业务类型,收支类型,收支金额(元),账户结余(元),资金变更提交申请人,备注,业务凭证号"
		sums   = "资金流水总笔数,收入笔数,收入金额,支出笔数,支出金额"
		in     = "`2026-11-28 10:00:00,`42001,`19001,`交易,`交易,`收入,`20.00,`120.00,`system,`结算总金额 20.00 元,含手续费 0.12 元,`FC1"
		fee    = "`2026-11-28 10:00:00,`42001,`19002,`扣除交易手续费,`扣除交易手续费,`支出,`0.12,`119.88,`system,`扣除交易手续费,`FC1"
		back   = "`2026-11-28 11:00:00,`50001,`19003,`退款,`退款,`支出,`4.97,`114.91,`1999999901API,`退款总金额5.00元;含手续费0.03元,`FCR1"
		drawn  = "`2026-11-28 12:00:00,`70001,`19004,`结算/提现,`提现,`支出,`100.00,`14.91,`system,`,`"
	)
	for name, text := range map[string]string{
		"fundflowbill_BASIC.csv":          lines(header, in, fee, back, drawn, sums, "`4,`1,`20.00,`3,`105.09"),
		"fundflowbill_OPERATION.csv":      lines(header, drawn, sums, "`1.0,`0.0,`0.00,`1.0,`100.00"),
		"fundflowbill_FEES.csv":           lines(header, fee, sums, "`1,`0,`0.00,`1,`0.12"),
		"a day without movements":         lines(header, sums, "`0,`0,`0.00,`0,`0.00"),
		"full-width, one more column":     lines(strings.NewReplacer("(", "（", ")", "）").Replace(header)+",新的一列", in+",`x", sums, "`1,`1,`20.00,`0,`0.00"),
		"BOM, CRLF, columns in any order": bom + strings.ReplaceAll(lines("收支金额(元),收支类型,资金流水单号,微信支付业务单号,记账时间", "`1.50,`收入,`1,`2,`2026-11-28 10:00:00", sums, "`1,`1,`1.50,`0,`0.00"), "\n", "\r\n"),
	} {
		s, got, err := read(p, text)
		for _, e := range got {
			want := models.Entry{Kind: models.Payout, TransactionID: "19004", Money: cny(10000), Status: models.StatusSucceeded, StatusText: "提现",
				OccurredAt: time.Date(2026, 11, 28, 4, 0, 0, 0, time.UTC), Line: e.Line}
			if !reflect.DeepEqual(e, want) {
				t.Errorf("%s: %+v, want %+v", name, e, want)
			}
		}
		if err != nil || s.Compared || !s.Totals || s.Title != "fund flow bill" || len(got) != strings.Count(text, "`提现") {
			t.Errorf("%s: %+v, %d entries, %v", name, s, len(got), err)
		}
	}
	for name, text := range map[string]string{
		"no summary": lines(header, in), "no figures": lines(header, in, sums), "another bill's summary": lines(header, in, allSums, threeSums),
		"a row cut": lines(header, in[:60], sums, "`1,`1,`20.00,`0,`0.00"), "no direction": lines(strings.Replace(header, "收支类型", "x", 1), in, sums, "`1,`1,`20.00,`0,`0.00"),
		"something behind": lines(header, in, sums, "`1,`1,`20.00,`0,`0.00", in), "counts less": lines(header, in, sums, "`0,`0,`20.00,`0,`0.00"),
	} {
		if fe := (*models.FileError)(nil); !errors.As(second(read(p, text)), &fe) {
			t.Errorf("%s: want a FileError", name)
		}
	}
}

// The answer that names a bill's digest, and answers that name none.
func TestDownloadAnswers(t *testing.T) {
	p := mustNew(t, nil)
	const digest = "7fc2c9dd9d2067d99281ac3dd07f0a5882694ea9"
	for text, want := range map[string]string{
		`{"hash_type":"SHA1","hash_value":"` + digest + `","download_url":"https://x.test/"}`: "",
		bom + ` {"hash_type":"SHA1","hash_value":"` + strings.ToUpper(digest) + `"}`:          "",
		`{"hash_type":"SHA1"}`:                                                  "SHA1",
		`{"hash_type":"SHA256","hash_value":"` + digest + `"}`:                  "SHA1",
		`{"hash_type":"SHA1","hash_value":"` + digest[:39] + `z"}`:              "SHA1",
		`{"hash_type":"SHA1","hash_value":"` + digest + `00"}`:                  "SHA1",
		`{"code":"NO_STATEMENT_EXIST","message":"账单文件不存在"}`:                     "NO_STATEMENT_EXIST",
		`{"code":"STATEMENT_CREATING"}`:                                         "STATEMENT_CREATING",
		`{"hash_type":"SHA1","hash_type":"SHA1","hash_value":"` + digest + `"}`: "twice",
		`{"hash_type":"SHA1","hash_value":"` + digest + `"}{}`:                  "JSON",
		`{"hash_type":"SHA1","x":"` + strings.Repeat("x", answerMax) + `"}`:     "JSON",
	} {
		s, _, err := read(p, text)
		switch fe := (*models.FileError)(nil); {
		case want == "" && (err != nil || s.Digest != "sha1:"+digest || s.Compared):
			t.Errorf("%.60s: %+v, %v; want the digest", text, s, err)
		case want != "" && (!errors.As(err, &fe) || !strings.Contains(err.Error(), want)):
			t.Errorf("%.60s: %v, want a FileError with %s", text, err, want)
		}
	}
}

// A bill that ends early is refused wherever it was cut: its summary is behind the rows.
func TestBillCutAnywhere(t *testing.T) {
	p := mustNew(t, nil)
	for _, file := range []string{"tradebill_ALL_2026-11-29.csv", "fundflowbill_BASIC_2026-11-29.csv"} {
		raw, err := os.ReadFile(filepath.Join(kit, "statements", file))
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.TrimRight(string(raw), "\r\n")
		for at := 0; at < len(whole); at += 7 {
			if _, _, err := read(p, whole[:at]); err == nil {
				t.Errorf("%s cut at byte %d of %d was taken for the whole", file, at, len(whole))
			}
		}
	}
}

func TestLongBillsNeedNoMemory(t *testing.T) {
	providertest.Flat(t, mustNew(t, nil), "bill.csv", providertest.Big{
		Head: allHeader + "\n",
		Row: func(i int) string {
			return strings.Replace(paid20, "4200000000202611280000000001", fmt.Sprintf("42%026d", i), 1) + "\n"
		},
		Tail: func(n int) string {
			return lines("总交易单数,订单总金额", fmt.Sprintf("`%d,`%d.00", n, 20*n))
		},
	})
}
