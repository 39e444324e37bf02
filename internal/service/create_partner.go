package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// CreatedPartner is a new partner with its keys. Only the hashes of the keys are stored.
type CreatedPartner struct {
	Partner commerce.Partner
	Keys    map[commerce.Mode]string
}

// CreatePartner makes a partner with a live and a test key, and sets the ID of p. It
// refuses unknown scopes and stores.
func (s *Service) CreatePartner(ctx context.Context, by commerce.Actor, p commerce.Partner) (made CreatedPartner, err error) {
	p.ID = s.newID(commerce.PrefixPartner)
	made.Keys = map[commerce.Mode]string{}
	cmd := command.CreatePartner{Partner: p}
	for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
		made.Keys[mode] = s.newKey(mode)
		cmd.Keys = append(cmd.Keys, commerce.APIKey{PartnerID: p.ID, Mode: mode, Hash: commerce.HashKey(made.Keys[mode])})
	}
	made.Partner, err = act(ctx, s, by, deed{"create_partner", "", p.ID}, cmd)
	return made, err
}
