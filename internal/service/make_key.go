package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// NewKey describes another key of a partner.
type NewKey struct {
	PartnerID string
	Name      string // 1 to 80 characters
	Mode      commerce.Mode
	Scopes    []commerce.Scope // nil: those that the maker has; a test key without those that change the catalog
	StoreIDs  []string         // empty: those of the partner
	ExpiresOn commerce.Millis  // 0: never
	Addresses []string         // empty: all
	Draw      string           // as RotateKey has it
	Force     bool             // an operator gives a live key to a partner that is not certified
}

// MakeKey gives a partner another key. Errors: 400; 403 if the actor calls with a key that
// has fewer rights; 409 limit_reached; 409 not_certified if the service gives live keys to
// certified partners alone.
func (s *Service) MakeKey(ctx context.Context, by commerce.Actor, in NewKey) (made IssuedKey, err error) {
	if err := s.checkCertified(ctx, in); err != nil {
		return made, err
	}
	if made, err = s.drawKey(in.Mode, in.Draw); err != nil {
		return made, err
	}
	key := made.APIKey
	key.Name, key.Scopes, key.StoreIDs, key.ExpiresOn, key.Addresses = in.Name, in.Scopes, in.StoreIDs, in.ExpiresOn, in.Addresses
	made.APIKey, err = changeKeys(ctx, s, in.PartnerID, func(ring command.KeyRing) (commerce.APIKey, error) {
		return act(ctx, s, by, deed{"make_key", "", in.PartnerID}, command.MakeKey{KeyRing: ring, Actor: by, Key: key, Default: in.Scopes == nil})
	})
	return made, err
}

func (s *Service) checkCertified(ctx context.Context, in NewKey) error {
	if !s.o.RequireCertified || in.Mode != commerce.Live || in.Force {
		return nil
	}
	row, err := s.reader.Certification(ctx, in.PartnerID)
	if err == nil && row.CertifiedOn == 0 {
		err = commerce.Conflict("not_certified", "The partner's integration has not passed the certification, which comes before a live key")
	}
	return err
}
