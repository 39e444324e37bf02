package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ImportCatalog is a catalog to be imported. The use case fills in Actor.
type ImportCatalog = command.ImportCatalog

// ImportResult counts what an import made and updated.
type ImportResult = command.ImportResult

// ImportRefused lists what is wrong with a catalog, of which nothing was imported.
type ImportRefused = command.ImportRefused

// ImportCatalog makes or updates categories, stores and products: all of them, or
// none. An *ImportRefused says what is wrong.
func (s *Service) ImportCatalog(ctx context.Context, by commerce.Actor, in ImportCatalog) (ImportResult, error) {
	in.Actor = by.Name()
	return act(ctx, s, by, in)
}
