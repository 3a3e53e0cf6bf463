package generic

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

const exprBody = `{"id":8389765929445198309,"amount":12.30,"fee":"0.30","zero":0,"one":1.0,"huge":1e99,"status":"PAID","note":"shop order ORD-7, thanks",
 "tags":["a","b"],"lines":[{"type":"fee","sum":0.10},{"type":"total","sum":0.20}],"inner":"{\"order\":{\"id\":9007199254740993}}","null":null,"yes":true}`

func exprRequest(body string) *request {
	return &request{cb: models.Callback{Body: []byte(body), Query: "q=1&q=2&data.id=D9", Headers: http.Header{"X-Event-Id": {"e1"}}}}
}

func TestExpressions(t *testing.T) {
	for text, want := range map[string]string{
		`body.id`:                                           "8389765929445198309",
		`body.amount`:                                       "12.30",
		`body.amount + 0`:                                   "12.3",
		`body.amount - number(body.fee)`:                    "12",
		`body.lines[0].sum + body.lines[1].sum`:             "0.3", // as floats 0.30000000000000004
		`body.amount * 3`:                                   "36.9",
		`-body.amount`:                                      "-12.3",
		`body.id + 1`:                                       "8389765929445198310",
		`body.zero == 0 and body.one == 1`:                  "true",
		`body.id == 8389765929445198310`:                    "false",
		`body.id == 8389765929445198309`:                    "true",
		`body.amount >= number("12.30") ? "ok" : "x"`:       "ok",
		`body.amount < number("12.31")`:                     "true",
		`body.status == "PAID" && body.yes`:                 "true",
		`body.status in ["PAID", "SETTLED"]`:                "true",
		`body.zero in [1, 0]`:                               "true",
		`"id" in body`:                                      "true",
		`split(split(body.note, "order ")[1], ",")[0]`:      "ORD-7",
		`split(body.missing, "-")[3] ?? "none"`:             "none",
		`upper(trim(" a "))`:                                "A",
		`body.missing.deeper[3].still ?? "none"`:            "none",
		`body.null ?? "none"`:                               "none",
		`body.missing == nil`:                               "true",
		`body.missing contains "x"`:                         "false",
		`body.note matches "ORD-[0-9]+"`:                    "true",
		`find(body.lines, .type == "total").sum`:            "0.20",
		`first(filter(body.lines, .type == "none")) == nil`: "true",
		`body.tags[-1]`:                                     "b",
		`last(body.tags)`:                                   "b",
		`count(body.lines, .sum > 0)`:                       "2",
		`json(body.inner).order.id`:                         "9007199254740993",
		`json(body.note) == nil`:                            "true",
		`header["x-event-id"] + ":" + query.q`:              "e1:1",
		`query["data.id"]`:                                  "D9",
		`text(body.zero) + body.status`:                     "0PAID",
		`let e = body.lines; e[0].type`:                     "fee",
		`body.note[0:4]`:                                    "shop",
		`body.tags`:                                         "",
		`body`:                                              "",
		`body.yes`:                                          "true",
		`len(body.tags) - 1`:                                "1",
		`not (body.status startsWith "PA")`:                 "false",
	} {
		x, err := compileExpression(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := x.text(exprRequest(exprBody)); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", text, got, err, want)
		}
	}
}

// What cannot be worked out exactly is an error, never a near miss.
func TestExpressionsThatFail(t *testing.T) {
	for _, text := range []string{
		`body.amount + body.fee`, `body.amount == body.fee`, `body.fee in [1, 2]`, `body.missing + 1`, `body.missing > 0`, `body.huge + 1`, `body.huge == 1`,
		`body.status < "Z"`, `body.lines == body.lines`, `number(body.note)`, `number("1e5")`, `-body.status`, `any(body.status, true)`, `body.status ? 1 : 2`,
	} {
		x, err := compileExpression(text)
		if err != nil {
			t.Errorf("%s: %v, want it to fail with a message only", text, err)
			continue
		}
		if got, err := x.text(exprRequest(exprBody)); err == nil || len(err.Error()) > 300 {
			t.Errorf("%s = %q, %v; want a short error", text, got, err)
		}
	}
}

func TestExpressionsAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "body.", "now()", "date(body.x)", "env", "$env", "$env.body", "foo", "foo(1)", "1.5", "body.x == 0.1", "body.a / 2", "body.a % 2", "2 ** 9", "1..9",
		"+body.a", "body.x matches body.y", `body.x matches "("`, "float(body.a)", "int(body.a)", `fromJSON(body.a)`, "toJSON(body)", `repeat("a", 9)`,
		`replace(body.a, "x", body.b)`, `join(body.a)`, `reduce(body.a, # + #acc)`, "sum(body.a)", "max(1, 2)", "body.a = 1", "body.f()",
		"filter(body.a, any(body.b, # == 1))",
		`1 + "a"`, `"a" + 1`, `1 == "a"`, `upper(body.a) + 1`, `text(body.a) - 1`, `number(body.a) == "1"`, `(1 + 2) + "a"`, `nil + 1`, `"a" < "b"`, `true + true`, `len(body.a) + "x"`, strings.Repeat("body.a + ", 300) + "1", strings.Repeat(" ", 3000) + "1", `sortBy(body.a, .b)`, "timezone('UTC')",
	} {
		if x, err := compileExpression(text); err == nil {
			t.Errorf("%s is accepted: %+v", text, x)
		} else if len(err.Error()) > 400 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line", text, err)
		}
	}
}

// A message is a stranger's until it is understood: no expression takes long, or much room, over any.
func TestExpressionsAreBounded(t *testing.T) {
	many := `{"l":[` + strings.Repeat("1,", 200_000) + `1],"t":"` + strings.Repeat("ab", 100_000) + `"}`
	for _, text := range []string{
		"count(body.l, # == 2)", "count(map(body.l, # + 1), # > 5)", `len(split(body.t, ""))`, `body.t matches "(a|b)*c"`,
		"let a = body.t + body.t; let b = a + a; let c = b + b; let d = c + c; d + d",
	} {
		x, err := compileExpression(text)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		got, err := x.text(exprRequest(many))
		if took := time.Since(start); took > 30*time.Second || len(got) > textMax {
			t.Errorf("%s: %s, %d bytes, %v", text, took, len(got), err)
		}
	}
}

// FuzzExpression: whatever the expression and the message, there is a text or an error, and soon.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{`body.a ?? "x"`, `filter(body.lines, .type == "fee")[0].sum`, `let a = 1; a + body.id`, `1 in body.tags`, "-1", `"a"[0:9]`, "{a: 1}.a"} {
		f.Add(text, exprBody)
	}
	f.Fuzz(func(t *testing.T, text, body string) {
		x, err := compileExpression(text)
		if err != nil {
			return
		}
		start := time.Now()
		got, err := x.text(exprRequest(body))
		if err != nil && got != "" || time.Since(start) > 30*time.Second {
			t.Errorf("%s = %q, %v after %s", text, got, err, time.Since(start))
		}
	})
}

func BenchmarkExpression(b *testing.B) {
	x, err := compileExpression(`body.lines == nil ? "simple" : find(body.lines, .type == "total").sum`)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := x.text(exprRequest(exprBody)); err != nil || got != "" && got != "0.20" {
			b.Fatal(got, err)
		}
	}
}

// text is the expression's value as a field reads it; "" for null, a list and an object.
func (x *expression) text(r *request) (string, error) {
	v, err := x.value(r)
	return scalar(v), err
}
