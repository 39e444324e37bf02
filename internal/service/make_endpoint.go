package service

import (
	"context"
	"net/url"
	"unicode/utf8"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// MadeEndpoint is a new endpoint with its secret.
type MadeEndpoint struct {
	commerce.Endpoint
	Secret string
}

// NewEndpoint describes another endpoint of a partner.
type NewEndpoint struct {
	PartnerID   string
	URL         string
	Description string
	Secret      string // empty: the use case draws one
	Route       commerce.Route
}

// MakeEndpoint gives a partner another endpoint. Errors: 400; 403 if the actor calls with a
// key that may read less; 409 limit_reached.
func (s *Service) MakeEndpoint(ctx context.Context, by commerce.Actor, in NewEndpoint) (made MadeEndpoint, err error) {
	if err := checkEndpointURL(in.URL); err != nil {
		return made, err
	}
	if made.Secret = in.Secret; made.Secret == "" {
		if made.Secret, err = s.DrawSecret(""); err != nil {
			return made, err
		}
	}
	if err := checkSecret(made.Secret); err != nil {
		return made, err
	}
	in.Route.ID = s.newID(commerce.PrefixEndpoint)
	made.Endpoint, err = act(ctx, s, by, deed{"make_endpoint", "", in.PartnerID},
		command.MakeEndpoint{PartnerID: in.PartnerID, Actor: by, Route: in.Route, URL: in.URL, Secret: made.Secret, Text: in.Description})
	return made, err
}

// The bounds of a secret that a partner or the office sets, in characters. A shorter one could
// be guessed.
const (
	MinSecret = 16
	maxSecret = 255
)

func checkSecret(text string) error {
	if n := utf8.RuneCountInString(text); n < MinSecret || n > maxSecret {
		return commerce.Invalid("secret", "secret must have %d to %d characters", MinSecret, maxSecret)
	}
	return nil
}

func checkEndpointURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return commerce.Invalid("url", "url must be an http or https URL")
	case u.User != nil:
		return commerce.Invalid("url", "url must not contain credentials")
	}
	return nil
}
