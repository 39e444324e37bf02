package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// surroundings are the functions that only package env may call: what they give
// would differ from run to run of a simulation.
var surroundings = map[string][]string{
	"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
}

// random are the packages of random numbers, which only package env may import.
var random = []string{"math/rand", "math/rand/v2", "crypto/rand"}

// beside are the folders that may use all of this: the engines with their look-ups
// and their conformance suite, and what only tests use.
var beside = []string{"env", "testkit", "storage/sqlite", "storage/postgres", "storage/batchget", "storage/storagetest", "requestlog/requestlogtest"}

// TestSurroundings holds every other package against that: it asks package env for
// the time, for randomness and for goroutines.
func TestSurroundings(t *testing.T) {
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if slices.Contains(beside, path) || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, use := range usesOfSurroundings(file) {
			t.Errorf("%v: %s; package env has what takes its place", files.Position(use.at), use.what)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

type use struct {
	at   token.Pos
	what string
}

func usesOfSurroundings(file *ast.File) (uses []use) {
	for _, s := range file.Imports {
		if path, _ := strconv.Unquote(s.Path.Value); slices.Contains(random, path) || path == "golang.org/x/sync/singleflight" {
			uses = append(uses, use{s.Pos(), "import of " + path})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			uses = append(uses, use{n.Pos(), "go statement"})
		case *ast.SelectorExpr:
			if name, ok := n.X.(*ast.Ident); !ok {
				break
			} else if slices.Contains(surroundings[name.Name], n.Sel.Name) {
				uses = append(uses, use{n.Pos(), name.Name + "." + n.Sel.Name})
			} else if name.Name == "sync" && n.Sel.Name == "WaitGroup" {
				uses = append(uses, use{n.Pos(), "sync.WaitGroup, whose Wait a simulator does not see"})
			}
		}
		return true
	})
	return uses
}

// TestSurroundingsAreFound: the test above would find each of them.
func TestSurroundingsAreFound(t *testing.T) {
	const program = `package p
import "math/rand/v2"
var now, group = time.Now, sync.WaitGroup{}
func f() { go f(); ctx, cancel := context.WithTimeout(ctx, time.Second); _ = rand.Int() }`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", program, 0)
	if err != nil {
		t.Fatal(err)
	}
	if found := usesOfSurroundings(file); len(found) != 5 {
		t.Errorf("found %+v", found)
	}
}
