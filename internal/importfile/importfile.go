// Package importfile reads the file of `purveyor import`: categories, stores and
// products in the read shapes of SPEC.md, with additional fields for stores. It
// checks everything that the file alone can show, and names the line of each problem.
package importfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"

	"github.com/go-json-experiment/json/jsontext"
)

// Problem is one error in the file.
type Problem struct {
	Line   int
	Path   string // products[12].price
	Reason string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s: %s", p.Line, p.Path, p.Reason) }

// File is the content of the file.
type File struct {
	Catalog  command.ImportCatalog
	Problems []Problem
	lines    map[string]int // line of each element, by its path
}

// LineOf returns the line of an element, given the path of one of its fields.
func (f *File) LineOf(path string) int {
	element, _, _ := strings.Cut(path, ".")
	return f.lines[element]
}

// Parse reads a whole file. It continues after a problem as long as the file is JSON.
func Parse(data []byte) *File {
	p := &parser{file: &File{lines: map[string]int{}}, data: data,
		dec:  jsontext.NewDecoder(bytes.NewReader(data)),
		seen: map[string]string{}}
	if err := p.parse(); err != nil {
		p.syntax(err)
	}
	return p.file
}

type parser struct {
	file *File
	data []byte
	dec  *jsontext.Decoder
	seen map[string]string // "products prd_1" -> path of its first mention

	counted, line int // number of newlines up to this offset
}

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
		list := name.String()
		read, known := map[string]func(jsontext.Value) (string, error){
			"categories": p.category, "stores": p.store, "products": p.product}[list]
		if !known {
			if list == "" {
				list = `""`
			}
			p.problem(int(p.dec.InputOffset()), list, `is not known; a file has "categories", "stores" and "products"`)
			if err := p.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if err := p.list(list, read); err != nil {
			return err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil { // the end of the object
		return err
	}
	rest := bytes.TrimLeft(p.data[p.dec.InputOffset():], " \t\r\n")
	if len(rest) > 0 {
		p.problem(len(p.data)-len(rest), "file", "there is more text after the end of the JSON object")
	}
	return nil
}

func (p *parser) list(name string, read func(jsontext.Value) (string, error)) error {
	switch p.dec.PeekKind() {
	case 'n':
		return p.dec.SkipValue()
	case '[':
	default:
		p.problem(int(p.dec.InputOffset()), name, "must be an array")
		return p.dec.SkipValue()
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for i := 0; p.dec.PeekKind() != ']'; i++ {
		value, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		path := commerce.Index(name, i, "")
		at := int(p.dec.InputOffset()) - len(value)
		p.file.lines[path] = p.lineAt(at)
		id, err := read(value)
		if refusal, ok := errors.AsType[*commerce.Error](err); ok {
			field := path
			if refusal.Field != "body" {
				field += "." + refusal.Field
			}
			p.problem(at, field, strings.TrimPrefix(refusal.Message, refusal.Field+" "))
			continue
		}
		if first, twice := p.seen[name+" "+id]; twice {
			p.problem(at, path+".id", fmt.Sprintf("%s is already the id of %s", id, first))
		}
		p.seen[name+" "+id] = path
	}
	_, err := p.dec.ReadToken()
	return err
}

func (p *parser) problem(offset int, path, reason string) {
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
	offset = min(offset, len(p.data))
	if offset < p.counted {
		p.counted, p.line = 0, 0
	}
	p.line += bytes.Count(p.data[p.counted:offset], []byte{'\n'})
	p.counted = offset
	return p.line + 1
}

func (p *parser) category(value jsontext.Value) (string, error) {
	var in struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Active *bool  `json:"active"`
	}
	if err := jsonin.Decode(value, &in); err != nil {
		return "", err
	}
	var c jsonin.Check
	c.ID("id", &in.ID)
	c.Required("name", &in.Name, jsonin.MaxName)
	p.file.Catalog.Categories = append(p.file.Catalog.Categories, command.ImportCategory(in))
	return in.ID, c.Err
}

func (p *parser) store(value jsontext.Value) (string, error) {
	var in struct {
		ID              string      `json:"id"`
		Name            string      `json:"name"`
		Slug            *string     `json:"slug"`
		Address         *string     `json:"address"`
		City            *string     `json:"city"`
		State           *string     `json:"state"`
		ZipCode         *string     `json:"zip_code"`
		Email           *string     `json:"email"`
		Phone           *string     `json:"phone"`
		Active          *bool       `json:"active"`
		Open            *bool       `json:"open"`
		PickupEnabled   *bool       `json:"pickup_enabled"`
		DeliveryEnabled *bool       `json:"service_delivery_enabled"`
		Lat             *float64    `json:"lat"`
		Lng             *float64    `json:"lng"`
		RadiusMiles     *float64    `json:"service_delivery_radius_miles"`
		TaxRateBps      *jsonin.Int `json:"tax_rate_bps"`
		ChargesQuote    *bool       `json:"charge_live_quote"`
		TimeZone        *string     `json:"time_zone"`
		LateMinutes     *jsonin.Int `json:"late_minutes"`
		HoldMinutes     *jsonin.Int `json:"hold_minutes"`
	}
	if err := jsonin.Decode(value, &in); err != nil {
		return "", err
	}
	store := command.ImportStore{
		ID: in.ID, Name: in.Name, Slug: in.Slug, Address: in.Address, City: in.City, State: in.State, ZipCode: in.ZipCode,
		Email: in.Email, Phone: in.Phone, Active: in.Active, Open: in.Open, PickupEnabled: in.PickupEnabled,
		DeliveryEnabled: in.DeliveryEnabled, Lat: in.Lat, Lng: in.Lng, RadiusMiles: in.RadiusMiles, TaxRateBps: (*int64)(in.TaxRateBps),
		ChargesQuote: in.ChargesQuote, TimeZone: in.TimeZone, LateMinutes: (*int64)(in.LateMinutes), HoldMinutes: (*int64)(in.HoldMinutes),
	}
	p.file.Catalog.Stores = append(p.file.Catalog.Stores, store)
	return in.ID, CheckStore(store)
}

func (p *parser) product(value jsontext.Value) (string, error) {
	var in struct {
		ID            string      `json:"id"`
		Name          string      `json:"name"`
		StoreID       string      `json:"store_id"`
		CategoryID    *string     `json:"category_id"`
		Description   *string     `json:"description"`
		SKU           *string     `json:"sku"`
		FeaturedImage *string     `json:"featured_image"`
		Images        *[]string   `json:"images"`
		Price         *jsonin.Int `json:"price"`
		Active        *bool       `json:"active"`
		Quantity      *jsonin.Int `json:"available_quantity"`
	}
	if err := jsonin.Decode(value, &in); err != nil {
		return "", err
	}
	var c jsonin.Check
	c.ID("id", &in.ID)
	c.ID("store_id", &in.StoreID)
	c.Required("name", &in.Name, jsonin.MaxName)
	if in.CategoryID != nil {
		c.ID("category_id", in.CategoryID)
	}
	c.Optional("description", in.Description, jsonin.MaxText)
	c.Optional("sku", in.SKU, jsonin.MaxID)
	c.Optional("featured_image", in.FeaturedImage, jsonin.MaxURL)
	c.Images("images", in.Images)
	price := c.OptBetween("price", in.Price, 0, int64(commerce.MaxCents))
	quantity := c.OptBetween("available_quantity", in.Quantity, 0, commerce.MaxStock)
	p.file.Catalog.Products = append(p.file.Catalog.Products, command.ImportProduct{
		ID: in.ID, Name: in.Name, StoreID: in.StoreID, CategoryID: in.CategoryID, Description: in.Description, SKU: in.SKU,
		FeaturedImage: in.FeaturedImage, Images: in.Images, PriceCents: (*commerce.Cents)(price), Active: in.Active, Quantity: quantity,
	})
	return in.ID, c.Err
}
