package main

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"unicode"

	"purveyor/internal/config"
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

// Errors are written at once, with the lines before them; other lines wait for more.
func TestErrorsAreLoggedAtOnce(t *testing.T) {
	for _, c := range []config.Log{{LogFormat: "text"}, {LogFormat: "json"}} {
		var b bytes.Buffer
		buffer := &logBuffer{out: bufio.NewWriter(&b)}
		log := slog.New(newLogHandler(c, buffer)).With("a", 1).WithGroup("g")
		_, _ = buffer.out.WriteString("earlier\n") // directly, so that no timer writes it
		log.Warn("soon")
		if b.Len() > 0 {
			t.Errorf("a warning is written at once: %s", b.String())
		}
		log.Error("now")
		if text := b.String(); !strings.HasPrefix(text, "earlier\n") || !strings.Contains(text, "soon") || !strings.Contains(text, "now") {
			t.Errorf("the error waits: %q", text)
		}
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
