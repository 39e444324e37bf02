package main

import (
	"context"
	"log/slog"
	"os"

	"purveyor/internal/api"
	"purveyor/internal/backoffice"
	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/portal"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
)

// newOffice makes the back office; nil if it is switched off. In the demo alone, links sign in
// without a password.
func newOffice(c config.Server, db *database, uses *service.Service, requests *requestlog.Log, m *monitor, base string) (*backoffice.Office, error) {
	if c.NoOffice {
		return nil, nil
	}
	o := backoffice.Options{Env: env.Env{}, PublicURL: base, Pages: db.pages, Enter: db.demo, Requests: requests, RequireCertified: c.RequireCertified}
	if m != nil {
		o.Pushed = m.Pushed
	}
	return backoffice.New(db.Reader(), uses, o)
}

// newPortal makes the portal of partners; nil: it is switched off with the back office, whose
// static files it shows.
func newPortal(c config.Server, db *database, uses *service.Service, requests *requestlog.Log, partners *api.API, base string) (*portal.Portal, error) {
	if c.NoOffice {
		return nil, nil
	}
	return portal.New(db.Reader(), uses, portal.Options{Env: env.Env{}, PublicURL: base, Requests: requests, API: partners})
}

// offerFirstOwner prints the link by which the first user is made, while there is none. Where
// the output is kept, in a journal or as JSON, it says instead how to get one: a link that opens
// everything does not belong there.
func (s *process) offerFirstOwner(base string, json bool) {
	ctx := context.Background()
	if json || os.Getenv("JOURNAL_STREAM") != "" {
		users, err := s.db.Reader().Users(ctx)
		if err == nil && len(users) == 0 {
			complain("No office user yet: run `purveyor user create --email E`\n")
		}
		return
	}
	token, err := s.db.uses.OfferFirstOwner(ctx)
	if err != nil {
		slog.Warn("no link for the first user of the back office could be made", "error", err)
	}
	if token != "" {
		complain("Back office, for its first owner, once, within %v:\n  %s\n", service.LinkLife, welcomeURL(base, token))
	}
}
