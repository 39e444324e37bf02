package service

import (
	"context"
	"crypto/sha256"
	"fmt"
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
	Draw        string // as RotateKey has it; a repeat by the same actor makes nothing more, and gets the same secret
}

// MakeEndpoint gives a partner another endpoint. Errors: 400; 403 if the actor calls with a
// key that may read less; 409 limit_reached.
func (s *Service) MakeEndpoint(ctx context.Context, by commerce.Actor, in NewEndpoint) (made MadeEndpoint, err error) {
	if err := checkEndpointURL(in.URL); err != nil {
		return made, err
	}
	if made.Secret = in.Secret; made.Secret == "" {
		if made.Secret, err = s.DrawSecret(in.Draw); err != nil {
			return made, err
		}
	}
	if err := checkSecret(made.Secret); err != nil {
		return made, err
	}
	o := Once[commerce.Endpoint]{Key: commerce.ReplyKey{PartnerID: by.ID, Op: "make_endpoint"}, Encode: func(e commerce.Endpoint) (int, []byte) { return 201, []byte(e.ID) }}
	if in.Draw != "" { // which is not stored
		o.Key.Key = fmt.Sprintf("%x", sha256.Sum256([]byte("call "+in.Draw)))
		o.Fingerprint = sha256.Sum256(fmt.Append(nil, in))
	}
	in.Route.ID = s.newID(commerce.PrefixEndpoint)
	cmd := command.MakeEndpoint{PartnerID: in.PartnerID, Actor: by, Route: in.Route, URL: in.URL, Secret: made.Secret, Text: in.Description}
	out, err := once(ctx, s, Caller{Actor: by}, o, audited[commerce.Endpoint]{cmd, by, deed{"make_endpoint", "", in.PartnerID}}, neverRefused)
	if made.Endpoint = out.Result; in.Draw != "" {
		made.Endpoint = commerce.Endpoint{PartnerID: in.PartnerID, ID: string(out.Reply.Body)}
	}
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
