package generic

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// exprTypes are what a function gives, where that does not depend on the message.
var exprTypes = map[string]string{
	"text": "a text", "upper": "a text", "lower": "a text", "trim": "a text", "trimPrefix": "a text", "trimSuffix": "a text",
	"number": "a number", "len": "a number", "count": "a number", "indexOf": "a number", "subtract": "a number", "multiply": "a number",
	"minus": "a number", "equal": "true or false", "unequal": "true or false", "less": "true or false", "atMost": "true or false",
	"more": "true or false", "atLeast": "true or false", "within": "true or false",
}

// typeOf is the type of what a node gives, after its own nodes were visited; "" when only the message tells.
func typeOf(node ast.Node) string {
	switch n := node.(type) {
	case *ast.StringNode:
		return "a text"
	case *ast.IntegerNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.NilNode:
		return "nil"
	case *ast.BuiltinNode:
		return exprTypes[n.Name]
	case *ast.CallNode:
		name, _ := n.Callee.(*ast.IdentifierNode)
		if name.Value == "add" { // both sides were found to be alike
			return typeOf(n.Arguments[0])
		}
		return exprTypes[name.Value]
	}
	return ""
}

// checkTypes refuses an operator between two values that can never go together, whatever the message: 1 + "a".
func (s *exprSandbox) checkTypes(n *ast.BinaryNode) {
	left, right := typeOf(n.Left), typeOf(n.Right)
	if left == "" || right == "" {
		return
	}
	fits := left == "a number" && right == "a number"
	switch n.Operator {
	case "+":
		fits = fits || left == "a text" && right == "a text"
	case "==", "!=":
		fits = left == right || left == "nil" || right == "nil" || left != "a number" && right != "a number"
	case "in":
		return
	}
	if !fits {
		s.refuse("%s between %s and %s; text(…) or number(…) turns one into the other", n.Operator, left, right)
	}
}

// placesOf are the places of a callback that an expression looks at: body.a.b[0] and header["X-Id"] for themselves, whatever is named
// by less than fixed names as a whole (body, query).
func placesOf(text string) []source {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil // the compiler says why
	}
	finder := exprPlaces{}
	ast.Walk(&tree.Node, finder)
	var places []source
	for _, way := range finder {
		from, err := parseSource(way.kind + ":" + way.path)
		if way.path == "" || err != nil {
			from = source{kind: way.kind}
		}
		places = append(places, from)
	}
	slices.SortFunc(places, func(a, b source) int { return cmp.Compare(a.key(), b.key()) })
	return places
}

// exprRoots are the names of an expression as the kinds of places.
var exprRoots = map[string]string{"body": "json", "envelope": "envelope", "form": "form", "header": "header", "query": "query"}

// exprWay is the way from a root to a value: a JSONPath, or the name of a header or parameter; "" for the root itself.
type exprWay struct{ kind, path string }

// exprPlaces are the ways that an expression goes, by the node where they end so far. Inner nodes are visited first.
type exprPlaces map[ast.Node]exprWay

// Visit takes the next step of a way.
func (p exprPlaces) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if kind := exprRoots[n.Value]; kind != "" {
			p[n] = exprWay{kind: kind}
		}
	case *ast.ChainNode:
		p.move(n.Node, n, "")
	case *ast.MemberNode:
		way, known := p[n.Node]
		deep := way.kind == "json" || way.kind == "envelope"
		switch key := n.Property.(type) {
		case *ast.StringNode:
			if known && deep {
				p.move(n.Node, n, "["+strconv.Quote(key.Value)+"]")
			} else if known && way.path == "" {
				p.move(n.Node, n, key.Value)
			}
		case *ast.IntegerNode:
			if known && deep {
				p.move(n.Node, n, "["+strconv.Itoa(key.Value)+"]")
			}
		}
	}
}

func (p exprPlaces) move(from, to ast.Node, step string) {
	way, known := p[from]
	if !known {
		return
	}
	if way.path == "" && strings.HasPrefix(step, "[") && (way.kind == "json" || way.kind == "envelope") {
		way.path = "$"
	}
	way.path += step
	delete(p, from)
	p[to] = way
}
