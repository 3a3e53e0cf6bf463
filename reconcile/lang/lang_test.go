package lang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"paybook/models"
)

// TestSamePlaces: a translation takes what the English takes, each once, and of kinds that there are.
func TestSamePlaces(t *testing.T) {
	for _, s := range sentences {
		english, chinese := placeName.FindAllString(s.english, -1), placeName.FindAllString(s.chinese, -1)
		slices.Sort(english)
		slices.Sort(chinese)
		if !slices.Equal(english, chinese) || len(slices.Compact(english)) != len(chinese) {
			t.Errorf("%q takes %v, %q takes %v", s.english, english, s.chinese, chinese)
		}
		for _, place := range english {
			if places[placeName.FindStringSubmatch(place)[1]] == "" {
				t.Errorf("%q: there is no place %s", s.english, place)
			}
		}
	}
	verb := regexp.MustCompile(`%[a-z0-9.]`)
	for english, chinese := range labels {
		if !slices.Equal(verb.FindAllString(english, -1), verb.FindAllString(chinese, -1)) {
			t.Errorf("%q takes other arguments than %q", chinese, english)
		}
	}
}

// TestNothingIsLost: filled with what stands there in truth, each sentence comes out in Chinese, with all that it was filled with.
func TestNothingIsLost(t *testing.T) {
	fill := map[string]string{"money": "-20.00 CNY", "date": "2026-11-28", "n": "7", "word": "payment", "title": "a trade bill",
		"text": `O-1; "x" of this payment 订单`, "name": "b.csv", "rows": "b.csv, row 7 and row 9", "more": "paid 1.00 CNY, the order is 2.00 CNY"}
	for _, s := range sentences {
		english := placeName.ReplaceAllStringFunc(s.english, func(place string) string { return fill[placeName.FindStringSubmatch(place)[1]] })
		got := Chinese.Sentence(english)
		if got == english || English.Sentence(english) != english {
			t.Errorf("%q stays as it is", english)
		}
		for _, place := range placeName.FindAllString(s.english, -1) {
			name := placeName.FindStringSubmatch(place)[1]
			kept := map[string]string{"word": "支付", "title": "交易账单", "rows": "b.csv、第 7 行和第 9 行", "more": "实付 1.00 CNY，订单金额 2.00 CNY"}[name]
			if kept == "" {
				kept = fill[name]
			}
			if !strings.Contains(got, kept) {
				t.Errorf("%q became %q, without %q", english, got, kept)
			}
		}
	}
}

// TestSentences are whole ones, as gaps have them.
func TestSentences(t *testing.T) {
	for english, want := range map[string]string{
		"bill; a.csv, row 7 has this payment of 20.00 CNY, the book does not: its callback never arrived or was refused; of the same order the book has p; 2, which the statement does not have":                                                                                                  "bill; a.csv 第 7 行有这笔 20.00 CNY 的支付，账簿没有：回调从未到达，或被拒收；同一订单账簿有 p; 2，而账单没有",
		"the statement says 1.00 CNY, the book 2.00 CNY; the statement calls it failed, the book succeeded":                                                                                                                                                                                       "账单为 1.00 CNY，账簿为 2.00 CNY；账单的状态为失败，账簿的状态为成功",
		"the statement contradicts itself about this returned refund: b.csv, row 7 says 20.00 CNY succeeded for order O1, row 9 says 21.00 CNY pending and 3 more":                                                                                                                                "账单对这笔退回的退款自相矛盾：b.csv、第 7 行为 20.00 CNY 成功，订单 O1、第 9 行为 21.00 CNY 处理中等，另有 3 行",
		`statement and book agree, but the order A 1 of this payment is not known: order "A 1" is not known`:                                                                                                                                                                                      `账单与账簿一致，但这笔支付的订单 A 1 不存在：订单 "A 1" 不存在`,
		"statement and book agree, but the refund does not fit its order: order O1 is closed; asked for 5.00 CNY, refunded 4.00 CNY":                                                                                                                                                              "账单与账簿一致，但这笔退款与其订单不合：订单 O1 的状态为已关闭；申请退款 5.00 CNY，实退 4.00 CNY",
		"the bank has 9.50 EUR for payout po 1 of stripe, 10.00 EUR on 2026-11-28; payout po2 of stripe, 1.00 EUR on 2026-11-28: b.csv, row 3 (2026-11-29, 9.00 EUR, REF); b.csv, row 4 (2026-11-29, 0.50 EUR); that is 1.50 EUR less than was paid out, which is the charge that the bank names": "银行为 stripe 的出款 po 1（2026-11-28，10.00 EUR）；stripe 的出款 po2（2026-11-28，1.00 EUR） 入账 9.50 EUR：b.csv 第 3 行（2026-11-29，9.00 EUR，REF）；b.csv 第 4 行（2026-11-29，0.50 EUR）；比出款少 1.50 EUR，正是银行所列的费用",
		"payout po1 of stripe, 10.00 EUR on 2026-11-28 has not come to main yet; it may come until 2026-12-02, and the statements of these days have still to be read: 2026-11-29, 2026-11-30":                                                                                                    "stripe 的出款 po1（2026-11-28，10.00 EUR）尚未到 main；最迟 2026-12-02 到账，这些日期的对账单尚待读取：2026-11-29, 2026-11-30",
		"something new": "something new", "paid 1.00 CNY, the order is 2.00 CNY; something new": "paid 1.00 CNY, the order is 2.00 CNY; something new", "": "",
	} {
		if got := Chinese.Sentence(english); got != want {
			t.Errorf("%q\n is %q\nwant %q", english, got, want)
		}
	}
}

// TestEverySentenceIsHere: of what the code says in several words, every piece between two values stands in the catalogue.
func TestEverySentenceIsHere(t *testing.T) {
	var catalogue strings.Builder
	for _, s := range sentences {
		catalogue.WriteString(placeName.ReplaceAllString(s.english, "\x00") + "\x01")
	}
	files, err := filepath.Glob("../*.go")
	ofBank, bankErr := filepath.Glob("../bank/*.go")
	if files = append(files, ofBank...); err != nil || bankErr != nil || len(files) == 0 {
		t.Fatal(files, err, bankErr)
	}
	verb, apart := regexp.MustCompile(`%[a-z]`), regexp.MustCompile(`^[;,: ()]+|[;,: ()]+$`)
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, text := range said(t, file) {
			for _, piece := range verb.Split(text, -1) {
				piece = strings.TrimPrefix(apart.ReplaceAllString(piece, ""), "s ") // of a plural
				if strings.Count(piece, " ") < 2 || strings.HasPrefix(piece, "app ") || strings.HasPrefix(piece, "--") {
					continue
				}
				if found++; !strings.Contains(catalogue.String(), piece) {
					t.Errorf("%s: no Chinese for %q", file, piece)
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("%d pieces found only", found)
	}
}

// TestEveryLabelIsHere: of what is written on reports for people, every heading and every line.
func TestEveryLabelIsHere(t *testing.T) {
	found := 0
	check := func(where, label string) {
		found++
		if labels[label] == "" && words[label] == "" {
			t.Errorf("%s: no Chinese for the label %q", where, label)
		}
	}
	for _, pattern := range []string{"../*.go", "../html/*.go", "../xlsx/*.go", "../../cmd/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				for _, label := range labelled(t, file) {
					check(file, label)
				}
			}
		}
	}
	markup, err := os.ReadFile("../html/page.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`[{(]t "([^"]*)"`).FindAllSubmatch(markup, -1) {
		check("page.html", string(m[1]))
	}
	if found < 100 {
		t.Errorf("%d labels found only", found)
	}
}

// labelled are the texts in calls of what translates its arguments as labels.
func labelled(t *testing.T, path string) (list []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Text", "table", "block", "heads"}, f.Sel.Name) {
			return true
		}
		for i, arg := range call.Args {
			literal, ok := arg.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || f.Sel.Name == "Text" && i > 0 {
				continue
			}
			if text, _ := strconv.Unquote(literal.Value); text != "" {
				list = append(list, text)
			}
		}
		return true
	})
	return list
}

// said are the texts of a file that become reasons and notes: all of a words file, those of functions that are named for it, what is
// handed to a run's note, and the names of remainders.
func said(t *testing.T, path string) (list []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	all := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, _ := strconv.Unquote(literal.Value)
				list = append(list, text)
			}
			return true
		})
	}
	if strings.HasPrefix(filepath.Base(path), "words") {
		all(file)
		return list
	}
	named := regexp.MustCompile(`(?i)reason|notes$`)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if named.MatchString(n.Name.Name) {
				all(n)
				return false
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "note" && len(n.Args) > 0 {
				all(n.Args[0])
			}
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "append" && len(n.Args) > 1 {
				if to, ok := n.Args[0].(*ast.SelectorExpr); ok && strings.EqualFold(to.Sel.Name, "notes") {
					all(n.Args[1])
				}
			}
		case *ast.ValueSpec:
			if strings.HasPrefix(n.Names[0].Name, "remainder") {
				all(n)
			}
		}
		return true
	})
	return list
}

// TestEveryWordIsHere: what a report prints of kinds, states and statuses has its Chinese.
func TestEveryWordIsHere(t *testing.T) {
	for _, word := range []string{
		string(models.Payment), string(models.Refund), string(models.Chargeback), string(models.Payout), string(models.RefundReversal),
		string(models.ChargebackReversal), string(models.EntryFee), string(models.EntryConversion), string(models.EntryAdjustment),
		string(models.EntryReserve), string(models.StatusPending), string(models.StatusAuthorised), string(models.StatusSucceeded),
		string(models.StatusFailed), string(models.StatusClosed), string(models.StatusReversed), string(models.Unpaid), string(models.Paying),
		string(models.Paid), string(models.Shipped), string(models.PartRefunded), string(models.Refunded), string(models.Closed),
		string(models.Disputed), string(models.ChargedBack), string(models.GapMissingLocal), string(models.GapMissingProvider),
		string(models.GapAmount), string(models.GapCurrency), string(models.GapStatus), string(models.GapDuplicateEntry), string(models.GapConflict),
		string(models.GapUnknownOrder), string(models.GapPaidAfterClose), string(models.GapDuplicatePayment), string(models.GapNotAllowed),
		string(models.GapWrongDay), string(models.GapUnknownStatus), string(models.GapFee), string(models.GapPayout), string(models.GapBankMissing),
		string(models.GapBankUnexpected), string(models.GapOpen), string(models.GapCarried), string(models.GapResolved),
	} {
		if words[word] == "" {
			t.Errorf("no Chinese for the word %q", word)
		}
		if English.Word(word) != word {
			t.Errorf("in English %q is %q", word, English.Word(word))
		}
	}
}

func TestParse(t *testing.T) {
	for name, want := range map[string]Language{"en": English, "EN-us": English, "zh": Chinese, "zh-CN": Chinese, "zh_CN.UTF-8": Chinese, "zh-Hans": Chinese} {
		if got, err := Parse(name); got != want || err != nil {
			t.Errorf("Parse(%q) = %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "de", "chinese", "z"} {
		if _, err := Parse(name); err == nil || !strings.Contains(err.Error(), "en or zh expected") {
			t.Errorf("Parse(%q): %v", name, err)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{"1 row": English.Count(1, "row"), "0 rows": English.Count(0, "row"), "2 行": Chinese.Count(2, "row"), "2 cows": Chinese.Count(2, "cow")} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
