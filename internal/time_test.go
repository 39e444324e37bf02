package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// timeTypes are what pure packages may use of package time: its types and constants. None
// of it reads the clock or waits.
var timeTypes = []string{"Duration", "Time", "UnixMilli", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"}

// TestPureTime: pure packages use package time for its types alone. The current time is
// handed in.
func TestPureTime(t *testing.T) {
	used := 0
	for _, dir := range pure {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(paths), err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
					used++
					if !slices.Contains(timeTypes, s.Sel.Name) {
						t.Errorf("%s uses time.%s", fset.Position(s.Pos()), s.Sel.Name)
					}
				}
				return true
			})
			for _, i := range file.Imports {
				if i.Path.Value == `"time"` && i.Name != nil {
					t.Errorf("%s imports time under another name", path)
				}
			}
		}
	}
	if used == 0 {
		t.Error("no pure package uses package time: the test looks for the wrong thing")
	}
}
