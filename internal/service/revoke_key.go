package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RevokeKey ends a key of a partner within seconds. Errors: 404; 403 as MakeKey; 409 own_key.
func (s *Service) RevokeKey(ctx context.Context, by commerce.Actor, partnerID, keyID string) (commerce.APIKey, error) {
	return changeKeys(ctx, s, partnerID, func(ring command.KeyRing) (commerce.APIKey, error) {
		return act(ctx, s, by, deed{"revoke_key", "", partnerID}, command.RevokeKey{KeyRing: ring, Actor: by, KeyID: keyID})
	})
}
