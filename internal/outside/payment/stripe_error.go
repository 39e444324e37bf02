package payment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"purveyor/internal/commerce"
)

var errNotStripe = errors.New("the answer is not one of Stripe's; check --stripe-url and proxies")

func refused(err error) bool {
	var r *Refusal
	return errors.As(err, &r)
}

// failure tells what was definitely refused from what is worth another try,
// and says what an operator can do about that. Its text never has the key.
func (s *Stripe) failure(ctx context.Context, doing string, err error) error {
	var answer *stripe.Error
	var unreachable *url.Error
	switch {
	case errors.As(err, &answer) && definite(answer):
		return &Refusal{Message: s.clean(words(answer))}
	case answer != nil && refusesUs(answer.HTTPStatusCode):
		return &commerce.CredentialsError{Message: "stripe: " + doing + ": " + s.clean(advice(answer))}
	case answer != nil:
		return fmt.Errorf("stripe: %s: %s", doing, s.clean(advice(answer)))
	case ctx.Err() != nil:
		return fmt.Errorf("stripe: %s: no answer yet: %w", doing, ctx.Err())
	case errors.As(err, &unreachable):
		return fmt.Errorf("stripe: %s: Stripe cannot be reached, check the network: %s", doing, s.clean(unreachable.Err.Error()))
	}
	return fmt.Errorf("stripe: %s: %s", doing, s.clean(err.Error()))
}

// clean makes foreign text fit to be stored.
func (s *Stripe) clean(text string) string {
	if s.key != "" {
		text = strings.ReplaceAll(text, s.key, "[key]")
	}
	return commerce.CleanText(text, commerce.MaxNote)
}

// refusesUs reports whether the status is about the key and not the request.
func refusesUs(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// definite tells what is wrong with the request from what passes, or what the
// operator can mend (401, 403: the key).
func definite(e *stripe.Error) bool {
	if refusesUs(e.HTTPStatusCode) {
		return false
	}
	switch e.HTTPStatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	switch e.Type {
	case stripe.ErrorTypeCard, stripe.ErrorTypeInvalidRequest, stripe.ErrorTypeIdempotency:
		return e.HTTPStatusCode/100 == 4
	}
	return false
}

func advice(e *stripe.Error) string {
	switch e.HTTPStatusCode {
	case http.StatusUnauthorized:
		return "Stripe does not accept the key: give a secret key that is not revoked (--stripe-key; in test mode --stripe-test-key)"
	case http.StatusForbidden:
		return "the key may not do this: it needs to write Checkout Sessions and Refunds, and to read PaymentIntents and Charges: " + words(e)
	case http.StatusConflict:
		return "Stripe is still at work on an earlier try"
	case http.StatusTooManyRequests:
		return "Stripe limits our requests for a moment: " + words(e)
	}
	return fmt.Sprintf("Stripe answered %d (https://status.stripe.com tells of outages; request %q): %s", e.HTTPStatusCode, e.RequestID, words(e))
}

func words(e *stripe.Error) string {
	return cmp.Or(e.Msg, string(e.Code), string(e.Type), "no reason given")
}

// stripeTransport refuses what the library would take for an answer, and
// bounds what it reads.
type stripeTransport struct{ next http.RoundTripper }

func (t stripeTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 == 3 {
		_ = response.Body.Close()
		return nil, fmt.Errorf("it answered %d", response.StatusCode)
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxStripeAnswer), response.Body}
	return response, nil
}
