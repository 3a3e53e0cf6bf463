package generic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"paybook/callback/parse"
)

// expression is a value worked out of a callback where no path leads to it: a part of a note, a status made of two fields, a sum
// less a fee. It is compiled at start-up and can do nothing but look at the callback: no clock, no environment, no files, and no
// work that grows faster than the message.
type expression struct {
	source  string
	program *vm.Program
	reads   []source // the places it looks at
}

// Bounds of an expression: its length in bytes and in parts, and the values it may make while it runs.
const exprLength, exprNodes, exprMemory = 2000, 400, 100_000

// exprTools are the functions of the library that do harmless work. Not among them: what reads a clock, what turns numbers into
// floats, and what can make a long text of a short one.
var exprTools = []string{
	"all", "any", "none", "one", "filter", "map", "find", "count", "first", "last", "len", "keys", "values",
	"trim", "trimPrefix", "trimSuffix", "upper", "lower", "split", "indexOf", "hasPrefix", "hasSuffix",
}

// exprReads says how a function reads its first argument, so that a part of the message that is not there is an empty text or list.
var exprReads = map[string]string{
	"trim": "text", "trimPrefix": "text", "trimSuffix": "text", "upper": "text", "lower": "text", "split": "text", "indexOf": "text",
	"hasPrefix": "text", "hasSuffix": "text",
	"all": "list", "any": "list", "none": "list", "one": "list", "filter": "list", "map": "list", "find": "list", "count": "list",
	"first": "list", "last": "list",
}

// exprNames are what an expression can look at. Their types are the message's affair.
var exprNames = types.Map{"body": types.Any, "envelope": types.Any, "form": types.Any, "header": types.Any, "query": types.Any}

func compileExpression(text string) (*expression, error) {
	sandbox := &exprSandbox{}
	options := []expr.Option{
		expr.Env(exprNames), expr.MaxNodes(exprNodes), expr.Patch(sandbox), expr.DisableAllBuiltins(), expr.Optimize(false),
	}
	for _, name := range exprTools {
		options = append(options, expr.EnableBuiltin(name))
	}
	for name, f := range exprFunctions {
		options = append(options, expr.Function(name, f))
	}
	program, err := expr.Compile(text, options...)
	switch {
	case len(text) > exprLength:
		return nil, fmt.Errorf("expression: longer than %d characters", exprLength)
	case sandbox.err != nil:
		return nil, fmt.Errorf("expression %q: %w", clip(text), sandbox.err)
	case err != nil:
		what, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("expression %q: %s", clip(text), what)
	}
	return &expression{source: text, program: program, reads: placesOf(text)}, nil
}

// value is what the expression makes of a callback. A text that nobody could keep is an error.
func (x *expression) value(r *request) (parse.Value, error) {
	machine := vm.VM{MemoryBudget: exprMemory}
	v, err := machine.Run(x.program, r.environment())
	made := parse.Of(exact(v))
	if err == nil {
		err = made.Unusable()
	}
	if err != nil {
		what, _, _ := strings.Cut(err.Error(), "\n")
		return parse.Value{}, fmt.Errorf("expression %q: %s", clip(x.source), clip(what))
	}
	return made, nil
}

// environment is what an expression can look at. Nothing in it is copied.
func (r *request) environment() map[string]any {
	env := map[string]any{"header": r.cb.Headers, "query": r.readQuery()}
	if r.isForm {
		env["form"] = r.readForm()
		return env
	}
	env["body"], env["envelope"] = r.doc().Any(), r.readJSON().Any()
	return env
}

// exprSandbox checks an expression, and puts ours in the place of the library's member access and operators: a member of nothing is
// nothing, and numbers stay exact.
type exprSandbox struct{ err error }

// Visit comes to the inner nodes first.
func (s *exprSandbox) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.MemberNode:
		s.replace(node, "member", n.Node, n.Property)
	case *ast.SliceNode:
		n.Node = call("text", n.Node)
	case *ast.BinaryNode:
		s.operator(node, n)
	case *ast.UnaryNode:
		s.unary(node, n)
	case *ast.FloatNode:
		s.refuse("%v would be a floating-point number; write number(\"%v\")", n.Value, n.Value)
	case *ast.IdentifierNode:
		if n.Value == "$env" {
			s.refuse("$env is not there")
		}
	case *ast.CallNode:
		if _, named := n.Callee.(*ast.IdentifierNode); !named {
			s.refuse("a value has no methods")
		}
	case *ast.BuiltinNode:
		if !slices.Contains(exprTools, n.Name) { // the library leaves its loops on
			s.refuse("the function %s is not there; there is %s, json, list, number, text", n.Name, strings.Join(exprTools, ", "))
		}
		if reader := exprReads[n.Name]; reader != "" && len(n.Arguments) > 0 {
			n.Arguments[0] = call(reader, n.Arguments[0])
		}
	case *ast.PredicateNode:
		if within := (predicateFinder{}); within.in(n.Node) {
			s.refuse("a loop within a loop: its work could outgrow the message")
		}
	}
}

func (s *exprSandbox) operator(node *ast.Node, n *ast.BinaryNode) {
	if name := exprOperators[n.Operator]; name != "" {
		s.checkTypes(n)
		s.replace(node, name, n.Left, n.Right)
		return
	}
	switch n.Operator {
	case "and", "&&", "or", "||", "??":
	case "contains", "startsWith", "endsWith":
		n.Left, n.Right = call("text", n.Left), call("text", n.Right)
	case "matches":
		n.Left = call("text", n.Left)
		if _, fixed := n.Right.(*ast.StringNode); !fixed {
			s.refuse("the pattern of matches must be written out")
		}
	default:
		s.refuse("the operator %s is not there; there is == != < <= > >= + - * and or not in contains startsWith endsWith matches ?? ?:", n.Operator)
	}
}

func (s *exprSandbox) unary(node *ast.Node, n *ast.UnaryNode) {
	_, literal := n.Node.(*ast.IntegerNode)
	switch {
	case n.Operator == "!" || n.Operator == "not" || n.Operator == "-" && literal:
	case n.Operator == "-":
		s.replace(node, "minus", n.Node)
	default:
		s.refuse("the operator %s before a value is not there", n.Operator)
	}
}

func (s *exprSandbox) replace(node *ast.Node, function string, arguments ...ast.Node) {
	ast.Patch(node, call(function, arguments...))
}

func call(function string, arguments ...ast.Node) ast.Node {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: function}, Arguments: arguments}
}

func (s *exprSandbox) refuse(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// predicateFinder looks for a loop.
type predicateFinder struct{ found bool }

// Visit is called with every node.
func (f *predicateFinder) Visit(node *ast.Node) {
	if _, ok := (*node).(*ast.PredicateNode); ok {
		f.found = true
	}
}

func (f *predicateFinder) in(node ast.Node) bool {
	ast.Walk(&node, f)
	return f.found
}
