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
)

const (
	uberURL     = "https://api.uber.com/v1"
	uberAuthURL = "https://auth.uber.com/oauth/v2/token"

	uberTimeout = 8 * time.Second // of one call of the port, whatever it asks of Uber
	// Uber keeps an idempotency key for 60 minutes. A delivery that was first asked
	// for longer ago than this is looked for before it is made.
	uberKeyLife = 50 * time.Minute
	uberPages   = 20 // of the list of deliveries, which are read at most
	// The clock by which a delivery was made is Uber's, the one by which it was
	// asked for is ours.
	uberClocks = time.Hour
)

// UberOptions is an account of Uber Direct.
type UberOptions struct {
	CustomerID, ClientID, ClientSecret string
	// SigningKeys are those of the webhooks that post to us: Uber gives each one a
	// key of its own.
	SigningKeys []string
	// Robo says that these are test credentials: nobody comes, and Uber's simulated
	// courier delivers.
	Robo      bool
	BaseURL   string            // of the API; empty: Uber's own
	AuthURL   string            // where tokens are asked for; empty: at Uber
	Transport http.RoundTripper // nil: http.DefaultTransport
	Log       *slog.Logger      // nil: slog.Default()
}

// Uber is the Provider of an account of Uber Direct. It may be used by many
// goroutines.
type Uber struct {
	// Now is the clock that tokens and idempotency keys end by. NewUber sets
	// time.Now.
	Now func() time.Time

	options UberOptions
	base    string // of all paths
	client  http.Client
	token   uberToken
	timeout time.Duration
	log     *slog.Logger
}

var _ Provider = (*Uber)(nil)

// NewUber makes the provider. It asks nothing of Uber: wrong credentials show
// with the first call.
func NewUber(o UberOptions) *Uber {
	o.AuthURL = cmp.Or(o.AuthURL, uberAuthURL)
	return &Uber{
		Now:     time.Now,
		options: o,
		base:    strings.TrimRight(cmp.Or(o.BaseURL, uberURL), "/") + "/customers/" + url.PathEscape(o.CustomerID),
		client: http.Client{
			Transport: cmp.Or[http.RoundTripper](o.Transport, http.DefaultTransport),
			// A redirect would take addresses and credentials to wherever it leads.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		token:   newUberToken(),
		timeout: uberTimeout,
		log:     cmp.Or(o.Log, slog.Default()),
	}
}

// Check asks for something harmless, so that wrong credentials show before an
// order waits for a courier: a *commerce.CredentialsError says that they are.
func (u *Uber) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, u.timeout)
	defer cancel()
	var page uberList
	return u.call(ctx, "list deliveries", http.MethodGet, "/deliveries?limit=1", nil, &page)
}

// Quote asks for an offer, which Uber keeps for 15 minutes.
func (u *Uber) Quote(ctx context.Context, r QuoteRequest) (Quote, error) {
	ctx, cancel := context.WithTimeout(ctx, u.timeout)
	defer cancel()
	return u.quote(ctx, r)
}

func (u *Uber) quote(ctx context.Context, r QuoteRequest) (Quote, error) {
	var q uberQuote
	if err := u.call(ctx, "quote", http.MethodPost, "/delivery_quotes", toUberTrip(r), &q); err != nil {
		return Quote{}, err
	}
	if q.ID == "" {
		return Quote{}, fmt.Errorf("uber: quote: %w", errNotUber)
	}
	if err := u.checkMode(ctx, q.LiveMode, "quote", q.ID); err != nil {
		return Quote{}, err
	}
	return q.quote(), nil
}

// Create makes a delivery under its Ref, which is its idempotency key and its
// external_id. *If we stop before the answer is stored, the next try finds the
// delivery: by the key while Uber keeps it, in the list of deliveries later.*
func (u *Uber) Create(ctx context.Context, r CreateRequest) (Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, u.timeout)
	defer cancel()
	request, err := toUberRequest(r, u.options.Robo)
	if err != nil {
		return Delivery{}, err
	}
	if u.Now().UnixMilli()-r.AskedOn > uberKeyLife.Milliseconds() {
		earlier, err := u.find(ctx, Key{Ref: r.Ref, AskedOn: r.AskedOn})
		if !refusedAs(err, NotFound) {
			return earlier, err
		}
	}
	made, err := u.create(ctx, request)
	if !refusedAs(err, QuoteExpired) {
		return made, err
	}
	quote, err := u.quote(ctx, r.QuoteRequest)
	if err != nil {
		return Delivery{}, err
	}
	request.QuoteID = quote.ID
	return u.create(ctx, request)
}

func (u *Uber) create(ctx context.Context, r uberRequest) (Delivery, error) {
	var made uberDelivery
	err := u.call(ctx, "create a delivery", http.MethodPost, "/deliveries", r, &made)
	if duplicate, ok := errors.AsType[*uberDuplicate](err); ok {
		made, err = u.readDuplicate(ctx, duplicate.of, r.ExternalID)
	}
	if err != nil {
		return Delivery{}, err
	}
	if made.ID == "" {
		return Delivery{}, fmt.Errorf("uber: create a delivery: %w", errNotUber)
	}
	if err := u.checkMode(ctx, made.LiveMode, "delivery", made.ID); err != nil {
		return Delivery{}, u.callOff(ctx, made.ID, err)
	}
	return made.delivery(Key{Ref: r.ExternalID}), nil
}

// readDuplicate reads what Uber would not make a second time. It may take two
// deliveries for one that we do not.
func (u *Uber) readDuplicate(ctx context.Context, id, ref string) (uberDelivery, error) {
	d, err := u.read(ctx, id)
	switch {
	case err != nil:
		return d, fmt.Errorf("uber: create a delivery: it is said to be %q: %v", id, err) // whatever it is, no refusal of ours
	case d.ExternalID != "" && d.ExternalID != ref:
		return d, &Refusal{Code: Other, Message: "Uber Direct takes this delivery for " + d.ExternalID}
	}
	return d, nil
}

// callOff ends a delivery that was made with credentials of the wrong mode: a
// courier may be on the way for a test, or nobody for an order that was paid.
func (u *Uber) callOff(ctx context.Context, id string, wrong error) error {
	if _, err := u.cancel(ctx, id); err != nil {
		return fmt.Errorf("%w; the delivery %s was made, and may not be cancelled: %v", wrong, u.clean(id), err)
	}
	return &commerce.CredentialsError{Message: wrong.Error()}
}

// Get reads a delivery.
func (u *Uber) Get(ctx context.Context, k Key) (Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, u.timeout)
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
	err := u.call(ctx, "read a delivery", http.MethodGet, "/deliveries/"+url.PathEscape(id), nil, &d)
	if err == nil && d.ID == "" {
		err = fmt.Errorf("uber: read a delivery: %w", errNotUber)
	}
	return d, err
}

// find looks for a delivery of ours in the list of all, back to when it was
// asked for. Nothing else finds one that Uber has made without our learning its
// id: if the list is too long, nobody knows whether there is one.
func (u *Uber) find(ctx context.Context, k Key) (Delivery, error) {
	none := &Refusal{Code: NotFound, Message: "Uber Direct has no delivery " + k.Ref}
	if k.Ref == "" {
		return Delivery{}, none
	}
	path := "/deliveries"
	for range uberPages {
		var page uberList
		if err := u.call(ctx, "list deliveries", http.MethodGet, path, nil, &page); err != nil {
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
		if next == "" || page.endsBefore(k.AskedOn-uberClocks.Milliseconds()) {
			return Delivery{}, none
		}
		path = "/deliveries?" + next
	}
	return Delivery{}, fmt.Errorf("uber: list deliveries: %s is not in the first %d pages, and there are more", k.Ref, uberPages)
}

// Cancel ends a delivery. Uber refuses if it is cancelled already: then what
// became of it is read.
func (u *Uber) Cancel(ctx context.Context, k Key) (Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, u.timeout)
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
	err := u.call(ctx, "cancel a delivery", http.MethodPost, "/deliveries/"+url.PathEscape(id)+"/cancel", nil, &ended)
	if err == nil && ended.ID == "" {
		err = fmt.Errorf("uber: cancel a delivery: %w", errNotUber)
	}
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

// checkMode refuses what comes of test credentials where live ones belong, and
// the other way round. What does not tell its mode passes.
func (u *Uber) checkMode(ctx context.Context, live *bool, what, id string) error {
	if live == nil || *live != u.options.Robo {
		return nil
	}
	u.log.ErrorContext(ctx, "Uber Direct answers in another mode than that of its credentials here: check which account they are of",
		"live_mode", *live, what, u.clean(id))
	if *live {
		return errors.New("uber: test deliveries are set up with live credentials")
	}
	return errors.New("uber: live deliveries are set up with test credentials")
}
