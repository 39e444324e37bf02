package reads

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

func scanUser(s schema.Scanner) commerce.User       { return schema.Users.Scan(s, s.Text()) }
func scanSession(s schema.Scanner) commerce.Session { return schema.Sessions.Scan(s, s.Text()) }
func scanView(s schema.Scanner) commerce.SavedView {
	return schema.SavedViews.Scan(s, commerce.SavedViewKey{UserID: s.Text(), Name: s.Text()})
}

// Users implements storage.People, as do the others.
func (r Reader) Users(ctx context.Context) ([]commerce.User, error) {
	users, err := list(ctx, r, scanUser, "SELECT "+schema.Users.Columns()+" FROM users ORDER BY id")
	slices.SortStableFunc(users, func(a, b commerce.User) int { return cmp.Compare(a.Name, b.Name) })
	return users, err
}

// User reads the user with an id.
func (r Reader) User(ctx context.Context, id string) (commerce.User, error) {
	return one(ctx, r, &schema.Users, id)
}

// UserByEmail reads the user with an address.
func (r Reader) UserByEmail(ctx context.Context, email string) (commerce.User, error) {
	return first(ctx, r, scanUser, "SELECT "+schema.Users.Columns()+" FROM users WHERE email = $1", email)
}

func scanMember(s schema.Scanner) commerce.Member { return schema.Members.Scan(s, s.Text()) }

// Members reads the members of a partner.
func (r Reader) Members(ctx context.Context, partnerID string) ([]commerce.Member, error) {
	members, err := list(ctx, r, scanMember, "SELECT "+schema.Members.Columns()+" FROM members WHERE partner_id = $1", partnerID)
	slices.SortFunc(members, func(a, b commerce.Member) int { return cmp.Compare(a.Email, b.Email) })
	return members, err
}

// Member reads the member with an id.
func (r Reader) Member(ctx context.Context, id string) (commerce.Member, error) {
	return one(ctx, r, &schema.Members, id)
}

// MemberByEmail reads the member with an address.
func (r Reader) MemberByEmail(ctx context.Context, email string) (commerce.Member, error) {
	return first(ctx, r, scanMember, "SELECT "+schema.Members.Columns()+" FROM members WHERE email = $1", email)
}

// Session reads the session with an id.
func (r Reader) Session(ctx context.Context, id string) (commerce.Session, error) {
	return one(ctx, r, &schema.Sessions, id)
}

// Sessions reads the sessions of a user.
func (r Reader) Sessions(ctx context.Context, userID string) ([]commerce.Session, error) {
	sessions, err := list(ctx, r, scanSession, "SELECT "+schema.Sessions.Columns()+" FROM sessions WHERE user_id = $1", userID)
	slices.SortFunc(sessions, func(a, b commerce.Session) int {
		return cmp.Or(cmp.Compare(b.SeenOn, a.SeenOn), cmp.Compare(a.ID, b.ID))
	})
	return sessions, err
}

// SignInLink reads the newest link of a user.
func (r Reader) SignInLink(ctx context.Context, userID string) (commerce.SignInLink, error) {
	return one(ctx, r, &schema.SignInLinks, userID)
}

// SignInCount reads a count of failed sign-ins.
func (r Reader) SignInCount(ctx context.Context, id string) (commerce.SignInCount, error) {
	return one(ctx, r, &schema.SignInCounts, id)
}

// SavedViews reads the named filters of a user.
func (r Reader) SavedViews(ctx context.Context, userID string) ([]commerce.SavedView, error) {
	return list(ctx, r, scanView, "SELECT "+schema.SavedViews.Columns()+" FROM saved_views WHERE user_id = $1 ORDER BY name", userID)
}
