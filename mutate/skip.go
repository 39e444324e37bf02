package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Left out by rule is what no test should see: capacities, the texts of errors and
// logs, and panics, which tell of mistakes in the program.

// dull reports whether a node holds only constants that must stay constants, or text.
func (f *finder) dull(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.CONST || n.Tok == token.TYPE
	case *ast.ArrayType, *ast.FuncType, *ast.StructType, *ast.MapType:
		return true
	case *ast.ForStmt: // the step of a loop
		return false
	case *ast.ExprStmt:
		return f.dull(n.X)
	case *ast.CallExpr:
		return f.isPanic(n) || f.isWords(n)
	}
	return false
}

// texts are packages and functions whose arguments are for people.
var texts = []string{"fmt.Errorf", "errors.New", "log/slog.", "purveyor/internal/tracing."}

// onlyWords reports whether a condition decides only whether something is logged.
func (f *finder) onlyWords(n *ast.IfStmt) bool {
	words := func(s ast.Stmt) bool {
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		call, ok := e.X.(*ast.CallExpr)
		return ok && f.isWords(call)
	}
	return n.Else == nil && len(n.Body.List) > 0 && !slices.ContainsFunc(n.Body.List, func(s ast.Stmt) bool { return !words(s) })
}

func (f *finder) isWords(n *ast.CallExpr) bool {
	callee := f.callee(n)
	return slices.ContainsFunc(texts, func(t string) bool { return callee == t || strings.HasSuffix(t, ".") && strings.HasPrefix(callee, t) })
}

// callee is PACKAGE.NAME of the function or method that is called; empty: not known.
func (f *finder) callee(n *ast.CallExpr) string {
	fun := ast.Unparen(n.Fun)
	if i, ok := fun.(*ast.IndexExpr); ok {
		fun = i.X
	}
	id, _ := fun.(*ast.Ident)
	if s, ok := fun.(*ast.SelectorExpr); ok {
		id = s.Sel
	}
	if id == nil {
		return ""
	}
	switch obj := f.info.Uses[id].(type) {
	case nil:
		return ""
	case *types.Builtin:
		return obj.Name()
	default:
		if obj.Pkg() == nil {
			return obj.Name()
		}
		return obj.Pkg().Path() + "." + obj.Name()
	}
}

// capacity reports whether argument i says only how much room is made.
func (f *finder) capacity(n *ast.CallExpr, i int) bool {
	switch f.callee(n) {
	case "make":
		_, isMap := f.info.TypeOf(n).Underlying().(*types.Map)
		return i == 2 || i == 1 && isMap
	case "slices.Grow", "strings.Grow", "bytes.Grow":
		return true
	}
	return false
}

// isGrow: x = slices.Grow(x, n).
func (f *finder) isGrow(s *ast.AssignStmt) bool {
	call, ok := s.Rhs[0].(*ast.CallExpr)
	return ok && f.callee(call) == "slices.Grow"
}

func (f *finder) isPanic(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && f.callee(call) == "panic"
}

func (f *finder) onlyBlank(s *ast.AssignStmt) bool {
	return !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return !ok || id.Name != "_" })
}

// isErrorGuard: err != nil.
func (f *finder) isErrorGuard(e *ast.BinaryExpr) bool {
	return e.Op == token.NEQ && f.info.Types[e.Y].IsNil() && types.Implements(f.info.TypeOf(e.X), errorType)
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// isBool: conditions of named types, and those that recover, are left alone.
func (f *finder) isBool(e ast.Expr) bool {
	tv := f.info.Types[e]
	b, ok := tv.Type.(*types.Basic)
	return ok && tv.Value == nil && b.Info()&types.IsBoolean != 0
}

func (f *finder) isNumber(e ast.Expr) bool { return f.is(e, types.IsNumeric) }
func (f *finder) isText(e ast.Expr) bool   { return f.is(e, types.IsString) }

// isTime: of times, zero stands for none, and none is at 1.
func (f *finder) isTime(e ast.Expr) bool {
	named, ok := f.info.TypeOf(e).(*types.Named)
	return ok && named.Obj().Name() == "Millis"
}

func (f *finder) is(e ast.Expr, what types.BasicInfo) bool {
	t := f.info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&what != 0 && b.Info()&types.IsUntyped == 0
}

func (f *finder) structOf(lit *ast.CompositeLit) (*types.Struct, bool) {
	t := f.info.TypeOf(lit)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	return s, ok
}

// isEmptyLiteral: T{}, whose zero value most often is the same.
func (f *finder) isEmptyLiteral(e ast.Expr) bool {
	lit, ok := e.(*ast.CompositeLit)
	if !ok || len(lit.Elts) > 0 {
		return false
	}
	_, isStruct := f.structOf(lit)
	return isStruct
}

// typeName is how the file can name a type.
func (f *finder) typeName(t types.Type) (name string, ok bool) {
	ok = true
	name = types.TypeString(t, func(p *types.Package) string {
		if p == f.pkg {
			return ""
		}
		for _, spec := range f.file.Imports {
			if imported := f.info.PkgNameOf(spec); imported != nil && imported.Imported() == p {
				return imported.Name()
			}
		}
		ok = false
		return p.Name()
	})
	return name, ok && !strings.Contains(name, "untyped")
}
