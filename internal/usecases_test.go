package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reads are the use cases that run no command of their own name: they change
// nothing, only keep what they learned on the way, or are made of other use cases.
var reads = []string{"ActInSandbox", "CheckAvailability", "CheckStock", "CountEvents", "CountReplies", "DrawSecret", "EventsOfRequest", "FindCertification", "FindOrder", "FindOrderByExternal", "FollowOrder", "FindProduct", "ListProducts", "LocateAddress", "MayReadStore", "FindLink", "PlaceOf", "Preflight", "PreviewCatalog", "PreviewProducts",
	"QuoteDelivery", "ReadSubject", "StoreOfOrder", "StoredDelivery", "TrackOrder", "TriggerEvent"}

// A use case has one name: the handler startCheckout in api/start_checkout.go calls
// Service.StartCheckout in service/start_checkout.go, which runs the command
// StartCheckout in command/start_checkout.go. Each file has one of them.
func TestUseCasesHaveOneName(t *testing.T) {
	commands := map[string]bool{}
	for path, file := range filesOf(t, "command") {
		for _, f := range functions(file) {
			if recv := receiver(f); f.Name.Name == "Decide" && recv != "" {
				commands[recv] = true
				standsIn(t, path, "command "+recv, recv)
			}
		}
	}
	for path, file := range filesOf(t, "service") {
		for _, f := range functions(file) {
			if receiver(f) != "Service" || !f.Name.IsExported() {
				continue
			}
			name := f.Name.Name
			standsIn(t, path, "use case "+name, name)
			if slices.Contains(reads, name) == commands[name] {
				t.Errorf("use case %s: a change has a command of its name, and a read does not", name)
			}
			if commands[name] && !selects(file, "command", name) {
				t.Errorf("use case %s does not run command.%s", name, name)
			}
		}
	}
	for path, file := range filesOf(t, "api") {
		for _, f := range functions(file) {
			if receiver(f) == "API" && isHandler(f) {
				standsIn(t, path, "handler "+f.Name.Name, f.Name.Name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if m, ok := n.(*ast.SelectorExpr); ok && ofService(m.X) { // (*service.Service).StartCheckout
				standsIn(t, path, "the handler of use case "+m.Sel.Name, m.Sel.Name)
			}
			return true
		})
	}
}

// filesOf returns the files of a package of internal/ without its tests, by path.
func filesOf(t *testing.T, folder string) map[string]*ast.File {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal(folder, "has no files", err)
	}
	files := map[string]*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if files[path], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func functions(file *ast.File) (list []*ast.FuncDecl) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			list = append(list, f)
		}
	}
	return list
}

// receiver is the name of a method's type; empty for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	name, _ := of.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// isHandler reports whether a method of API serves a route:
// func(*request) (reply, error), or the same with an order.
func isHandler(f *ast.FuncDecl) bool {
	in, out := f.Type.Params.List, f.Type.Results
	ofOrder := len(in) == 2 && isOrder(in[1].Type)
	if len(in) != 1 && !ofOrder || out == nil || len(out.List) != 2 {
		return false
	}
	star, ok := in[0].Type.(*ast.StarExpr)
	return ok && isNamed(star.X, "request") && isNamed(out.List[0].Type, "reply")
}

// isOrder reports whether e is commerce.Order.
func isOrder(e ast.Expr) bool {
	of, ok := e.(*ast.SelectorExpr)
	return ok && isNamed(of.X, "commerce") && of.Sel.Name == "Order"
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// ofService reports whether e is (*service.Service).
func ofService(e ast.Expr) bool {
	paren, ok := e.(*ast.ParenExpr)
	if !ok {
		return false
	}
	star, ok := paren.X.(*ast.StarExpr)
	if !ok {
		return false
	}
	of, ok := star.X.(*ast.SelectorExpr)
	return ok && isNamed(of.X, "service") && of.Sel.Name == "Service"
}

// selects reports whether a file names pkg.name.
func selects(file *ast.File, pkg, name string) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		found = found || ok && isNamed(s.X, pkg) && s.Sel.Name == name
		return !found
	})
	return found
}

var capitals = regexp.MustCompile(`[A-Z]`)

// standsIn checks that what is called name stands in the file of that name.
func standsIn(t *testing.T, path, what, name string) {
	t.Helper()
	file := strings.TrimPrefix(strings.ToLower(capitals.ReplaceAllString(name, "_$0")), "_") + ".go"
	if filepath.Base(path) != file {
		t.Errorf("%s stands in %s, and not in %s", what, path, file)
	}
}
