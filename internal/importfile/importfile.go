// Package importfile reads and writes the file of `purveyor import`: categories, stores and
// products in the read shapes of SPEC.md, with additional fields for stores. It
// checks everything that the file alone can show, and names the line of each problem.
package importfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/nearest"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxProblems is how many problems of a file are listed.
const MaxProblems = 100

// Problem is one error in the file.
type Problem struct {
	Line   int
	Path   string // products[12].price
	Reason string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s: %s", p.Line, p.Path, p.Reason) }

// File is the content of the file. It lacks elements that have problems.
type File struct {
	Catalog  command.ImportCatalog
	Problems []Problem // the first MaxProblems, in the order of their lines
	More     int       // further problems

	data   []byte
	places map[string][]int // the offset of each element, by the list
}

// Parser reads files.
type Parser struct {
	AllowUnknown bool           // ignore fields that are not known
	Progress     func(done int) // is called with the bytes that were read; nil: is not
}

// Parse reads a whole file in which every field must be known. It continues after a problem as
// long as the file is JSON.
func Parse(data []byte) *File { return Parser{}.Parse(data) }

// Parse reads a whole file.
func (o Parser) Parse(data []byte) *File {
	p := &parser{Parser: o, file: &File{data: data, places: map[string][]int{}},
		dec: jsontext.NewDecoder(bytes.NewReader(data))}
	if err := p.parse(); err != nil {
		p.syntax(err)
	}
	slices.SortStableFunc(p.file.Problems, func(a, b Problem) int { return a.Line - b.Line })
	return p.file
}

// LineOf returns the line of a field, given its path; of a field that the file does not have,
// that of its element.
func (f *File) LineOf(path string) int {
	element, field, _ := strings.Cut(path, ".")
	list, rest, _ := strings.Cut(element, "[")
	i, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	if err != nil || i < 0 || i >= len(f.places[list]) {
		return 0
	}
	at := f.places[list][i]
	dec := jsontext.NewDecoder(bytes.NewReader(f.data[at:]))
	if value, err := dec.ReadValue(); err == nil {
		name, _, _ := strings.Cut(field, "[")
		for m := range membersOf(value) {
			if m.name == name {
				at += m.at
				break
			}
		}
	}
	return 1 + bytes.Count(f.data[:at], []byte{'\n'})
}

type parser struct {
	Parser
	file *File
	dec  *jsontext.Decoder

	counted, line int // number of newlines up to this offset
}

// lists are the lists of a file.
var lists = []string{"categories", "stores", "products"}

func (p *parser) parse() error {
	start, err := p.dec.ReadToken()
	if err != nil {
		return err
	}
	if start.Kind() != '{' {
		p.problem(0, "file", `must be a JSON object with "categories", "stores" and "products"`)
		return nil
	}
	for p.dec.PeekKind() == '"' {
		name, err := p.dec.ReadToken()
		if err != nil {
			return err
		}
		if err := p.member(name.String()); err != nil {
			return err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil { // the end of the object
		return err
	}
	rest := bytes.TrimLeft(p.file.data[p.dec.InputOffset():], " \t\r\n")
	if len(rest) > 0 {
		p.problem(len(p.file.data)-len(rest), "file", "there is more text after the end of the JSON object")
	}
	if len(p.file.places)+len(p.file.Problems) == 0 {
		p.problem(0, "file", `has none of the lists "categories", "stores" and "products"`)
	}
	return nil
}

// member reads a member of the file's object.
func (p *parser) member(name string) error {
	at := int(p.dec.InputOffset())
	switch {
	case name == "categories":
		return readList(p, name, func(v *categoryFields) {
			p.file.Catalog.Categories = append(p.file.Catalog.Categories, command.ImportCategory{ID: v.ID, Name: v.Name, Active: v.Active})
		})
	case name == "stores":
		return readList(p, name, func(v *storeFields) { p.file.Catalog.Stores = append(p.file.Catalog.Stores, v.command()) })
	case name == "products":
		return readList(p, name, func(v *productFields) { p.file.Catalog.Products = append(p.file.Catalog.Products, v.command()) })
	case name == "$schema":
		if p.dec.PeekKind() != '"' {
			p.problem(at, name, "must be a string")
		}
	case !p.AllowUnknown:
		reason := `is not known; a file has "categories", "stores" and "products"`
		if near := nearest.Of(name, lists); near != "" {
			reason = "is not known; did you mean " + near + "?"
		}
		if name == "" {
			name = `""`
		}
		p.problem(at, name, reason)
	}
	return p.dec.SkipValue()
}

// readList reads a list. keep keeps an element without problems.
func readList[T any, F fields[T]](p *parser, list string, keep func(F)) error {
	switch p.dec.PeekKind() {
	case 'n':
		return p.dec.SkipValue()
	case '[':
	default:
		p.problem(int(p.dec.InputOffset()), list, "must be an array")
		return p.dec.SkipValue()
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	ids, places := map[string]int{}, []int{}
	defer func() { p.file.places[list] = places }()
	known := names(reflect.TypeFor[T]())
	for i := 0; p.dec.PeekKind() != ']'; i++ {
		value, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		at := int(p.dec.InputOffset()) - len(value)
		places = append(places, at)
		if p.Progress != nil && i%1000 == 0 {
			p.Progress(at)
		}
		e := entry{parser: p, path: func() string { return commerce.Index(list, i, "") }, at: at, known: known}
		v, ok := decode[T, F](e, value)
		if !ok {
			continue
		}
		id := v.key()
		if first, twice := ids[id]; twice {
			e.problem(at, "id", fmt.Sprintf("%s is already the id of %s", id, commerce.Index(list, first, "")))
			continue
		}
		ids[id] = i
		keep(v)
	}
	_, err := p.dec.ReadToken()
	return err
}

func (p *parser) problem(offset int, path, reason string) {
	if len(p.file.Problems) == MaxProblems {
		p.file.More++
		return
	}
	p.file.Problems = append(p.file.Problems, Problem{p.lineAt(offset), path, reason})
}

func (p *parser) syntax(err error) {
	offset, path := int(p.dec.InputOffset()), "file"
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset, err = int(syntactic.ByteOffset), syntactic.Err
		if syntactic.JSONPointer != "" {
			path = jsonin.Path(syntactic.JSONPointer)
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = errors.New("it ends too early")
	}
	p.problem(offset, path, fmt.Sprintf("the file is not valid JSON: %v", err))
}

// lineAt counts on from the previous offset, because offsets mostly grow.
func (p *parser) lineAt(offset int) int {
	offset = min(offset, len(p.file.data))
	if offset < p.counted {
		p.counted, p.line = 0, 0
	}
	p.line += bytes.Count(p.file.data[p.counted:offset], []byte{'\n'})
	p.counted = offset
	return p.line + 1
}
