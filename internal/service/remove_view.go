package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// RemoveView forgets a saved view of the calling user.
func (s *Service) RemoveView(ctx context.Context, by Caller, name string) error {
	_, err := commit.Do(ctx, s.committer, commit.Command[commerce.SavedViewKey](command.RemoveView{
		Key: commerce.SavedViewKey{UserID: by.User.ID, Name: name}}))
	return err
}
