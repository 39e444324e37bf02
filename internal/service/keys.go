package service

import (
	"context"
	"crypto/sha256"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// IssuedKey is a new key with its value, which is shown once: only its hash is stored.
type IssuedKey struct {
	commerce.APIKey
	Value string
}

// triesAtKeys is how often a change of keys is tried while others change them, too.
const triesAtKeys = 20

// changeKeys runs a change of a partner's keys with what is known of them.
func changeKeys[R any](ctx context.Context, s *Service, partnerID string, run func(command.KeyRing) (R, error)) (result R, err error) {
	for range triesAtKeys {
		p, err := s.reader.Partner(ctx, partnerID)
		if err != nil {
			return result, err
		}
		ring := command.KeyRing{PartnerID: partnerID, No: p.KeysNo}
		keys, err := s.reader.APIKeys(ctx, partnerID)
		if err != nil {
			return result, err
		}
		for _, k := range keys {
			ring.IDs = append(ring.IDs, k.ID)
		}
		if result, err = run(ring); !errors.Is(err, command.ErrKeysMoved) {
			return result, err
		}
	}
	return result, command.ErrKeysMoved
}

// drawKey makes a key with its id.
func (s *Service) drawKey(mode commerce.Mode, draw string) (k IssuedKey, err error) {
	random, err := s.random("key "+string(mode), draw)
	if err != nil {
		return k, err
	}
	k.Value = mode.NewKey([20]byte(random[:]))
	k.APIKey = commerce.APIKey{ID: s.newID(commerce.PrefixKey), Mode: mode, Hash: commerce.HashKey(k.Value), Last4: k.Value[len(k.Value)-4:]}
	return k, nil
}

// MinDraw is the least length of a drawn text in base32: 130 bits.
const MinDraw = 26

// random makes random bytes for a purpose from what was drawn.
func (s *Service) random(purpose, draw string) (b [sha256.Size]byte, err error) {
	switch {
	case draw == "":
		s.o.Env.Read(b[:])
	case len(draw) < MinDraw:
		return b, commerce.Invalid("key", "The form has no random text")
	default:
		b = sha256.Sum256([]byte(purpose + " " + draw))
	}
	return b, nil
}
