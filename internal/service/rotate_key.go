package service

import (
	"context"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RotateKey says which key of a partner to replace.
type RotateKey struct {
	PartnerID, KeyID string
	// Overlap is how long the old key goes on working. 0 ends it within seconds.
	Overlap time.Duration
	// Draw is a random text from which the new key is made, at least MinDraw bytes long, so
	// that a repeat of the call gets the same key, although only the hash of the key is
	// stored. Empty: the use case draws by itself.
	Draw string
}

// RotatedKey is a new key, and the one that it replaced.
type RotatedKey struct {
	IssuedKey
	Previous commerce.APIKey
}

// RotateKey replaces a key of a partner by one with the same rights. Errors: 404; 403 as
// MakeKey; 409 if the key has ended or was replaced already.
func (s *Service) RotateKey(ctx context.Context, by commerce.Actor, in RotateKey) (done RotatedKey, err error) {
	keys, err := s.reader.APIKeys(ctx, in.PartnerID)
	if err != nil {
		return done, err
	}
	for _, k := range keys {
		if k.ID == in.KeyID {
			done.Previous = k
		}
	}
	if done.Previous.ID == "" {
		return done, commerce.NotFound("key")
	}
	if done.IssuedKey, err = s.drawKey(done.Previous.Mode, in.Draw); err != nil {
		return done, err
	}
	rotated, err := changeKeys(ctx, s, in.PartnerID, func(ring command.KeyRing) (command.RotatedKey, error) {
		return act(ctx, s, by, deed{"rotate_key", "", in.PartnerID},
			command.RotateKey{KeyRing: ring, Actor: by, KeyID: in.KeyID, New: done.APIKey, Overlap: in.Overlap})
	})
	done.APIKey, done.Previous = rotated.Key, rotated.Previous
	return done, err
}
