package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// People reads the staff of the merchant, the members of partners, and their sign-ins.
type People interface {
	// Users reads all users, in the order of their names.
	Users(ctx context.Context) ([]commerce.User, error)
	User(ctx context.Context, id string) (commerce.User, error)
	// UserByEmail finds the user with this address, in lower case.
	UserByEmail(ctx context.Context, email string) (commerce.User, error)

	// Members reads the members of a partner, in the order of their addresses.
	Members(ctx context.Context, partnerID string) ([]commerce.Member, error)
	Member(ctx context.Context, id string) (commerce.Member, error)
	// MemberByEmail finds the member with this address, in lower case.
	MemberByEmail(ctx context.Context, email string) (commerce.Member, error)

	Session(ctx context.Context, id string) (commerce.Session, error)
	// Sessions reads the sessions of a user or member, also those that have expired and are not swept
	// yet; the newest first.
	Sessions(ctx context.Context, userID string) ([]commerce.Session, error)

	// SignInLink reads the newest link of a user or member.
	SignInLink(ctx context.Context, userID string) (commerce.SignInLink, error)
	SignInCount(ctx context.Context, id string) (commerce.SignInCount, error)

	// SavedViews reads the filters that a user has named, in the order of the names.
	SavedViews(ctx context.Context, userID string) ([]commerce.SavedView, error)
}
