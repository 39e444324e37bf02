package payment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/httpcall"
)

var errNotStripe = errors.New("the answer is not one of Stripe's; check --stripe-url and proxies")

func refused(err error) bool {
	var r *Refusal
	return errors.As(err, &r)
}

// failure turns err into a *Refusal if the call was definitely refused. Otherwise the
// call may be repeated, and the text says what an operator can do. The text never
// contains the key. A call without an error has failed, too, if one of the fields that
// no answer of Stripe leaves empty is empty; else failure returns nil.
func (s *Stripe) failure(ctx context.Context, doing string, err error, fields ...string) error {
	if err == nil && slices.Contains(fields, "") {
		err = errNotStripe
	}
	if err == nil {
		return nil
	}
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

// clean makes a provider's text fit for storage.
func (s *Stripe) clean(text string) string {
	if s.key != "" {
		text = strings.ReplaceAll(text, s.key, "[key]")
	}
	return commerce.CleanText(text, commerce.MaxNote)
}

// refusesUs reports whether a status is about the key rather than the request.
func refusesUs(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// definite reports whether the request itself is at fault. Otherwise the cause may
// pass, or the operator can fix it (401, 403: the key).
func definite(e *stripe.Error) bool {
	switch e.Type {
	case stripe.ErrorTypeCard, stripe.ErrorTypeInvalidRequest, stripe.ErrorTypeIdempotency:
		return httpcall.BlamesRequest(e.HTTPStatusCode) && e.HTTPStatusCode != http.StatusConflict
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
