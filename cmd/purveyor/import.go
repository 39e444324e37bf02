package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"purveyor/internal/config"
	"purveyor/internal/importfile"
	"purveyor/internal/service"
)

type importCommand struct {
	config.Database
	File string `arg:"" help:"JSON: {\"categories\": [...], \"stores\": [...], \"products\": [...]}, with prices in cents." placeholder:"FILE"`
}

// maxProblems bounds how many problems are printed at a time.
const maxProblems = 50

func (c importCommand) Run() error {
	data, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	file := importfile.Parse(data)
	if len(file.Problems) > 0 {
		return refuseImport(c.File, file.Problems)
	}
	return onDatabase(c.Database, isMade, func(ctx context.Context, db *database) error {
		result, err := importCatalog(ctx, db, c.File, file)
		if err != nil {
			return err
		}
		printf("categories: %d new, %d updated\nstores: %d new, %d updated\nproducts: %d new, %d updated\n",
			result.CategoriesMade, result.CategoriesUpdated, result.StoresMade, result.StoresUpdated,
			result.ProductsMade, result.ProductsUpdated)
		return nil
	})
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
