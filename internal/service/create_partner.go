package service

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// CreatedPartner is a new partner with its keys. Only the hashes of the keys are stored.
type CreatedPartner struct {
	Partner commerce.Partner // of a repeat, only its ID
	Keys    map[commerce.Mode]string
	Secret  string // of the callback URL, if none was given
}

// CreatePartner makes a partner with a live and a test key, and sets the ID of p. Both keys
// may do what the partner may, the test key no more than testScopes if these are given. Where live keys need a
// certification there is no live key yet. A partner with all scopes may manage itself. It refuses unknown scopes and stores. With draw, a
// random text as RotateKey has it, a repeat by the same actor makes nothing more, and gets the
// same keys and secret.
func (s *Service) CreatePartner(ctx context.Context, by commerce.Actor, p commerce.Partner, testScopes []commerce.Scope, draw string) (made CreatedPartner, err error) {
	if err := checkCallbackURL(&p.CallbackURL); err != nil {
		return made, err
	}
	if p.AlarmAddresses, err = checkAlarmAddresses(p.AlarmAddresses); err != nil {
		return made, err
	}
	if p.CallbackURL != "" && p.CallbackSecret == "" {
		if made.Secret, err = s.DrawSecret(draw); err != nil {
			return CreatedPartner{}, err
		}
		p.CallbackSecret = made.Secret
	}
	p.ID = s.newID(commerce.PrefixPartner)
	if slices.Contains(p.Scopes, commerce.AllScopes) {
		p.Scopes = append(slices.Clone(p.Scopes), commerce.ManageSelf)
	}
	made.Keys = map[commerce.Mode]string{}
	cmd := command.CreatePartner{Partner: p}
	modes := []commerce.Mode{commerce.Live, commerce.Test}
	if s.o.RequireCertified {
		modes = modes[1:]
	}
	for _, mode := range modes {
		key, err := s.drawKey(mode, draw)
		if err != nil {
			return CreatedPartner{}, err
		}
		if key.Name = string(mode) + " key"; mode == commerce.Test {
			key.Scopes = testScopes
		}
		made.Keys[mode], cmd.Keys = key.Value, append(cmd.Keys, key.APIKey)
	}
	o := Once[commerce.Partner]{Key: commerce.ReplyKey{PartnerID: by.ID, Op: "create_partner"},
		Encode: func(p commerce.Partner) (int, []byte) { return 201, []byte(p.ID) }}
	if draw != "" { // which is not stored
		o.Key.Key = fmt.Sprintf("%x", sha256.Sum256([]byte("call "+draw)))
	}
	p.ID = ""
	o.Fingerprint = sha256.Sum256(fmt.Append(nil, p))
	out, err := once(ctx, s, Caller{Actor: by}, o, audited[commerce.Partner]{cmd, by, deed{"create_partner", "", cmd.Partner.ID}}, neverRefused)
	if err != nil {
		return CreatedPartner{}, err
	}
	if made.Partner = out.Result; draw != "" {
		made.Partner = commerce.Partner{ID: string(out.Reply.Body)}
	}
	return made, nil
}
