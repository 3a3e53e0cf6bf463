package models_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sources are the package's own files, parsed.
func sources(t *testing.T) (*token.FileSet, []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return fset, files
}

// Everybody imports models, so models imports nobody: the standard library, and decimal for sums.
func TestImportsOnlyTheStandardLibraryAndDecimal(t *testing.T) {
	fset, files := sources(t)
	for _, f := range files {
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(path, "/")
			standard := !strings.Contains(first, ".") && first != "paybook"
			if !standard && path != "github.com/shopspring/decimal" {
				t.Errorf("%s: imports %s", fset.Position(spec.Pos()), path)
			}
		}
	}
}

// A noun that everybody shares is worth a sentence. A constant may have it from the group it stands in.
func TestEveryExportedNameIsDocumented(t *testing.T) {
	fset, files := sources(t)
	p, err := doc.NewFromFiles(fset, files, "paybook/models")
	if err != nil {
		t.Fatal(err)
	}
	need := func(name, text string) {
		if ast.IsExported(name) && strings.TrimSpace(text) == "" {
			t.Errorf("%s has no comment", name)
		}
	}
	need("Package", p.Doc)
	values := append(p.Consts, p.Vars...)
	functions := p.Funcs
	for _, typ := range p.Types {
		need(typ.Name, typ.Doc)
		values = append(append(values, typ.Consts...), typ.Vars...)
		functions = append(append(functions, typ.Funcs...), typ.Methods...)
	}
	for _, v := range values {
		need(v.Names[0], v.Doc)
	}
	for _, f := range functions {
		if f.Name != "Error" { // what it does is said by the interface error
			need(f.Name, f.Doc)
		}
	}
	if len(p.Types) < 10 || len(functions) < 10 {
		t.Errorf("only %d types and %d functions were looked at", len(p.Types), len(functions))
	}
}
