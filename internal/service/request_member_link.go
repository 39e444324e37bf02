package service

import (
	"context"
	"errors"
	"strings"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

// linksFromAddress is how many links may be asked for from one IP address, in the time in which a
// member may ask for commerce.MemberLinks.
const linksFromAddress = 20

// RequestMemberLink has a link mailed to the member with an e-mail address, if there is one: the
// answer does not tell. It returns a commerce.TooManyTries after too many.
func (s *Service) RequestMemberLink(ctx context.Context, email, from string) error {
	email = commerce.CleanText(strings.ToLower(strings.TrimSpace(email)), maxName)
	m, err := s.reader.MemberByEmail(ctx, email)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	_, err = commit.Do(ctx, s.committer, commit.Command[bool](command.RequestMemberLink{Member: m, Tries: []commerce.SignInTry{
		{ID: "links of " + email, Most: commerce.MemberLinks, Window: commerce.MemberLinkWindow},
		{ID: "links from " + from, Most: linksFromAddress, Window: commerce.MemberLinkWindow}}}))
	return err
}
