package internal

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyTheProgramTakesTheWholeEngine: every package below internal takes the
// small interfaces of storage that it uses. Whole engines and readers are for the
// program and the simulation, which open them, and for the tests of engines.
func TestOnlyTheProgramTakesTheWholeEngine(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (path == "storage" || path == "testkit" || path == "simulation") {
			return cmp.Or(err, fs.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, name := range wholeEngines(file) {
			t.Errorf("%s: storage.%s is the whole engine: take the interfaces that are used", files.Position(name.Pos()), name.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wholeEngines finds storage.Engine and storage.Reader.
func wholeEngines(file *ast.File) (found []*ast.Ident) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			of, _ := s.X.(*ast.Ident)
			if of != nil && of.Name == "storage" && (s.Sel.Name == "Engine" || s.Sel.Name == "Reader") {
				found = append(found, s.Sel)
			}
		}
		return true
	})
	return found
}

// TestWholeEnginesAreFound: the rule finds what it is for.
func TestWholeEnginesAreFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\nfunc f(e storage.Engine, r storage.Reader, o storage.Orders)", 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(wholeEngines(file)); n != 2 {
		t.Errorf("%d found, want 2", n)
	}
}
