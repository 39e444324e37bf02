package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"unicode"
)

// Texts of partners and customers can neither control the operator's terminal nor
// fake rows of a table.
func TestPrintedTextIsClean(t *testing.T) {
	const hostile = "a\x1b]0;pwned\x07b\u009b31mc\u202ed\re"
	var b bytes.Buffer
	printTo(&b, "subject %s\n\n%s\n", hostile, "two\nlines\tand a tab")
	const want = "subject a\ufffd]0;pwned\ufffdb\ufffd31mc\ufffdde\n\ntwo\nlines\tand a tab\n"
	if b.String() != want {
		t.Errorf("printed %q, want %q", b.String(), want)
	}

	b.Reset()
	rows := table{tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)}
	rows.row("ID", "SUBJECT")
	rows.row(1, hostile+"\n2  forged\tcell")
	if err := rows.flush(); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(b.String(), "\n"); lines != 2 {
		t.Errorf("a table of one row under its heads has %d lines:\n%s", lines, b.String())
	}
	if strings.ContainsFunc(strings.ReplaceAll(b.String(), "\n", ""), unicode.IsControl) {
		t.Errorf("the table holds control characters: %q", b.String())
	}
}

// Commands print through output.go only, because other ways would not clean texts.
func TestOnlyPrintPrints(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	// main passes the standard streams to the parser of flags, and log.go to the
	// logger.
	mayName := []string{"main.go", "output.go"}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || slices.Contains(mayName, name) {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := s.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch call := pkg.Name + "." + s.Sel.Name; call {
			case "os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println":
				t.Errorf("%s: %s: use printf, complain or newTable", set.Position(n.Pos()), call)
			}
			return true
		})
	}
}
