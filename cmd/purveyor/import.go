package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"purveyor/docs"
	"purveyor/internal/command"
	"purveyor/internal/importfile"
	"purveyor/internal/productcsv"
	"purveyor/internal/service"

	"github.com/alecthomas/kong"
)

type importCommand struct {
	onAnyDatabase
	Schema       schemaFlag `help:"Print the JSON Schema of the file, and do nothing else."`
	DryRun       bool       `help:"Print what would change, and change nothing." env:"PURVEYOR_IMPORT_DRY_RUN"`
	AllowUnknown bool       `help:"Ignore fields that are not known; of CSV, columns." env:"PURVEYOR_IMPORT_ALLOW_UNKNOWN"`
	Store        string     `help:"Of CSV: the store of products whose line names none." env:"PURVEYOR_IMPORT_STORE" placeholder:"ID"`
	File         string     `arg:"" help:"JSON: {\"categories\": [...], \"stores\": [...], \"products\": [...]}, with prices in cents; or products and stock as CSV, if the name ends in .csv." placeholder:"FILE"`
	read         *catalogFile
	progress     *progress
}

// schemaFlag prints the schema instead of running the command.
type schemaFlag bool

// BeforeReset implements a hook of kong, which calls it before it looks for the file.
func (schemaFlag) BeforeReset(app *kong.Kong) error {
	printf("%s", docs.ImportSchema)
	app.Exit(0)
	return nil
}

// shownChanges bounds how many changes a dry run prints.
const shownChanges = 20

func (c *importCommand) prepare() error {
	data, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	isCSV := strings.EqualFold(filepath.Ext(c.File), ".csv")
	if c.Store != "" && !isCSV {
		return wrong("--store %s: only the lines of a CSV file may leave their store out", c.Store)
	}
	c.progress = startProgress()
	c.progress.phase("reading "+filepath.Base(c.File), int64(len(data)), "bytes")
	if isCSV {
		c.read = csvFile(c.File, productcsv.Options{StoreID: c.Store, NeedIDs: true, AllowUnknown: c.AllowUnknown}.Decode(data))
	} else {
		parser := importfile.Parser{AllowUnknown: c.AllowUnknown, Progress: func(done int) { c.progress.set(int64(done)) }}
		c.read = jsonFile(c.File, parser.Parse(data))
	}
	if err := c.read.refused(); err != nil {
		c.progress.end()
		return err
	}
	return nil
}

// ProvideDatabase opens the database. A dry run makes none.
func (c *importCommand) ProvideDatabase() (*database, error) {
	if c.DryRun {
		return c.provide(toUse)
	}
	return c.provide(toFill)
}

func (c *importCommand) Run(ctx context.Context, db *database) error {
	defer c.progress.end()
	products := int64(len(c.read.catalog.Products))
	if c.DryRun {
		c.progress.phase(fmt.Sprintf("comparing %d products", products), 0, "")
		preview, err := db.uses.PreviewCatalog(ctx, operator(), c.read.catalog)
		if err != nil {
			return c.read.refusedBy(err)
		}
		c.progress.end()
		printPreview(preview)
		return nil
	}
	c.progress.phase(fmt.Sprintf("saving %d products", products), 0, "")
	result, err := importCatalog(ctx, db, c.read)
	if err != nil {
		return err
	}
	c.progress.end()
	printCounts(result)
	return nil
}

func printCounts(r service.ImportResult) {
	printf("categories: %d new, %d updated, %d unchanged\nstores: %d new, %d updated, %d unchanged\nproducts: %d new, %d updated, %d unchanged\n",
		r.CategoriesMade, r.CategoriesUpdated, r.CategoriesSame, r.StoresMade, r.StoresUpdated, r.StoresSame,
		r.ProductsMade, r.ProductsUpdated, r.ProductsSame)
}

func printPreview(p service.CatalogPreview) {
	printCounts(p.ImportResult)
	for _, change := range p.Changes[:min(len(p.Changes), shownChanges)] {
		fields := make([]string, len(change.Fields))
		for i, f := range change.Fields {
			fields[i] = fmt.Sprintf("%s %q -> %q", f.Name, f.Before, f.After)
		}
		if change.New {
			fields = []string{"new"}
		}
		printf("%s %s: %s\n", change.List, change.Key, strings.Join(fields, ", "))
	}
	r := p.ImportResult
	if more := r.CategoriesMade + r.CategoriesUpdated + r.StoresMade + r.StoresUpdated + r.ProductsMade + r.ProductsUpdated - shownChanges; more > 0 {
		printf("... and %d more\n", more)
	}
	printf("nothing was imported\n")
}

// catalogFile is a file that was read.
type catalogFile struct {
	name     string
	catalog  command.ImportCatalog
	problems []importfile.Problem
	more     int                                        // further problems
	endless  bool                                       // and not all were looked for
	place    func(path string) (line int, shown string) // where a field is, for people
}

func jsonFile(name string, f *importfile.File) *catalogFile {
	return &catalogFile{name: name, catalog: f.Catalog, problems: f.Problems, more: f.More,
		place: func(path string) (int, string) { return f.LineOf(path), path }}
}

func csvFile(name string, f productcsv.File) *catalogFile {
	read := &catalogFile{name: name, catalog: f.Catalog(), endless: f.More, place: func(path string) (int, string) {
		_, rest, _ := strings.Cut(path, "[")
		number, field, _ := strings.Cut(rest, "].")
		if i, err := strconv.Atoi(number); err == nil && i < len(f.Rows) {
			return f.Rows[i].Line, field
		}
		return 1, path
	}}
	for i, p := range f.Problems {
		if i == importfile.MaxProblems {
			read.more = len(f.Problems) - i
			break
		}
		read.problems = append(read.problems, importfile.Problem{Line: p.Line, Path: p.Column, Reason: p.Reason})
	}
	return read
}

// refused prints the problems of a file that cannot be imported, and returns an error if there are any.
func (f *catalogFile) refused() error {
	if len(f.problems) == 0 {
		return nil
	}
	for _, p := range f.problems {
		if p.Path != "" {
			p.Path += ": "
		}
		complain("%s:%d: %s%s\n", f.name, p.Line, p.Path, p.Reason)
	}
	count, noun := len(f.problems)+f.more, "problems"
	if f.more > 0 {
		complain("... and %d more\n", f.more)
	}
	switch {
	case count == 1:
		noun = "problem"
	case f.endless:
		noun = "problems or more"
	}
	return fmt.Errorf("%s has %d %s; nothing was imported", f.name, count, noun)
}

// refusedBy prints the problems that only the database shows. Any other error it returns as it is.
func (f *catalogFile) refusedBy(err error) error {
	refusal, ok := errors.AsType[*service.ImportRefused](err)
	if !ok {
		return err
	}
	for i, p := range refusal.Problems {
		if i == importfile.MaxProblems {
			f.more = len(refusal.Problems) - i
			break
		}
		line, shown := f.place(p.Path)
		f.problems = append(f.problems, importfile.Problem{Line: line, Path: shown, Reason: p.Reason})
	}
	return f.refused()
}

// importCatalog imports a file that was read without problems.
func importCatalog(ctx context.Context, db *database, file *catalogFile) (service.ImportResult, error) {
	result, err := db.uses.ImportCatalog(ctx, operator(), file.catalog)
	if err != nil {
		return result, file.refusedBy(err)
	}
	return result, nil
}
