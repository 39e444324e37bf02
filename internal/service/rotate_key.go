package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RotateKey replaces the key of a partner in one mode, and returns the new one. Only its
// hash is stored. The old key stops working within seconds.
func (s *Service) RotateKey(ctx context.Context, by commerce.Actor, partnerID string, mode commerce.Mode) (key string, err error) {
	key = s.newKey(mode)
	_, err = act(ctx, s, by, deed{"rotate_key", "", partnerID}, command.RotateKey{Key: commerce.APIKey{PartnerID: partnerID, Mode: mode, Hash: commerce.HashKey(key)}})
	return key, err
}

func (s *Service) newKey(mode commerce.Mode) string {
	var random [20]byte
	s.o.Env.Read(random[:])
	return mode.NewKey(random)
}
