package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"purveyor/internal/importfile"
	"purveyor/internal/service"
)

type importCommand struct {
	onAnyDatabase
	File string `arg:"" help:"JSON: {\"categories\": [...], \"stores\": [...], \"products\": [...]}, with prices in cents." placeholder:"FILE"`
	file *importfile.File
}

// maxProblems bounds how many problems are printed at a time.
const maxProblems = 50

func (c *importCommand) prepare() error {
	data, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	c.file, err = parseCatalog(c.File, data)
	return err
}

func (c *importCommand) Run(ctx context.Context, db *database) error {
	result, err := importCatalog(ctx, db, c.File, c.file)
	if err != nil {
		return err
	}
	printf("categories: %d new, %d updated\nstores: %d new, %d updated\nproducts: %d new, %d updated\n",
		result.CategoriesMade, result.CategoriesUpdated, result.StoresMade, result.StoresUpdated,
		result.ProductsMade, result.ProductsUpdated)
	return nil
}

// parseCatalog parses a file. It prints the problems of one that cannot be imported.
func parseCatalog(name string, data []byte) (*importfile.File, error) {
	file := importfile.Parse(data)
	if len(file.Problems) > 0 {
		return nil, refuseImport(name, file.Problems)
	}
	return file, nil
}

// importCatalog applies a file that parsed without problems.
func importCatalog(ctx context.Context, db *database, name string, file *importfile.File) (service.ImportResult, error) {
	result, err := db.uses.ImportCatalog(ctx, operator(), file.Catalog)
	refused, ok := errors.AsType[*service.ImportRefused](err)
	if !ok {
		return result, err
	}
	problems := make([]importfile.Problem, len(refused.Problems))
	for i, p := range refused.Problems {
		problems[i] = importfile.Problem{Line: file.LineOf(p.Path), Path: p.Path, Reason: p.Reason}
	}
	return result, refuseImport(name, problems)
}

func refuseImport(name string, problems []importfile.Problem) error {
	for i, p := range problems {
		if i == maxProblems {
			complain("... and %d more\n", len(problems)-maxProblems)
			break
		}
		complain("%s:%d: %s: %s\n", name, p.Line, p.Path, p.Reason)
	}
	noun := "problems"
	if len(problems) == 1 {
		noun = "problem"
	}
	return fmt.Errorf("%s has %d %s; nothing was imported", name, len(problems), noun)
}
