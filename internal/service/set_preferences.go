package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// SetPreferences changes the name of the caller, and how the caller likes the pages.
func (s *Service) SetPreferences(ctx context.Context, by Caller, name string, p commerce.Preferences) (commerce.User, error) {
	_, name, err := checkPerson(by.User.Email, name)
	if err != nil {
		return by.User, err
	}
	return act(ctx, s, by.Actor, deed{"set_preferences", "", by.User.ID}, command.SetPreferences{UserID: by.User.ID, Name: name, Preferences: p})
}
