package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dialect are words that comments avoid: they leave the noun out, and a reader
// has to work out what they stand for. Name the caller, the partner, the process.
var dialect = regexp.MustCompile(`(?i)\b(who|whom|whoever|nobody|somebody|none of|anew)\b`)

// Comments are in plain English (CONTRIBUTING.md).
func TestPlainEnglish(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				for i, line := range strings.Split(comment.Text, "\n") {
					if dialect.MatchString(line) {
						at := set.Position(comment.Pos())
						at.Line += i
						t.Errorf("%s: name the person, process or thing: %s", at, strings.TrimSpace(line))
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
