package courier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/httpcall"
)

const (
	uberURL     = "https://api.uber.com/v1"
	uberAuthURL = "https://auth.uber.com/oauth/v2/token"

	uberTimeout = 8 * time.Second // for one call of the port, which may take several of Uber
	// Uber keeps an idempotency key for 60 minutes. If a delivery was first asked for
	// longer ago than this, Create looks for it before it creates one.
	uberKeyLife = 50 * time.Minute
	uberPages   = 20 // at most so many pages of the list of deliveries are read
	// How far Uber's clock, which stamps deliveries, and ours, which stamps requests,
	// may differ.
	uberClocks = time.Hour
)

// UberOptions is an account of Uber Direct.
type UberOptions struct {
	Env                                env.Env
	CustomerID, ClientID, ClientSecret string
	// SigningKeys are the keys of the webhooks that post to us. Uber gives each
	// webhook its own key.
	SigningKeys []string
	// Robo means test credentials: no person comes, and Uber's simulated courier
	// delivers.
	Robo      bool
	BaseURL   string            // of the API; empty: Uber's own
	AuthURL   string            // where tokens are requested; empty: at Uber
	Transport http.RoundTripper // nil: http.DefaultTransport
	Log       *slog.Logger      // nil: slog.Default()
}

// Uber is the Provider of an account of Uber Direct. It is safe for concurrent use.
type Uber struct {
	// Now is the clock for the lifetimes of tokens and idempotency keys. NewUber sets
	// that of its Env.
	Now func() time.Time

	options UberOptions
	base    string // prefix of all paths
	client  *http.Client
	token   chan uberToken // holds the token while no goroutine has it
	timeout time.Duration
	log     *slog.Logger
}

var _ Provider = (*Uber)(nil)

// NewUber makes the provider without calling Uber: wrong credentials show up with the
// first call.
func NewUber(o UberOptions) *Uber {
	o.AuthURL = cmp.Or(o.AuthURL, uberAuthURL)
	u := &Uber{
		Now:     o.Env.Now,
		options: o,
		base:    strings.TrimRight(cmp.Or(o.BaseURL, uberURL), "/") + "/customers/" + url.PathEscape(o.CustomerID),
		client:  httpcall.Client(o.Transport),
		token:   make(chan uberToken, 1),
		timeout: uberTimeout,
		log:     cmp.Or(o.Log, slog.Default()),
	}
	u.token <- uberToken{}
	return u
}

// Check makes a harmless call, so that wrong credentials show up before an order
// waits for a courier: it returns a *commerce.CredentialsError for them.
func (u *Uber) Check(ctx context.Context) error {
	ctx, cancel := u.options.Env.WithTimeout(ctx, u.timeout)
	defer cancel()
	var page uberList
	return u.call(ctx, "list deliveries", http.MethodGet, "/deliveries?limit=1", nil, &page, nil)
}

// Quote asks for an offer, which Uber keeps for 15 minutes.
func (u *Uber) Quote(ctx context.Context, r QuoteRequest) (Quote, error) {
	ctx, cancel := u.options.Env.WithTimeout(ctx, u.timeout)
	defer cancel()
	var q uberQuote
	if err := u.call(ctx, "quote", http.MethodPost, "/delivery_quotes", toUberTrip(r), &q, &q.ID); err != nil {
		return Quote{}, err
	}
	if err := u.checkMode(ctx, q.LiveMode, "quote", q.ID); err != nil {
		return Quote{}, err
	}
	return q.quote(), nil
}

// Create creates a delivery under its Ref, which is both idempotency key and
// external_id. *If we stop before the answer is stored, the next attempt finds the
// delivery: by the key while Uber keeps it, and later in the list of deliveries.*
func (u *Uber) Create(ctx context.Context, r CreateRequest) (Delivery, error) {
	ctx, cancel := u.options.Env.WithTimeout(ctx, u.timeout)
	defer cancel()
	request, err := toUberRequest(r, u.options.Robo)
	if err != nil {
		return Delivery{}, err
	}
	if commerce.MillisOf(u.Now()).Sub(r.AskedOn) > uberKeyLife {
		earlier, err := u.find(ctx, Key{Ref: r.Ref, AskedOn: r.AskedOn})
		if !refusedAs(err, NotFound) {
			return earlier, err
		}
	}
	made, err := u.create(ctx, request)
	if !refusedAs(err, QuoteExpired) {
		return made, err
	}
	quote, err := u.Quote(ctx, r.QuoteRequest)
	if err != nil {
		return Delivery{}, err
	}
	request.QuoteID = quote.ID
	return u.create(ctx, request)
}

func (u *Uber) create(ctx context.Context, r uberRequest) (Delivery, error) {
	var made uberDelivery
	err := u.call(ctx, "create a delivery", http.MethodPost, "/deliveries", r, &made, &made.ID)
	if duplicate, ok := errors.AsType[*uberDuplicate](err); ok {
		made, err = u.readDuplicate(ctx, duplicate.of, r.ExternalID)
	}
	if err != nil {
		return Delivery{}, err
	}
	if err := u.checkMode(ctx, made.LiveMode, "delivery", made.ID); err != nil {
		return Delivery{}, u.callOff(ctx, made.ID, err)
	}
	return made.delivery(Key{Ref: r.ExternalID}), nil
}

// readDuplicate reads the delivery that Uber names as a duplicate. Uber may call two
// deliveries the same that differ for us.
func (u *Uber) readDuplicate(ctx context.Context, id, ref string) (uberDelivery, error) {
	d, err := u.read(ctx, id)
	switch {
	case err != nil:
		return d, fmt.Errorf("uber: create a delivery: Uber calls it a duplicate of %q: %v", id, err) // an open outcome, not a refusal of ours
	case d.ExternalID != "" && d.ExternalID != ref:
		return d, &Refusal{Code: Other, Message: "Uber Direct takes this delivery for " + d.ExternalID}
	}
	return d, nil
}

// callOff cancels a delivery that was created with credentials of the wrong mode: a
// courier may be on the way for a test, or none for a paid order.
func (u *Uber) callOff(ctx context.Context, id string, wrong error) error {
	if _, err := u.cancel(ctx, id); err != nil {
		return fmt.Errorf("%w; the delivery %s was made, and may not be cancelled: %v", wrong, u.clean(id), err)
	}
	return &commerce.CredentialsError{Message: wrong.Error()}
}

// Get reads a delivery.
func (u *Uber) Get(ctx context.Context, k Key) (Delivery, error) {
	ctx, cancel := u.options.Env.WithTimeout(ctx, u.timeout)
	defer cancel()
	if k.ID == "" {
		return u.find(ctx, k)
	}
	d, err := u.read(ctx, k.ID)
	if err != nil {
		return Delivery{}, err
	}
	return d.delivery(k), nil
}

func (u *Uber) read(ctx context.Context, id string) (uberDelivery, error) {
	var d uberDelivery
	err := u.call(ctx, "read a delivery", http.MethodGet, "/deliveries/"+url.PathEscape(id), nil, &d, &d.ID)
	return d, err
}

// find looks for one of our deliveries in the list of all, back to the time when it
// was first asked for. The list is the only way to find a delivery that Uber created
// without our learning its id. If the list is too long to read, the outcome stays
// unknown.
func (u *Uber) find(ctx context.Context, k Key) (Delivery, error) {
	none := &Refusal{Code: NotFound, Message: "Uber Direct has no delivery " + k.Ref}
	if k.Ref == "" {
		return Delivery{}, none
	}
	path := "/deliveries"
	for range uberPages {
		var page uberList
		if err := u.call(ctx, "list deliveries", http.MethodGet, path, nil, &page, nil); err != nil {
			return Delivery{}, err
		}
		if page.Data == nil {
			return Delivery{}, fmt.Errorf("uber: list deliveries: %w", errNotUber)
		}
		for _, d := range page.Data {
			if d.ExternalID == k.Ref && d.original() == "" {
				return d.delivery(Key{}), nil
			}
		}
		next := page.next()
		if next == "" || page.endsBefore(k.AskedOn.Add(-uberClocks)) {
			return Delivery{}, none
		}
		path = "/deliveries?" + next
	}
	return Delivery{}, fmt.Errorf("uber: list deliveries: %s is not in the first %d pages, and there are more", k.Ref, uberPages)
}

// Cancel ends a delivery. Uber refuses to cancel one that is already cancelled; then
// Cancel reads its state.
func (u *Uber) Cancel(ctx context.Context, k Key) (Delivery, error) {
	ctx, cancel := u.options.Env.WithTimeout(ctx, u.timeout)
	defer cancel()
	if k.ID == "" {
		found, err := u.find(ctx, k)
		if err != nil {
			return Delivery{}, err
		}
		k.ID = found.ID
	}
	ended, err := u.cancel(ctx, k.ID)
	if err != nil {
		return Delivery{}, err
	}
	return ended.delivery(k), nil
}

func (u *Uber) cancel(ctx context.Context, id string) (uberDelivery, error) {
	var ended uberDelivery
	err := u.call(ctx, "cancel a delivery", http.MethodPost, "/deliveries/"+url.PathEscape(id)+"/cancel", nil, &ended, &ended.ID)
	if !refusedAs(err, TooLate) {
		return ended, err
	}
	now, readErr := u.read(ctx, id)
	switch {
	case readErr != nil:
		return uberDelivery{}, readErr
	case now.Status != uberCanceled:
		return uberDelivery{}, err
	}
	return now, nil
}

// checkMode returns an error for a delivery of test credentials where live ones
// belong, and the reverse. A delivery without a mode passes.
func (u *Uber) checkMode(ctx context.Context, live *bool, what, id string) error {
	if live == nil || *live != u.options.Robo {
		return nil
	}
	u.log.ErrorContext(ctx, "Uber Direct answers in another mode than that of its credentials here: check which account they are of",
		"live_mode", *live, what, u.clean(id))
	if *live {
		return errors.New("uber: test deliveries are configured with live credentials")
	}
	return errors.New("uber: live deliveries are configured with test credentials")
}
