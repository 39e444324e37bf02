package memory

import (
	"cmp"
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

func (r reader) Users(context.Context) ([]commerce.User, error) {
	return list(r, &schema.Users, -1, func(*commerce.User) bool { return true },
		func(a, b *commerce.User) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
}

func (r reader) User(_ context.Context, id string) (commerce.User, error) {
	return one(r, &schema.Users, id)
}

func (r reader) UserByEmail(_ context.Context, email string) (commerce.User, error) {
	return first(r, &schema.Users, func(u *commerce.User) bool { return u.Email == email })
}

func (r reader) Members(_ context.Context, partnerID string) ([]commerce.Member, error) {
	return list(r, &schema.Members, -1, func(m *commerce.Member) bool { return m.PartnerID == partnerID },
		func(a, b *commerce.Member) int { return cmp.Compare(a.Email, b.Email) })
}

func (r reader) Member(_ context.Context, id string) (commerce.Member, error) {
	return one(r, &schema.Members, id)
}

func (r reader) MemberByEmail(_ context.Context, email string) (commerce.Member, error) {
	return first(r, &schema.Members, func(m *commerce.Member) bool { return m.Email == email })
}

func (r reader) Session(_ context.Context, id string) (commerce.Session, error) {
	return one(r, &schema.Sessions, id)
}

func (r reader) Sessions(_ context.Context, userID string) ([]commerce.Session, error) {
	return list(r, &schema.Sessions, -1, func(s *commerce.Session) bool { return s.UserID == userID },
		func(a, b *commerce.Session) int {
			return cmp.Or(cmp.Compare(b.SeenOn, a.SeenOn), cmp.Compare(a.ID, b.ID))
		})
}

func (r reader) SignInLink(_ context.Context, userID string) (commerce.SignInLink, error) {
	return one(r, &schema.SignInLinks, userID)
}

func (r reader) SignInCount(_ context.Context, id string) (commerce.SignInCount, error) {
	return one(r, &schema.SignInCounts, id)
}

func (r reader) SavedViews(_ context.Context, userID string) ([]commerce.SavedView, error) {
	return list(r, &schema.SavedViews, -1, func(v *commerce.SavedView) bool { return v.UserID == userID },
		func(a, b *commerce.SavedView) int { return cmp.Compare(a.Name, b.Name) })
}
