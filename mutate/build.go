package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed is what go list tells of a package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string
	GoFiles    []string
}

// mutated is a package with all its mutants in it.
type mutated struct {
	listed
	mutants []mutant
	overlay string // a file for go test -overlay
	work    string // a folder
}

// mutate writes the sources of a package, with all mutants in them, into a folder.
func mutate(path, work string) (*mutated, error) {
	packages, err := list(path)
	if err != nil {
		return nil, err
	}
	m := &mutated{listed: packages[len(packages)-1], work: work}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	var files []*ast.File
	for _, name := range m.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(m.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}}
	pkg, err := conf.Check(m.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	replaced := map[string]string{}
	seen := map[string]int{}
	for i, file := range files {
		text, err := os.ReadFile(filepath.Join(m.Dir, m.GoFiles[i]))
		if err != nil {
			return nil, err
		}
		f := finder{pkg: pkg, info: info, fset: fset, text: text, file: file, name: m.GoFiles[i], mutants: &m.mutants, seen: seen}
		f.find()
		copied := filepath.Join(work, m.GoFiles[i])
		replaced[filepath.Join(m.Dir, m.GoFiles[i])] = copied
		if err := os.WriteFile(copied, apply(text, f.edits), 0o644); err != nil {
			return nil, err
		}
	}
	helper := filepath.Join(work, "mutants.go")
	replaced[filepath.Join(m.Dir, "zz_mutants.go")] = helper
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	m.overlay = filepath.Join(work, "overlay.json")
	return m, errors.Join(
		os.WriteFile(helper, fmt.Appendf(nil, runtime, pkg.Name(), len(m.mutants)+1), 0o644),
		os.WriteFile(m.overlay, overlay, 0o644))
}

// list returns a package and, before it, all that it imports.
func list(path string) (packages []listed, err error) {
	out, err := command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", path).Output()
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

// find visits the functions of the file.
func (f *finder) find() {
	for _, d := range f.file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Body == nil {
			continue
		}
		f.function = decl.Name.Name
		if decl.Recv != nil {
			of := decl.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if index, ok := of.(*ast.IndexExpr); ok {
				of = index.X
			}
			f.function = f.src(of) + "." + f.function
		}
		f.returns = f.info.Defs[decl.Name].Type().(*types.Signature).Results()
		ast.Inspect(decl.Body, f.visit)
	}
}

// apply inserts what the edits say. Outer nodes begin before inner ones and end after them.
func apply(text []byte, edits []edit) []byte {
	type piece struct {
		at, order, size int
		text            string
	}
	var pieces []piece
	for i, e := range edits {
		pieces = append(pieces, piece{e.from, i, -(e.to - e.from), e.before}, piece{e.to, -i, e.to - e.from - 1<<30, e.after})
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmpAll(a.at-b.at, a.size-b.size, a.order-b.order)
	})
	var out bytes.Buffer
	at := 0
	for _, p := range pieces {
		out.Write(text[at:p.at])
		out.WriteString(p.text)
		at = p.at
	}
	out.Write(text[at:])
	return out.Bytes()
}

func cmpAll(differences ...int) int {
	for _, d := range differences {
		if d != 0 {
			return d
		}
	}
	return 0
}

// compile makes a test binary of a package, in which the mutated package is used.
func (m *mutated) compile(path string) (binary string, err error) {
	binary = filepath.Join(m.work, strings.ReplaceAll(strings.Trim(path, "./"), "/", "_")+".test")
	cmd := command("go", "test", "-vet=off", "-c", "-overlay", m.overlay, "-o", binary, path)
	cmd.Stdout = os.Stderr
	return binary, cmd.Run()
}

// runtime is the file that is added to a mutated package.
const runtime = `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

var mutantChosen, _ = strconv.Atoi(os.Getenv("MUTANT"))

var mutantLog = func() *os.File {
	f, _ := os.OpenFile(os.Getenv("MUTANTS_REACHED"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return f
}()

var mutantSeen [%d]atomic.Bool

// mutantAt is the number of the chosen mutant if it is one of these, counted from 1.
func mutantAt(first, count int) int {
	if mutantLog != nil && !mutantSeen[first].Swap(true) {
		mutantLog.WriteString(strconv.Itoa(first) + " " + strconv.Itoa(count) + "\n")
	}
	if n := mutantChosen - first; n >= 0 && n < count {
		return n + 1
	}
	return 0
}

func mutantZero[T any](id int, v T) (zero T) {
	if mutantAt(id, 1) == 0 {
		return v
	}
	return zero
}

func mutantNext[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64](id int, v T) T {
	return v + T(mutantAt(id, 1))
}
`
