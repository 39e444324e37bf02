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

// dialectLeft bounds the comment lines with such words in packages that are not
// rewritten yet, by folder. It only shrinks; all other folders have none.
var dialectLeft = map[string]int{
	"internal/api":      10,
	"internal/command":  25,
	"internal/commerce": 28,
	"internal/commit":   1,
	"internal/inbound":  4,
	"internal/service":  8,
	"internal/storage":  2,
}

// Comments are in plain English (CONTRIBUTING.md).
func TestPlainEnglish(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
		for _, group := range file.Comments {
			for _, comment := range group.List {
				for i, line := range strings.Split(comment.Text, "\n") {
					if dialect.MatchString(line) {
						at := set.Position(comment.Pos())
						at.Line += i
						found[folder] = append(found[folder], at.String()+": "+strings.TrimSpace(line))
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, lines := range found {
		if most := dialectLeft[folder]; len(lines) > most {
			t.Errorf("%s: %d comment lines use who, nobody, none of and the like, at most %d may:\n%s", folder, len(lines), most, strings.Join(lines, "\n"))
		}
	}
}
