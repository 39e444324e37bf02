package service

import (
	"context"
	"crypto/sha256"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RotateKey says which key of a partner to replace.
type RotateKey struct {
	PartnerID string
	Mode      commerce.Mode
	Seen      commerce.Millis // CreatedOn of the old key as the person saw it; 0: any
	// Draw is a random text from which the new key is made, at least MinDraw bytes long, so
	// that a repeat of the call gets the same key, although only the hash of the key is
	// stored. Empty: the use case draws by itself.
	Draw string
}

// MinDraw is the least length of a drawn text in base32: 130 bits.
const MinDraw = 26

// RotateKey replaces the key of a partner in one mode, and returns the new one. Only its
// hash is stored. The old key stops working within seconds.
func (s *Service) RotateKey(ctx context.Context, by commerce.Actor, in RotateKey) (key string, err error) {
	if key, err = s.newKey(in.Mode, in.Draw); err != nil {
		return "", err
	}
	_, err = act(ctx, s, by, deed{"rotate_key", "", in.PartnerID}, command.RotateKey{Seen: in.Seen,
		Key: commerce.APIKey{PartnerID: in.PartnerID, Mode: in.Mode, Hash: commerce.HashKey(key)}})
	if err != nil {
		return "", err
	}
	return key, nil
}

func (s *Service) newKey(mode commerce.Mode, draw string) (string, error) {
	random, err := s.random("key "+string(mode), draw)
	return mode.NewKey([20]byte(random[:])), err
}

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
