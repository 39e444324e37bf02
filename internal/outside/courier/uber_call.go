package courier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
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

var errNotUber = errors.New("the answer is not one of Uber's; check the URL and proxies")

// uberDuplicate means that Uber has created the delivery before.
type uberDuplicate struct{ of string }

func (d *uberDuplicate) Error() string { return "uber: the delivery was made before, as " + d.of }

// refusedAs reports whether err is a refusal with this code.
func refusedAs(err error, code Code) bool {
	r, ok := errors.AsType[*Refusal](err)
	return ok && r.Code == code
}

// uberError is the body of an error answer.
type uberError struct {
	Code     string          `json:"code"`
	Message  string          `json:"message"`
	Metadata json.RawMessage `json:"metadata"`
}

// details returns the metadata values that are strings.
func (e uberError) details() map[string]string {
	var all map[string]any
	_ = json.Unmarshal(e.Metadata, &all) // the metadata may be absent
	texts := map[string]string{}
	for name, value := range all {
		if text, ok := value.(string); ok {
			texts[name] = text
		}
	}
	return texts
}

// words returns Uber's text, with its remarks on the parameters.
func (e uberError) words() string {
	details := e.details()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(details)) {
		if name == "param_details" {
			all = append(all, details[name])
		} else {
			all = append(all, name+": "+details[name])
		}
	}
	return cmp.Or(strings.Join(all, "; "), e.Message, e.Code)
}

// aboutPlace reports whether the wrong parameters are an address or a phone number,
// which the partner or the merchant can correct.
func (e uberError) aboutPlace() bool {
	for name, text := range e.details() {
		said := strings.ToLower(name + " " + text)
		for _, word := range []string{"address", "phone", "location", "geocod", "long/lat", "latitude", "longitude"} {
			if strings.Contains(said, word) {
				return true
			}
		}
	}
	return false
}

// uberRefusals maps the codes that are refusals. An empty message means that Uber's
// own text is passed on.
var uberRefusals = map[string]struct {
	code Code
	says string
}{
	// The address may have been mistaken for another place, so this says nothing
	// about the town.
	"address_undeliverable": {OutOfZone, "Uber Direct does not deliver to the place that it takes one of the addresses for; " +
		"check both, with the house number and the ZIP code"},
	"address_undeliverable_limited_couriers": {NoCouriers, "Uber Direct has no free courier there now"},
	"couriers_busy":                          {NoCouriers, "all couriers of Uber Direct are busy now"},
	"robo_couriers_busy":                     {NoCouriers, "all simulated couriers of Uber Direct are busy now"},
	"unknown_location":                       {BadAddress, "Uber Direct does not find one of the addresses"},
	"expired_quote":                          {QuoteExpired, ""},
	"used_quote":                             {QuoteExpired, ""},
	"mismatched_price_quote":                 {QuoteExpired, ""},
	"noncancelable_delivery":                 {TooLate, "Uber Direct cannot cancel the delivery any more"},
	"delivery_not_found":                     {NotFound, ""},
}

// uberDenials are the codes about our account rather than the delivery.
var uberDenials = []string{"unauthorized", "customer_not_found", "customer_suspended", "customer_blocked", "missing_payment", "not_allowed"}

// uberPassing are codes that say nothing about the request, whatever their status.
var uberPassing = []string{"request_timeout", "internal_server_error", "unknown_error", "service_unavailable", "duplicate_delivery"}

// failure turns an error answer into a *Refusal if Uber definitely refuses the call.
// Otherwise the cause may pass, or the operator can fix it.
func (u *Uber) failure(doing string, a uberAnswer) error {
	var e uberError
	if json.Unmarshal(a.Body, &e) != nil {
		e = uberError{}
	}
	if a.Status == http.StatusTooManyRequests || e.Code == "customer_limited" {
		return &Limited{RetryAfter: httpcall.RetryAfter(a.Header, u.Now())}
	}
	if id := e.details()["delivery_id"]; e.Code == "duplicate_delivery" && id != "" {
		return &uberDuplicate{u.clean(id, a.token)}
	}
	// A 403 without a code comes from a proxy or a firewall in between.
	if slices.Contains(uberDenials, e.Code) || a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden && e.Code != "" {
		return &commerce.CredentialsError{Message: "uber: " + doing + ": " + u.clean(e.advice(a.Status), a.token)}
	}
	if no, ok := uberRefusals[e.Code]; ok {
		return &Refusal{Code: no.code, Message: cmp.Or(no.says, "Uber Direct: "+u.clean(e.words(), a.token))}
	}
	if a.Status/100 == 4 && a.Status != http.StatusRequestTimeout &&
		e.Code != "" && !slices.Contains(uberPassing, e.Code) {
		refusal := &Refusal{Code: Other, Message: "Uber Direct: " + u.clean(e.words(), a.token)}
		if e.Code == "invalid_params" && e.aboutPlace() {
			refusal.Code = BadAddress
		}
		return refusal
	}
	return fmt.Errorf("uber: %s: %s", doing, u.clean(e.advice(a.Status), a.token))
}

// advice is the text for an error that is not a refusal.
func (e uberError) advice(status int) string {
	said := strings.TrimSuffix(": "+e.words(), ": ")
	switch {
	case status == http.StatusUnauthorized:
		return "Uber does not accept the token; check the client id and secret, and whether the customer id is of the same account" + said
	case slices.Contains(uberDenials, e.Code):
		return "Uber does not let this account do this; look at the account in the Direct dashboard, and at the customer id" + said
	case e.Code == "":
		return fmt.Sprintf("Uber answered %d, with nothing that it documents; check the URL and proxies", status)
	}
	return fmt.Sprintf("Uber answered %d%s", status, said)
}

// clean makes a provider's text fit for storage and removes the secrets.
func (u *Uber) clean(text string, secrets ...string) string {
	for _, secret := range append(secrets, u.options.ClientSecret) {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return commerce.CleanText(text, commerce.MaxNote)
}
