package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// UpdateCategory is a change of a category.
type UpdateCategory = command.UpdateCategory

// UpdateCategory renames a category, and switches it on or off.
func (s *Service) UpdateCategory(ctx context.Context, by commerce.Actor, in UpdateCategory) (commerce.Category, error) {
	return act(ctx, s, by, deed{"update_category", "", in.ID}, in)
}
