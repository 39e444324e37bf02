package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// SecondFactor is what a user has beside the password.
type SecondFactor struct {
	Secret        string // base32; empty: none
	Step          int64  // of the code by which the user showed to have the secret
	RecoveryCodes []string
}

// SetSecondFactor turns the second factor of the caller on, or off.
func (s *Service) SetSecondFactor(ctx context.Context, by Caller, in SecondFactor) (commerce.User, error) {
	return act(ctx, s, by.Actor, deed{"set_second_factor", "", by.User.ID},
		command.SetSecondFactor{UserID: by.User.ID, Secret: in.Secret, Step: in.Step, RecoveryCodes: in.RecoveryCodes})
}
