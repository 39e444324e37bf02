package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RecordKeyUse notes the minute in which a key was used.
func (s *Service) RecordKeyUse(ctx context.Context, keyID string, on commerce.Millis) error {
	_, err := Do(ctx, s, command.RecordKeyUse{KeyID: keyID, On: on})
	return err
}
