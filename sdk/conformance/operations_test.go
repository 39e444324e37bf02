package conformance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
)

// anOperation is an operation of the API document.
type anOperation struct{ name, method, path string }

// matches reports whether a request "GET /v1/health" is one of the operation.
func (o anOperation) matches(request string) bool {
	method, path, _ := strings.Cut(request, " ")
	want, got := strings.Split(o.path, "/"), strings.Split(path, "/")
	if method != o.method || len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

var goOperation = regexp.MustCompile(`(?m)^\s+(op\w+)\s+= operation\[.*\]\{"(\w+)", "([^"]+)"`)

// operations lists the operations, as they were generated from the API document.
func operations(t *testing.T) (list []anOperation) {
	t.Helper()
	text, err := os.ReadFile("../go/operations.gen.go")
	check.OK(t, err)
	for _, match := range goOperation.FindAllStringSubmatch(string(text), -1) {
		list = append(list, anOperation{match[1], match[2], match[3]})
	}
	if len(list) < 20 {
		t.Fatalf("only %d operations were found", len(list))
	}
	return list
}

// Each operation has a method in both SDKs.
func TestMethods(t *testing.T) {
	inGo, inTypeScript := methodsOfGo(t), methodsOfTypeScript(t)
	for _, o := range operations(t) {
		if !inGo[o.name] {
			t.Errorf("the SDK for Go has no method for %s %s (%s)", o.method, o.path, o.name)
		}
	}
	text, err := os.ReadFile("../typescript/src/operations.ts")
	check.OK(t, err)
	found := regexp.MustCompile(`(?m)^  (\w+): operation<`).FindAllStringSubmatch(string(text), -1)
	if len(found) != len(operations(t)) {
		t.Errorf("%d operations are in TypeScript, %d in Go", len(found), len(operations(t)))
	}
	for _, match := range found {
		if !inTypeScript[match[1]] {
			t.Errorf("the SDK for TypeScript has no method for %s", match[1])
		}
	}
}

// methodsOfGo returns the operations that exported methods call.
func methodsOfGo(t *testing.T) map[string]bool {
	t.Helper()
	called := map[string]bool{}
	files, err := filepath.Glob("../go/*.go")
	check.OK(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".gen.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		check.OK(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok && strings.HasPrefix(name.Name, "op") {
				called[name.Name] = true
			}
			return true
		})
	}
	return called
}

// methodsOfTypeScript returns the operations that the sources name.
func methodsOfTypeScript(t *testing.T) map[string]bool {
	t.Helper()
	called := map[string]bool{}
	files, err := filepath.Glob("../typescript/src/*.ts")
	check.OK(t, err)
	for _, path := range files {
		text, err := os.ReadFile(path)
		check.OK(t, err)
		for _, match := range regexp.MustCompile(`\boperations\.(\w+)`).FindAllStringSubmatch(string(text), -1) {
			called[match[1]] = true
		}
	}
	return called
}
