package generic

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"github.com/shopspring/decimal"

	"paybook/callback/parse"
)

// exprOperators are the operators of an expression that compare or calculate, by the function that does it here. There is no
// division: most quotients have no exact decimal.
var exprOperators = map[string]string{
	"==": "equal", "!=": "unequal", "<": "less", "<=": "atMost", ">": "more", ">=": "atLeast", "in": "within",
	"+": "add", "-": "subtract", "*": "multiply",
}

// exprFunctions work on what a callback holds: texts, numbers (json.Number, with the digits they were sent with), truth values,
// lists and objects. Numbers are calculated as decimals.
var exprFunctions = map[string]func(...any) (any, error){
	"member":  two(member),
	"equal":   two(func(a, b any) (any, error) { return equal(a, b) }),
	"unequal": two(func(a, b any) (any, error) { same, err := equal(a, b); return !same, err }),
	"less":    compared(func(order int) bool { return order < 0 }),
	"atMost":  compared(func(order int) bool { return order <= 0 }),
	"more":    compared(func(order int) bool { return order > 0 }),
	"atLeast": compared(func(order int) bool { return order >= 0 }),
	"within":  two(within),
	"add":     two(add),
	"subtract": two(func(a, b any) (any, error) {
		return calculate(a, b, decimal.Decimal.Sub)
	}),
	"multiply": two(func(a, b any) (any, error) {
		return calculate(a, b, decimal.Decimal.Mul)
	}),
	"minus":  one(func(a any) (any, error) { return calculate(json.Number("0"), a, decimal.Decimal.Sub) }),
	"text":   one(textOf),
	"list":   one(func(a any) (any, error) { return listOf(a) }),
	"number": one(numberOf),
	"json":   one(func(a any) (any, error) { return readInner(a) }),
}

func one(f func(any) (any, error)) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		if len(args) != 1 {
			return nil, errors.New("one argument expected")
		}
		return f(exact(args[0]))
	}
}

func two(f func(a, b any) (any, error)) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		if len(args) != 2 {
			return nil, errors.New("two arguments expected")
		}
		return f(exact(args[0]), exact(args[1]))
	}
}

// exact turns the library's whole numbers into ours.
func exact(v any) any {
	if n, ok := v.(int); ok {
		return json.Number(strconv.Itoa(n))
	}
	return v
}

// member is what an object has under a name, a list at a place (from the end: -1), a header, query or form has first. What is not
// there is nothing, and so is a member of nothing.
func member(of, key any) (any, error) {
	name, _ := key.(string)
	switch v := of.(type) {
	case map[string]any:
		return v[name], nil
	case http.Header:
		return firstText(v.Values(name)), nil
	case url.Values:
		return firstText(v[name]), nil
	case []any:
		return at(v, key), nil
	case []string: // what split returns
		return at(v, key), nil
	}
	return nil, nil
}

func firstText(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	return texts[0]
}

func at[T any](list []T, key any) any {
	number, _ := key.(json.Number)
	i, err := strconv.Atoi(number.String())
	if i < 0 {
		i += len(list)
	}
	if err != nil || i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// equal compares texts with texts and numbers with numbers, by their worth (1.0 is 1). A number beside a text is an error: to call
// 17 and "17" different in silence would send money down the wrong row.
func equal(a, b any) (bool, error) {
	if isNumber(a) && isNumber(b) {
		order, err := compare(a, b)
		return order == 0, err
	}
	switch {
	case a == nil || b == nil:
		return a == nil && b == nil, nil
	case !isScalar(a) || !isScalar(b):
		return false, errors.New("a list or an object cannot be compared")
	case isNumber(a) != isNumber(b):
		return false, errors.New("a number and a text cannot be compared; text(…) or number(…) turns one into the other")
	}
	return a == b, nil
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, bool, json.Number:
		return true
	}
	return false
}

func isNumber(v any) bool { _, ok := v.(json.Number); return ok }

func compared(want func(order int) bool) func(...any) (any, error) {
	return two(func(a, b any) (any, error) {
		order, err := compare(a, b)
		return want(order), err
	})
}

func compare(a, b any) (int, error) {
	x, err := decimalOf(a)
	if err != nil {
		return 0, err
	}
	y, err := decimalOf(b)
	return x.Cmp(y), err
}

func within(value, list any) (any, error) {
	if object, ok := list.(map[string]any); ok {
		name, _ := value.(string)
		_, there := object[name]
		return there, nil
	}
	items, err := listOf(list)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if same, err := equal(value, exact(item)); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// textMax bounds what joining makes, so that doubling a text over and over comes to an end.
const textMax = 64 << 10

func add(a, b any) (any, error) {
	x, text := a.(string)
	y, also := b.(string)
	switch {
	case text && also && len(x)+len(y) > textMax:
		return nil, fmt.Errorf("a text longer than %d bytes", textMax)
	case text && also:
		return x + y, nil
	case text || also:
		return nil, errors.New("+ joins two texts or adds two numbers; text(…) makes a text of a number")
	}
	return calculate(a, b, decimal.Decimal.Add)
}

func calculate(a, b any, f func(x, y decimal.Decimal) decimal.Decimal) (any, error) {
	x, err := decimalOf(a)
	if err != nil {
		return nil, err
	}
	y, err := decimalOf(b)
	if err != nil {
		return nil, err
	}
	return json.Number(f(x, y).String()), nil
}

// plainNumber is what can be calculated with: an exponent could stand for more digits than memory holds.
var plainNumber = regexp.MustCompile(`^-?\d{1,40}(\.\d{1,20})?$`)

func decimalOf(v any) (decimal.Decimal, error) {
	n, ok := v.(json.Number)
	if !ok {
		return decimal.Zero, errors.New("a number expected; number(…) makes one of a text, and (… ?? 0) of what may be missing")
	}
	if !plainNumber.MatchString(n.String()) {
		return decimal.Zero, fmt.Errorf("%q is no plain decimal number", clip(n.String()))
	}
	return decimal.NewFromString(n.String())
}

func numberOf(v any) (any, error) {
	text, ok := v.(string)
	if !ok {
		text = scalar(parse.Of(v))
	}
	if !plainNumber.MatchString(text) {
		return nil, fmt.Errorf("number: %q is no plain decimal number", clip(text))
	}
	return json.Number(text), nil
}

// textOf is a value as a field reads it. One that nobody could keep is not empty, so it is none.
func textOf(v any) (any, error) {
	found := parse.Of(v)
	return scalar(found), found.Unusable()
}

func listOf(v any) ([]any, error) {
	switch v := v.(type) {
	case nil:
		return []any{}, nil
	case []any:
		return v, nil
	case []string:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out, nil
	}
	return nil, errors.New("a list expected")
}

// readInner reads JSON that stands in a text, such as a note. A text that is none is nothing.
func readInner(v any) (any, error) {
	text, _ := v.(string)
	inner, err := parse.JSON([]byte(text))
	if err != nil {
		return nil, nil //nolint:nilerr // whoever writes the note may write anything
	}
	return inner.Any(), nil
}
