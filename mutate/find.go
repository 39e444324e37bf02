package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// mutant is one small change of the code.
type mutant struct {
	id   int    // the environment variable MUTANT chooses it
	key  string // names it in the file of survivors: FUNCTION, a tab, OLD => NEW
	line string // FILE:LINE, for people
}

// edit inserts text before and after a node, so that the node asks which mutant is chosen.
type edit struct {
	from, to      int // offsets of the node
	before, after string
}

// finder finds the mutants of one file. The rules that leave something out stand in skip.go.
type finder struct {
	pkg      *types.Package
	info     *types.Info
	fset     *token.FileSet
	text     []byte
	file     *ast.File
	name     string
	function string
	returns  *types.Tuple // of the innermost function
	noTime   ast.Expr     // a zero that is compared with a time
	mutants  *[]mutant
	seen     map[string]int // how often a key was given
	edits    []edit
}

// visit walks through the body of a function. Package-level tables and constants are
// left out: all tests reach them.
func (f *finder) visit(n ast.Node) bool {
	if n == nil || f.dull(n) {
		return false
	}
	switch n := n.(type) {
	case *ast.FuncLit:
		outer := f.returns
		f.returns = f.info.TypeOf(n).(*types.Signature).Results()
		ast.Inspect(n.Body, f.visit)
		f.returns = outer
		return false
	case *ast.IfStmt:
		if f.onlyWords(n) {
			if n.Init != nil {
				ast.Inspect(n.Init, f.visit)
			}
			return false
		}
		f.negate(n.Cond)
	case *ast.ForStmt:
		f.negate(n.Cond)
	case *ast.SwitchStmt:
		for _, clause := range n.Body.List {
			if n.Tag == nil {
				for _, e := range clause.(*ast.CaseClause).List {
					f.negate(e)
				}
			}
		}
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	case *ast.ReturnStmt:
		f.errors(n)
	case *ast.CompositeLit:
		f.fields(n)
		if _, isStruct := f.structOf(n); !isStruct { // keys of arrays and maps stay constants
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Value
				}
				ast.Inspect(e, f.visit)
			}
			return false
		}
	case *ast.KeyValueExpr:
		ast.Inspect(n.Value, f.visit)
		return false
	case *ast.CallExpr:
		return f.call(n)
	case ast.Expr:
		f.expression(n)
	}
	return true
}

// call walks through the arguments that matter.
func (f *finder) call(n *ast.CallExpr) bool {
	ast.Inspect(n.Fun, f.visit)
	for i, a := range n.Args {
		if !f.capacity(n, i) {
			ast.Inspect(a, f.visit)
		}
	}
	return false
}

// expression mutates conditions, arithmetic and constants.
func (f *finder) expression(e ast.Expr) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if f.isBool(e) {
			f.condition(e)
		} else {
			f.arithmetic(e)
		}
	case *ast.UnaryExpr:
		if e.Op == token.NOT && f.isBool(e) {
			f.choose(e, "bool", []string{f.src(e.X)})
		}
	case *ast.Ident:
		for _, other := range [][2]string{{"true", "false"}, {"false", "true"}} {
			if f.info.Uses[e] == types.Universe.Lookup(other[0]) {
				f.wrap(e, other[1:], "((mutantAt(%d, 1) == 0) == ", ")")
			}
		}
	case *ast.BasicLit:
		f.constant(e)
	}
}

// negate mutates a condition that is no comparison: those are mutated wherever they stand.
func (f *finder) negate(e ast.Expr) {
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr, *ast.IndexExpr:
		if f.isBool(e) {
			f.choose(e, "bool", []string{"!" + f.src(e)})
		}
	}
}

// boundary has the comparisons that differ in one point.
var boundary = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

// negated has the opposites of comparisons.
var negated = map[token.Token]string{token.LSS: ">=", token.LEQ: ">", token.GTR: "<=", token.GEQ: "<", token.EQL: "!=", token.NEQ: "=="}

func (f *finder) condition(e *ast.BinaryExpr) {
	x, y := f.src(e.X), f.src(e.Y)
	if e.Op == token.LAND || e.Op == token.LOR {
		f.choose(e, "bool", []string{x, y})
		return
	}
	if (e.Op == token.EQL || e.Op == token.NEQ) && y == "0" && f.isTime(e.X) {
		f.noTime = e.Y
	}
	alternatives := []string{x + " " + negated[e.Op] + " " + y}
	if b := boundary[e.Op]; b != "" && !f.isText(e.X) {
		alternatives = append(alternatives, x+" "+b+" "+y)
	}
	if f.isErrorGuard(e) {
		alternatives = append(alternatives, "false") // as if the error were not looked at
	}
	f.choose(e, "bool", alternatives)
}

var swapped = map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*",
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=", token.INC: "--", token.DEC: "++"}

func (f *finder) arithmetic(e *ast.BinaryExpr) {
	tv := f.info.Types[e]
	if op := swapped[e.Op]; op != "" && tv.Value == nil && f.isNumber(e) {
		if t, ok := f.typeName(tv.Type); ok {
			f.choose(e, t, []string{f.src(e.X) + " " + op + " " + f.src(e.Y)})
		}
	}
}

func (f *finder) constant(e *ast.BasicLit) {
	if e == f.noTime {
		return
	}
	if (e.Kind == token.INT || e.Kind == token.FLOAT) && f.isNumber(e) {
		if t, ok := f.typeName(f.info.TypeOf(e)); ok {
			f.wrap(e, []string{e.Value + " + 1"}, "mutantNext["+t+"](%d, ", ")")
		}
	}
}

// fields sets each field of a literal of a struct to zero.
func (f *finder) fields(lit *ast.CompositeLit) {
	s, ok := f.structOf(lit)
	for i, e := range lit.Elts {
		if !ok {
			return
		}
		field, value := "", e
		if kv, keyed := e.(*ast.KeyValueExpr); keyed {
			field, value = kv.Key.(*ast.Ident).Name, kv.Value
		} else {
			field = s.Field(i).Name()
		}
		for v := range s.Fields() {
			if v.Name() == field {
				f.zero(value, v.Type(), field+": "+f.src(value), "zero")
			}
		}
	}
}

// errors returns nil in the place of errors.
func (f *finder) errors(n *ast.ReturnStmt) {
	if f.returns == nil || len(n.Results) != f.returns.Len() {
		return
	}
	for i, r := range n.Results {
		if t := f.returns.At(i).Type(); t == types.Universe.Lookup("error").Type() {
			f.zero(r, t, "return "+f.src(r), "nil")
		}
	}
}

// zero has an expression give the zero value of a type. It is evaluated all the same.
func (f *finder) zero(e ast.Expr, t types.Type, old, new string) {
	tv := f.info.Types[e]
	if tv.IsNil() || tv.Value != nil && isZero(tv.Value) || f.isEmptyLiteral(e) {
		return
	}
	name, ok := f.typeName(t)
	if !ok && (!types.Identical(t, tv.Type) || tv.Value != nil) {
		return
	}
	if ok {
		name = "[" + name + "]"
	}
	f.insert(e, old, []string{new}, "mutantZero"+name+"(%d, ", ")")
}

func isZero(v constant.Value) bool {
	switch v.Kind() {
	case constant.Bool:
		return !constant.BoolVal(v)
	case constant.String:
		return constant.StringVal(v) == ""
	}
	return constant.Sign(v) == 0
}

// statements drops statements.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		var others []string
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || f.onlyBlank(s) || f.isGrow(s) {
				continue
			}
			if op := swapped[s.Tok]; op != "" && f.isNumber(s.Lhs[0]) {
				others = []string{f.src(s.Lhs[0]) + " " + op + " " + f.src(s.Rhs[0])}
			}
		case *ast.IncDecStmt:
			others = []string{f.src(s.X) + swapped[s.Tok]}
		case *ast.ExprStmt:
			if f.dull(s) || f.isPanic(s.X) {
				continue
			}
		case *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
		case *ast.BranchStmt:
			f.insert(s, f.src(s), []string{"dropped"}, "if mutantAt(%d, 1) == 0 { ", " }")
			continue
		case *ast.ReturnStmt:
			if len(s.Results) == 0 && f.returns.Len() == 0 {
				f.insert(s, "return", []string{"dropped"}, "if mutantAt(%d, 1) == 0 { ", " }")
			}
			continue
		default:
			continue
		}
		after := ""
		for i, o := range others {
			after += fmt.Sprintf("; case %d: %s", i+2, o)
		}
		f.insert(s, f.src(s), append([]string{"dropped"}, others...), "switch mutantAt(%d, "+strconv.Itoa(1+len(others))+") { case 0: ", after+" }")
	}
}

// choose has an expression of a type give one of the alternatives, which are only evaluated then.
func (f *finder) choose(e ast.Expr, t string, alternatives []string) {
	cases := ""
	for i, a := range alternatives {
		cases += fmt.Sprintf("case %d: return %s; ", i+1, a)
	}
	f.wrap(e, alternatives, "func() "+t+" { switch mutantAt(%d, "+strconv.Itoa(len(alternatives))+") { "+strings.ReplaceAll(cases, "%", "%%")+"}; return ", " }()")
}

func (f *finder) wrap(n ast.Node, alternatives []string, before, after string) {
	f.insert(n, f.src(n), alternatives, before, after)
}

// insert adds a mutant for each alternative. before gets the number of the first.
func (f *finder) insert(n ast.Node, old string, alternatives []string, before, after string) {
	at := f.fset.Position(n.Pos())
	first := len(*f.mutants) + 1
	for _, a := range alternatives {
		key := f.function + "\t" + short(old) + " => " + short(a)
		f.seen[key]++
		if n := f.seen[key]; n > 1 {
			key += fmt.Sprintf(" (%d)", n)
		}
		*f.mutants = append(*f.mutants, mutant{len(*f.mutants) + 1, key, fmt.Sprintf("%s:%d", f.name, at.Line)})
	}
	f.edits = append(f.edits, edit{at.Offset, f.fset.Position(n.End()).Offset, fmt.Sprintf(before, first), after})
}

// short is text on one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 90 {
		text = string(runes[:90]) + "..."
	}
	return text
}

func (f *finder) src(n ast.Node) string {
	return string(f.text[f.fset.Position(n.Pos()).Offset:f.fset.Position(n.End()).Offset])
}
