package service

import (
	"context"
	"encoding/base64"
	"errors"
	"net/mail"
	"slices"
	"strings"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// LinkLife is how long a one-time link works.
const LinkLife = time.Hour

// link is a new one-time link of a user, or (empty) of the first owner.
func (s *Service) link(userID string, life time.Duration) (token string, hash commerce.KeyHash, until commerce.Millis) {
	var b [32]byte
	s.o.Env.Read(b[:])
	token = base64.RawURLEncoding.EncodeToString(b[:])
	if userID != "" {
		token = userID + "." + token
	}
	return token, commerce.HashKey(token), s.millis().Add(life)
}

// UserOfLink is the user that a link's token is for; empty: the first owner.
func UserOfLink(token string) string {
	id, _, found := strings.Cut(token, ".")
	if !found {
		return ""
	}
	return id
}

// given are the rights of an actor to give rights: an operator's, or those of staff.
func (s *Service) given(ctx context.Context, by commerce.Actor) (command.Given, error) {
	users, err := s.reader.Users(ctx)
	g := command.Given{}
	if by.Kind == commerce.ActorStaff {
		g.By = by.ID
	}
	for _, u := range users {
		if u.OwnsAll() && u.Password != "" { // one that was only invited could not act
			g.Owners = append(g.Owners, u.ID)
		}
	}
	return g, err
}

// sessionsOf are the ids of a user's sessions but for one that stays.
func (s *Service) sessionsOf(ctx context.Context, userID, but string) (ids []string, err error) {
	sessions, err := s.reader.Sessions(ctx, userID)
	for _, session := range sessions {
		if session.ID != but {
			ids = append(ids, session.ID)
		}
	}
	return ids, err
}

// checkGrants refuses unknown roles and stores, and users without any grant.
func (s *Service) checkGrants(ctx context.Context, grants []commerce.Grant) error {
	if len(grants) == 0 {
		return commerce.Invalid("grants", "Choose a role: viewer, clerk, manager or owner")
	}
	for _, g := range grants {
		if !slices.Contains(commerce.Roles, g.Role) {
			return commerce.Invalid("role", "The role must be viewer, clerk, manager or owner")
		}
		if g.StoreID == commerce.AllStores {
			continue
		}
		if _, err := s.reader.Store(ctx, g.StoreID); errors.Is(err, storage.ErrNotFound) {
			return commerce.Invalid("store", "The store %s is not known", g.StoreID)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// checkPerson returns an e-mail address as it is stored, and refuses what is none and a name
// that is empty.
func checkPerson(email, name string) (address, cleaned string, err error) {
	email, valid := checkAddress(email)
	name = commerce.CleanText(strings.TrimSpace(name), maxName)
	switch {
	case !valid:
		return email, name, commerce.Invalid("email", "This is no e-mail address")
	case name == "":
		return email, name, commerce.Invalid("name", "Please give a name")
	}
	return email, name, nil
}

// checkAddress returns an e-mail address as it is stored, and whether it is one.
func checkAddress(email string) (address string, valid bool) {
	email = strings.ToLower(strings.TrimSpace(email))
	parsed, err := mail.ParseAddress(email)
	return email, err == nil && parsed.Address == email && len(email) <= maxName && !strings.ContainsAny(email, " \t")
}

// maxName is how many bytes a name and an e-mail address may have.
const maxName = 200
