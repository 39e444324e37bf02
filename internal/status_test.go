package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// statusOwners are the names of variables that have a status of their own. Any other
// variable whose Status is assigned is taken to be an order.
var statusOwners = []string{"d", "delivery", "reply", "e", "w", "v"}

// TestOnlyAfterSetsAStatus: the status of an order is set by commerce.Order.After alone.
// The storage engines are left out, because they copy what is stored.
func TestOnlyAfterSetsAStatus(t *testing.T) {
	found := 0
	for _, dir := range []string{"commerce", "command", "commit", "service", "jobs", "effect", "api", "inbound"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				after := ok && path == filepath.Join("commerce", "lifecycle.go") && f.Name.Name == "After"
				for _, pos := range statusesSet(decl) {
					if after {
						found++
					} else {
						t.Errorf("%s sets the status of an order: only commerce.Order.After may", fset.Position(pos))
					}
				}
			}
			return nil
		})
		if err != nil && dir != "service" {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("commerce.Order.After sets no status: the test looks for the wrong thing")
	}
}

// statusesSet finds assignments to the Status of an order, and orders that are made with
// a status.
func statusesSet(decl ast.Decl) (found []token.Pos) {
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if s, ok := to.(*ast.SelectorExpr); ok && s.Sel.Name == "Status" && !slices.Contains(statusOwners, lastName(s.X)) {
					found = append(found, s.Pos())
				}
			}
		case *ast.UnaryExpr:
			if s, ok := n.X.(*ast.SelectorExpr); ok && n.Op == token.AND && s.Sel.Name == "Status" {
				found = append(found, n.Pos())
			}
		case *ast.CompositeLit:
			if n.Type == nil || lastName(n.Type) != "Order" {
				break
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && lastName(kv.Key) == "Status" {
					found = append(found, kv.Pos())
				}
			}
		}
		return true
	})
	return found
}

// lastName is the name at the end of a.b.c.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
