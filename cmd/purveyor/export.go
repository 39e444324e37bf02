package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/importfile"
	"purveyor/internal/productcsv"
	"purveyor/internal/storage/schema"
)

type exportCommand struct {
	onDatabase
	Store  string `help:"Export this store alone, its products and their categories." env:"PURVEYOR_EXPORT_STORE" placeholder:"ID"`
	Format string `help:"json: stores, products and categories; csv: products and stock. Default: json, or csv for a file that ends in .csv." enum:",json,csv" default:"" env:"PURVEYOR_EXPORT_FORMAT" placeholder:"json|csv"`
	Out    string `help:"The file to write; it appears when it is whole. Default: standard output." env:"PURVEYOR_EXPORT_OUT" placeholder:"FILE"`
}

func (c *exportCommand) prepare() error {
	isCSV := strings.EqualFold(filepath.Ext(c.Out), ".csv")
	if c.Format == "" && isCSV {
		c.Format = "csv"
	}
	if c.Out != "" && (c.Format == "csv") != isCSV {
		return wrong("--out %s: the import reads a file as CSV if its name ends in .csv, and else as JSON", c.Out)
	}
	return nil
}

func (c *exportCommand) Run(ctx context.Context, db *database) error {
	p := startProgress()
	defer p.end()
	x := exporting{store: c.Store, progress: p}
	err := writeWhole(c.Out, func(out io.Writer) error {
		return db.Snapshot(ctx, func(s schema.Snapshot) error {
			if err := x.begin(s); err != nil {
				return err
			}
			if c.Format == "csv" {
				return x.csv(out)
			}
			return x.json(out)
		})
	})
	if p.end(); err == nil && c.Out != "" {
		printf("exported %d products to %s\n", x.products, c.Out)
	}
	return err
}

// exporting is an export of one state of a database: of all stores, or of one.
type exporting struct {
	schema.Snapshot
	store    string // empty: all
	stores   []commerce.Store
	products int64
	progress *progress
}

// begin reads the stores, of which there are few.
func (x *exporting) begin(s schema.Snapshot) error {
	x.Snapshot = s
	err := schema.EachStore(s, func(v commerce.Store) error {
		if x.store == "" || v.ID == x.store {
			x.stores = append(x.stores, v)
		}
		return nil
	})
	if err == nil && x.store != "" && len(x.stores) == 0 {
		err = fmt.Errorf("there is no store %s", x.store)
	}
	slices.SortFunc(x.stores, func(a, b commerce.Store) int { return cmp.Compare(a.ID, b.ID) })
	total := int64(0)
	if err == nil && x.store == "" {
		total, err = schema.CountItems(s)
	}
	x.progress.phase("exporting", total, "products")
	return err
}

// json writes the categories last: of one store, it writes those that its products have.
func (x *exporting) json(out io.Writer) error {
	w, used := importfile.NewWriter(out), map[string]bool{}
	for _, v := range x.stores {
		if err := w.Store(v); err != nil {
			return err
		}
	}
	err := x.each(func(v commerce.Item) error {
		used[v.Stock.CategoryID] = true
		return w.Product(v)
	})
	if err != nil {
		return err
	}
	var categories []commerce.Category
	err = schema.EachCategory(x, func(v commerce.Category) error {
		if x.store == "" || used[v.ID] {
			categories = append(categories, v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(categories, func(a, b commerce.Category) int { return cmp.Compare(a.ID, b.ID) })
	for _, v := range categories {
		if err := w.Category(v); err != nil {
			return err
		}
	}
	return w.Close()
}

func (x *exporting) csv(out io.Writer) error {
	w := bufio.NewWriterSize(out, 64<<10)
	line := productcsv.Header()
	err := x.each(func(v commerce.Item) error {
		line = productcsv.AppendProduct(line, v)
		_, err := w.Write(line)
		line = line[:0]
		return err
	})
	_, failed := w.Write(line) // the header, if there is no product
	return errors.Join(err, failed, w.Flush())
}

func (x *exporting) each(item func(commerce.Item) error) error {
	return x.Items(x.store, func(v commerce.Item) error {
		if x.products++; x.products%1000 == 0 {
			x.progress.set(x.products)
		}
		return item(v)
	})
}

// writeWhole has write write a file, under another name until the file is whole. An empty name is
// standard output.
func writeWhole(name string, write func(io.Writer) error) (err error) {
	if name == "" {
		return write(standardOutput())
	}
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err = errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
