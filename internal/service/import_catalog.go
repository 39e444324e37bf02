package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ImportCatalog is a catalog to import. The use case sets Actor.
type ImportCatalog = command.ImportCatalog

// ImportResult counts the rows that an import created and updated.
type ImportResult = command.ImportResult

// ImportRefused lists the problems of a catalog. Nothing of it was imported.
type ImportRefused = command.ImportRefused

// ImportCatalog creates or updates categories, stores and products: all of them, or none.
// It returns an *ImportRefused with the problems if there are any.
func (s *Service) ImportCatalog(ctx context.Context, by commerce.Actor, in ImportCatalog) (ImportResult, error) {
	in.Actor = by.Name()
	return act(ctx, s, by, deed{"import_catalog", "", "catalog"}, in)
}
