package courier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/httpcall"
)

const (
	maxUberAnswer = 4 << 20
	// Uber issues 100 tokens an hour, so refused credentials are not tried again at
	// once.
	uberTokenPause = 2 * time.Minute
	uberTokenLife  = 30 * 24 * time.Hour // longest lifetime that we believe
	uberTokenSpare = 5 * time.Minute     // a token is renewed so long before it expires
)

// uberAnswer is an answer of the API. Its token must not get into logs or errors.
type uberAnswer struct {
	httpcall.Answer
	token string
}

// call makes one API call and decodes its answer into out. Id points at the field of
// out that no answer of Uber leaves empty; nil: there is none.
func (u *Uber) call(ctx context.Context, doing, method, path string, in, out any, id *string) error {
	answer, err := u.authorized(ctx, httpcall.Call{Method: method, URL: u.base + path, JSON: in})
	switch {
	case err != nil:
		return fmt.Errorf("uber: %s: %w", doing, err)
	case !answer.OK():
		return u.failure(doing, answer)
	}
	if err := json.Unmarshal(answer.Body, out); err != nil || id != nil && *id == "" {
		return fmt.Errorf("uber: %s: %w", doing, errNotUber)
	}
	return nil
}

// authorized makes a call with the current token. If Uber no longer knows the token,
// it repeats the call once with a new one: Uber drops the oldest token when too many
// exist.
func (u *Uber) authorized(ctx context.Context, c httpcall.Call) (uberAnswer, error) {
	token, err := u.useToken(ctx, "")
	if err != nil {
		return uberAnswer{}, err
	}
	answer, err := u.send(ctx, c, token)
	if err != nil || answer.Status != http.StatusUnauthorized {
		return answer, err
	}
	if token, err = u.useToken(ctx, token); err != nil {
		return uberAnswer{}, err
	}
	answer, err = u.send(ctx, c, token)
	if err == nil && answer.Status == http.StatusUnauthorized {
		u.pauseToken(ctx, token, &commerce.CredentialsError{Message: "Uber does not accept its own tokens: check the account"})
	}
	return answer, err
}

// send makes one request. It sends no Authorization header if token is empty.
func (u *Uber) send(ctx context.Context, c httpcall.Call, token string) (uberAnswer, error) {
	if token != "" {
		c.Header = http.Header{"Authorization": {"Bearer " + token}}
	}
	answer, err := c.Do(ctx, u.client, maxUberAnswer)
	switch {
	case err == nil:
		return uberAnswer{answer, token}, nil
	case ctx.Err() != nil:
		return uberAnswer{}, err
	}
	return uberAnswer{}, errors.New(u.clean(err.Error(), token))
}

// uberToken is the current token. One goroutine at a time has it and may request a new
// one; the others wait no longer than their context allows.
type uberToken struct {
	token string    // empty: there is none
	until time.Time // end of the token's use
	why   error     // why there is no token
	pause time.Time // no token is requested before this time
}

// pauseToken discards a token, and prevents requests for a new one for uberTokenPause.
func (u *Uber) pauseToken(ctx context.Context, token string, why error) {
	select {
	case s := <-u.token:
		if s.token == token {
			s = uberToken{pause: u.Now().Add(uberTokenPause), why: why}
		}
		u.token <- s
	case <-ctx.Done():
	}
}

// useToken returns a token that is not stale.
func (u *Uber) useToken(ctx context.Context, stale string) (string, error) {
	var s uberToken
	select {
	case s = <-u.token:
	case <-ctx.Done():
		return "", fmt.Errorf("no token yet: %w", ctx.Err())
	}
	defer func() { u.token <- s }()
	now := u.Now()
	switch {
	case s.token != "" && s.token != stale && now.Before(s.until):
		return s.token, nil
	case now.Before(s.pause):
		return "", s.why
	}
	s = u.askToken(ctx, now)
	return s.token, s.why
}

// askToken requests a token. Only a definite refusal pauses further requests.
func (u *Uber) askToken(ctx context.Context, now time.Time) uberToken {
	form := url.Values{
		"client_id": {u.options.ClientID}, "client_secret": {u.options.ClientSecret},
		"grant_type": {"client_credentials"}, "scope": {"eats.deliveries"},
	}
	answer, err := u.send(ctx, httpcall.Call{Method: http.MethodPost, URL: u.options.AuthURL, Form: form}, "")
	if err != nil {
		return uberToken{why: fmt.Errorf("a token: %w", err)}
	}
	var answered struct {
		Token   string  `json:"access_token"`
		Expires float64 `json:"expires_in"` // seconds
		Error   string  `json:"error"`
	}
	_ = json.Unmarshal(answer.Body, &answered) // a failure leaves the fields empty, which is checked below
	switch {
	case answer.Status == http.StatusTooManyRequests:
		limited := &Limited{RetryAfter: httpcall.RetryAfter(answer.Header, u.Now())}
		return uberToken{why: limited, pause: now.Add(max(limited.RetryAfter, uberTokenPause))}
	case answer.Status/100 == 4 && answered.Error != "":
		why := &commerce.CredentialsError{Message: fmt.Sprintf("Uber does not accept the client id and secret (%s): take them "+
			"from the Developer tab of the dashboard, with the scope eats.deliveries", u.clean(answered.Error))}
		return uberToken{why: why, pause: now.Add(uberTokenPause)}
	case !answer.OK():
		return uberToken{why: fmt.Errorf("a token: Uber answered %d", answer.Status)}
	case answered.Token == "" || strings.ContainsFunc(answered.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return uberToken{why: fmt.Errorf("a token: %w", errNotUber)}
	}
	seconds := min(max(0, answered.Expires), uberTokenLife.Seconds())
	life := time.Duration(cmp.Or(seconds, time.Hour.Seconds()) * float64(time.Second))
	return uberToken{token: answered.Token, until: now.Add(life - min(uberTokenSpare, life/2))}
}
