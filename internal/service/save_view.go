package service

import (
	"context"
	"strings"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// SaveView keeps a filter of the list of orders for the calling user. The name is the user's own,
// so the same name again replaces the filter.
func (s *Service) SaveView(ctx context.Context, by Caller, name, query string) (commerce.SavedView, error) {
	return commit.Do(ctx, s.committer, commit.Command[commerce.SavedView](command.SaveView{View: commerce.SavedView{
		SavedViewKey: commerce.SavedViewKey{UserID: by.User.ID, Name: commerce.CleanText(strings.TrimSpace(name), maxViewName)}, Query: query}}))
}

// maxViewName is how long the name of a view may be.
const maxViewName = 60
