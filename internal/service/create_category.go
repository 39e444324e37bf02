package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// CreateCategory makes a category of products.
func (s *Service) CreateCategory(ctx context.Context, by Caller, name string, o Once[commerce.Category]) (Outcome[commerce.Category], error) {
	in := command.CreateCategory{ID: s.newID(commerce.PrefixCategory), Name: name}
	return once(ctx, s, by, o, auditPeople(by.Actor, deed{"create_category", "", in.ID}, in), neverRefused)
}
