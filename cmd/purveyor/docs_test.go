package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/kong"
)

const root = "../.."

// documents returns the documents by their paths from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	guides, err := filepath.Glob(filepath.Join(root, "docs", "partner", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, guides...)
	texts := map[string]string{}
	for _, p := range append(paths, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "CHANGELOG.md"), filepath.Join(root, "UPGRADING.md")) {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

var (
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	codeBlock = regexp.MustCompile(`(?m)^    .+$`)
	mdLink    = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// codeOf returns the code in a document: spans, and lines of blocks.
func codeOf(text string) (spans, lines []string) {
	for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
		spans = append(spans, m[1])
	}
	for _, l := range codeBlock.FindAllString(text, -1) {
		lines = append(lines, strings.TrimSpace(l))
	}
	return spans, lines
}

// Links in documents lead to files that exist, and to headings that they have.
func TestDocumentedLinksExist(t *testing.T) {
	texts := documents(t)
	for name, text := range texts {
		for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
			to, anchor := m[1], strings.TrimPrefix(m[2], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "/") { // a page of the service
				continue
			}
			target := name
			if to != "" {
				target = filepath.Join(filepath.Dir(name), to)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, to)
				continue
			}
			if anchor != "" && !slices.Contains(anchors(texts[target]), anchor) {
				t.Errorf("%s links to %s#%s, and there is no such heading", name, target, anchor)
			}
		}
	}
}

var noAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors returns the names of a document's headings in links.
func anchors(text string) (names []string) {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return names
}

// inTree matches a path of the repository: its first folder exists there, or it is a
// source file.
var inTree = regexp.MustCompile(`^(?:\./)?((?:cmd|internal|docs|bench|e2e|scripts|\.ci|commerce|command|commit|storage|jobs|effect|outside|api|wire|web|inbound|config|testkit)/[\w./-]*|[\w/-]+\.(?:go|sql|yaml))$`)

// Files and folders in documents exist. A path may begin below internal/, and a file
// name may stand alone if it is unique.
func TestDocumentedPathsExist(t *testing.T) {
	var files []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		files = append(files, strings.TrimPrefix(filepath.ToSlash(p), root+"/"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	exists := func(path string) bool {
		path = strings.TrimSuffix(path, "/")
		return slices.ContainsFunc(files, func(f string) bool {
			return f == path || f == "internal/"+path || (!strings.Contains(path, "/") && filepath.Base(f) == path)
		})
	}
	for name, text := range documents(t) {
		spans, lines := codeOf(text)
		for _, line := range append(spans, lines...) {
			for _, word := range strings.Fields(line) {
				if strings.HasPrefix(word, "/") { // a path of the service
					continue
				}
				if m := inTree.FindStringSubmatch(strings.Trim(word, ".,;:")); m != nil && !strings.Contains(m[1], "...") && !exists(m[1]) {
					t.Errorf("%s names %s, which does not exist", name, word)
				}
			}
		}
	}
}

var (
	aFlag     = regexp.MustCompile(`(?:^|[\s(])(--[a-z][a-z0-9-]*)`)
	aVariable = regexp.MustCompile(`PURVEYOR_[A-Z0-9_]+`)
	aCommand  = regexp.MustCompile(`(?:^|[\s;])(?:\./)?purveyor((?: [a-z][a-z-]*)+)`)
	// otherProgram matches lines that run other programs, which have flags of their
	// own.
	otherProgram = regexp.MustCompile(`^(pg_|createdb|curl|sqlite3|npm|npx|docker|openssl|git|systemctl|systemd-run|setfacl)`)
)

// Commands, flags and environment variables in documents exist.
func TestDocumentedCommandsExist(t *testing.T) {
	parser := kong.Must(&cli{})
	flags, variables := map[string]bool{"--help": true}, map[string]bool{}
	commands := map[string]bool{} // value: it takes an argument
	_ = kong.Visit(parser.Model.Node, func(v kong.Visitable, next kong.Next) error {
		switch v := v.(type) {
		case *kong.Node:
			commands[strings.TrimSpace(argument.ReplaceAllString(v.Path(), ""))] = len(v.Positional) > 0
		case *kong.Flag:
			flags["--"+v.Name] = true
			for _, e := range v.Envs {
				variables[e] = true
				if v.Tag.Has("secret") {
					variables[e+"_FILE"] = true
				}
			}
		}
		return next(nil)
	})
	for name, text := range documents(t) {
		for _, v := range aVariable.FindAllString(text, -1) {
			if !variables[v] {
				t.Errorf("%s names the variable %s, which no flag has", name, v)
			}
		}
		spans, lines := codeOf(text)
		for _, code := range append(spans, lines...) {
			if otherProgram.MatchString(code) {
				continue
			}
			for _, m := range aFlag.FindAllStringSubmatch(code, -1) {
				if !flags[m[1]] {
					t.Errorf("%s names the flag %s in %q, which no command has", name, m[1], code)
				}
			}
			if m := aCommand.FindStringSubmatch(code); m != nil && !isCommand(commands, strings.TrimSpace(m[1])) {
				t.Errorf("%s names the command %q, which does not exist", name, code)
			}
		}
	}
}

// Flags of benchmarks in documents exist.
func TestDocumentedBenchmarkFlagsExist(t *testing.T) {
	var source strings.Builder
	err := filepath.WalkDir(filepath.Join(root, "bench"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range documents(t) {
		spans, lines := codeOf(text)
		for _, code := range append(spans, lines...) {
			if !strings.Contains(code, "go -C bench run") {
				continue
			}
			for _, m := range benchFlag.FindAllStringSubmatch(code, -1) {
				if !strings.Contains(source.String(), `"`+m[1]+`"`) {
					t.Errorf("%s names the flag -%s in %q, which no benchmark has", name, m[1], code)
				}
			}
		}
	}
}

var benchFlag = regexp.MustCompile(`\s-([a-z]+)`)

// isCommand looks for a command by its words. The last word may be the first
// argument.
func isCommand(commands map[string]bool, words string) bool {
	for name, takes := range commands {
		if name == words || (takes && strings.HasPrefix(words, name+" ")) {
			return true
		}
	}
	return false
}

var argument = regexp.MustCompile(`[<\[].*`)

// aName matches a name of our code in a document: package.Name or package.Name.Name.
// aTest matches a test, aType a type.
var (
	aName = regexp.MustCompile(`^([a-z]+)\.([A-Za-z]\w*)(?:\.(\w+))?$`)
	aTest = regexp.MustCompile(`^((?:Test|Fuzz|Benchmark)[A-Z]\w*)`)
	aType = regexp.MustCompile(`^([A-Z][a-z]+(?:[A-Z][a-z]+)+)(?:\.([A-Z]\w*))?$`)
)

// Names of code in documents exist.
func TestDocumentedNamesExist(t *testing.T) {
	packages, all := declared(t)
	for name, text := range documents(t) {
		spans, _ := codeOf(text)
		for _, s := range spans {
			if m := aTest.FindStringSubmatch(s); m != nil && !all[m[1]] {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
			if m := aType.FindStringSubmatch(s); m != nil && (!all[m[1]] || (m[2] != "" && !all[m[2]])) {
				t.Errorf("%s names `%s`, which does not exist", name, s)
			}
			m := aName.FindStringSubmatch(s)
			if m == nil {
				continue
			}
			names, ours := packages[m[1]]
			switch {
			case foreign[m[1]]:
			case ours && (!names[m[2]] || (m[3] != "" && !names[m[3]])):
				t.Errorf("%s names `%s`, which package %s does not have", name, s, m[1])
			case !ours && !all[m[1]]:
				t.Errorf("%s names `%s`: there is no package or type %s", name, s, m[1])
			case !ours && all[m[1]] && !all[m[2]]:
				t.Errorf("%s names `%s`, which does not exist", name, s)
			}
		}
	}
}

// nameInFile matches a name with its file: `api.reportOrder` (`internal/api/report_order.go`).
var nameInFile = regexp.MustCompile("`([\\w.]+)` \\(`([\\w/]+\\.go)`")

// A name that a document gives with a file is declared in that file.
func TestDocumentedNamesAreInTheirFiles(t *testing.T) {
	pairs := 0
	for name, text := range documents(t) {
		for _, m := range nameInFile.FindAllStringSubmatch(strings.ReplaceAll(text, "\n", " "), -1) {
			pairs++
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, m[2]), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			names := map[string]bool{}
			addDeclared(names, file)
			for i, part := range strings.Split(m[1], ".") {
				isPackage := i == 0 && part == file.Name.Name
				if !isPackage && !names[part] {
					t.Errorf("%s names `%s` (`%s`), which does not declare %s", name, m[1], m[2], part)
				}
			}
		}
	}
	if pairs == 0 {
		t.Error("no document names a function with its file")
	}
}

// foreign are words before a dot that are not our packages: files, hosts, fields of
// the API, settings and events of others.
var foreign = map[string]bool{
	"data": true, "purveyor": true, "shop": true, "checkout": true, "charge": true, "refund": true, "order": true, "delivery": true,
	"event": true, "eats": true, "courier_status": true, "citus": true, "address": true, "backup": true, "openapi": true, "writers": true,
	"golang": true, "payment_intent": true, "webhook": true, "product": true,
}

// declared returns the names that each package of the module declares, and the set of
// all of them: types, functions, methods, fields, variables.
var declared = func() func(t *testing.T) (map[string]map[string]bool, map[string]bool) {
	once := sync.OnceValues(readDeclared)
	return func(t *testing.T) (map[string]map[string]bool, map[string]bool) {
		t.Helper()
		packages, err := once()
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]bool{}
		for _, names := range packages {
			for n := range names {
				all[n] = true
			}
		}
		return packages, all
	}
}()

func readDeclared() (map[string]map[string]bool, error) {
	packages := map[string]map[string]bool{}
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		names := packages[file.Name.Name]
		if names == nil {
			names = map[string]bool{}
			packages[file.Name.Name] = names
		}
		addDeclared(names, file)
		return nil
	})
	return packages, err
}

// addDeclared adds all names that a file declares.
func addDeclared(names map[string]bool, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names[n.Name.Name] = true
		case *ast.TypeSpec:
			names[n.Name.Name] = true
		case *ast.ValueSpec:
			addNames(names, n.Names)
		case *ast.Field:
			addNames(names, n.Names)
		}
		return true
	})
}

func addNames(names map[string]bool, more []*ast.Ident) {
	for _, n := range more {
		names[n.Name] = true
	}
}
