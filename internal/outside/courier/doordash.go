package courier

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/httpcall"
)

const (
	doordashURL     = "https://openapi.doordash.com"
	doordashTimeout = 8 * time.Second // for one call of the port, which may take several of DoorDash
	doordashQuote   = 5 * time.Minute // how long a quote is valid
)

// DoorDashOptions is an account of DoorDash Drive. The access key decides whether its
// deliveries are real: DoorDash issues separate keys for its sandbox.
type DoorDashOptions struct {
	Env                               env.Env
	DeveloperID, KeyID, SigningSecret string // an access key, as the developer portal shows it
	// WebhookUser and WebhookPassword are the credentials that DoorDash sends with
	// its callbacks (Basic). Without a user, the password is the token that the
	// portal shows.
	WebhookUser, WebhookPassword string
	BaseURL                      string            // of the API, without a path; empty: DoorDash's own
	Transport                    http.RoundTripper // nil: http.DefaultTransport
}

// DoorDash is the Provider of an account of DoorDash Drive (v2). It is safe for
// concurrent use.
//
// DoorDash identifies a delivery by the name that we choose, our Ref, and delivers
// each name once. A quote takes a name as well: a quote that is accepted within five
// minutes becomes the delivery of that name, and a name whose quote lapsed may be
// unusable afterwards. Quotes therefore get names of their own here, and deliveries
// are created without a quote. However often we repeat a request, and wherever a
// process dies in between, there is one name to look up and one delivery. Its price
// is known once it is created.
type DoorDash struct {
	env                env.Env
	client             *http.Client
	base               string
	developerID, keyID string
	secret             []byte
	webhook            *[sha256.Size]byte // digest of the credentials that callbacks carry; nil: no callback is trusted
	now                func() time.Time
}

var _ Provider = (*DoorDash)(nil)

// NewDoorDash makes the provider without calling DoorDash: a wrong key shows up with
// the first call.
func NewDoorDash(o DoorDashOptions) (*DoorDash, error) {
	if o.DeveloperID == "" || o.KeyID == "" || o.SigningSecret == "" {
		return nil, errors.New("DoorDash: a developer id, a key id and a signing secret are required")
	}
	// The portal shows base64url without padding; the operator may have pasted
	// another form.
	text := strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(o.SigningSecret, "="))
	secret, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil { // the error would contain a part of the secret
		return nil, errors.New("DoorDash: the signing secret is not as the developer portal shows it (base64url)")
	}
	base, err := url.Parse(cmp.Or(o.BaseURL, doordashURL))
	if err != nil || base.Host == "" {
		return nil, errors.New("DoorDash: the URL of the API is invalid")
	}
	d := &DoorDash{
		client:      httpcall.Client(o.Transport),
		base:        base.JoinPath("drive/v2").String(),
		developerID: o.DeveloperID, keyID: o.KeyID, secret: secret,
		env: o.Env, now: o.Env.Now,
	}
	if o.WebhookPassword != "" { // anyone could send an empty password
		credentials := o.WebhookPassword
		if o.WebhookUser != "" {
			credentials = base64.StdEncoding.EncodeToString([]byte(o.WebhookUser + ":" + o.WebhookPassword))
		}
		digest := sha256.Sum256([]byte(credentials))
		d.webhook = &digest
	}
	return d, nil
}

// Check makes a harmless call, so that wrong credentials show up before an order
// waits for a courier: it returns a *commerce.CredentialsError for them. DoorDash
// cannot list deliveries, so Check reads one that does not exist.
func (d *DoorDash) Check(ctx context.Context) error {
	ctx, cancel := d.env.WithTimeout(ctx, doordashTimeout)
	defer cancel()
	_, err := d.read(ctx, "check."+d.env.Text())
	if err = doordashFailure("read a delivery", err); refusedAs(err, NotFound) {
		return nil
	}
	return err
}

// Quote asks for an offer, under a name that is used for this quote only.
func (d *DoorDash) Quote(ctx context.Context, r QuoteRequest) (Quote, error) {
	ctx, cancel := d.env.WithTimeout(ctx, doordashTimeout)
	defer cancel()
	order, err := toDoorDashOrder(r)
	if err != nil {
		return Quote{}, err
	}
	order.ExternalDeliveryID = "quote." + d.env.Text()
	a, err := d.call(ctx, http.MethodPost, "/quotes", order.ExternalDeliveryID, order)
	if err != nil {
		return Quote{}, doordashFailure("quote a delivery", err)
	}
	now := d.now()
	offer := a.delivery()
	return Quote{
		ID: offer.ID, FeeCents: offer.FeeCents, Currency: strings.ToUpper(a.Currency),
		DropoffETA: offer.DropoffETA, ExpiresOn: commerce.MillisOf(now.Add(doordashQuote)),
		DurationSeconds:       doordashSeconds(int64(offer.DropoffETA), now),
		PickupDurationSeconds: doordashSeconds(int64(offer.PickupETA), now),
	}, nil
}

// doordashSeconds returns the seconds from now until at, or 0 if at is unknown or has
// passed.
func doordashSeconds(at int64, now time.Time) int64 { return max(0, at-now.UnixMilli()) / 1000 }

// Create creates the delivery at the current price. If the outcome of an earlier
// attempt is unknown, the name settles it: DoorDash does not deliver a name twice.
func (d *DoorDash) Create(ctx context.Context, r CreateRequest) (Delivery, error) {
	ctx, cancel := d.env.WithTimeout(ctx, doordashTimeout)
	defer cancel()
	order, err := toDoorDashOrder(r.QuoteRequest)
	if err != nil {
		return Delivery{}, err
	}
	order.ExternalDeliveryID, order.PickupReferenceTag = r.Ref, r.OrderID
	for _, i := range r.Items {
		order.Items = append(order.Items, doordashItem{Name: i.Name, Quantity: i.Quantity, Price: i.PriceCents})
	}
	a, err := d.call(ctx, http.MethodPost, "/deliveries", r.Ref, order)
	if refused, ok := errors.AsType[*doordashError](err); ok && refused.definite() {
		a, err = d.made(ctx, r.Ref, err)
	}
	if err != nil {
		return Delivery{}, doordashFailure("create a delivery", err)
	}
	delivery := a.delivery()
	delivery.QuoteID = r.QuoteID // the offer for which DoorDash was chosen
	return delivery, nil
}

// made looks up a delivery that DoorDash refuses to create. It may refuse because the
// delivery exists, or because of something that changed after an earlier attempt
// created it.
func (d *DoorDash) made(ctx context.Context, name string, refusal error) (doordashDelivery, error) {
	a, err := d.read(ctx, name)
	e, _ := errors.AsType[*doordashError](err)
	switch missing := e != nil && e.status == http.StatusNotFound; {
	case missing && doordashSaid(refusal, "duplicate_delivery_id"):
		return a, errors.New("the delivery's name is taken, but the delivery is not there yet")
	case missing:
		return a, refusal
	}
	return a, err
}

// Get reads a delivery.
func (d *DoorDash) Get(ctx context.Context, k Key) (Delivery, error) {
	ctx, cancel := d.env.WithTimeout(ctx, doordashTimeout)
	defer cancel()
	a, err := d.read(ctx, doordashName(k))
	return a.delivery(), doordashFailure("read a delivery", err)
}

// doordashName returns the name of a delivery at DoorDash, which we gave it.
func doordashName(k Key) string { return cmp.Or(k.ID, k.Ref) }

func doordashPath(name string) string { return "/deliveries/" + url.PathEscape(name) }

func (d *DoorDash) read(ctx context.Context, name string) (doordashDelivery, error) {
	a, err := d.call(ctx, http.MethodGet, doordashPath(name), name, nil)
	if err == nil && a.DeliveryStatus == "quote" { // a quote is no delivery
		return doordashDelivery{}, &doordashError{status: http.StatusNotFound, Code: "unknown_delivery_id", Message: "There is a quote of this name, but no delivery"}
	}
	return a, err
}

// Cancel ends a delivery whose goods have not been picked up.
func (d *DoorDash) Cancel(ctx context.Context, k Key) (Delivery, error) {
	ctx, cancel := d.env.WithTimeout(ctx, doordashTimeout)
	defer cancel()
	name := doordashName(k)
	a, err := d.call(ctx, http.MethodPut, doordashPath(name)+"/cancel", name, nil)
	if doordashSaid(err, "delivery_cancelled") || doordashSaid(err, "duplicate_request") {
		if now, readErr := d.read(ctx, name); readErr == nil && now.DeliveryStatus == "cancelled" {
			return now.delivery(), nil
		}
	}
	return a.delivery(), doordashFailure("cancel a delivery", err)
}

const maxDoorDashCallback = 256 << 10 // bytes

// doordashCallback is what DoorDash posts: an event, and the delivery if the event
// has one.
type doordashCallback struct {
	doordashDelivery
	EventName string `json:"event_name"`
	EventType string `json:"event_type"` // some of DoorDash's documents use this name
	CreatedAt string `json:"created_at"`
	Reason    string `json:"reason"`
}

// ReadCallback reads an event. Events are not signed: DoorDash authenticates itself
// with the credentials that the operator has set for this endpoint in the portal. An
// event that we do not know still counts if it carries a status that we know.
func (d *DoorDash) ReadCallback(_ context.Context, header http.Header, body []byte) ([]Callback, error) {
	if !d.trusts(header.Get("Authorization")) {
		return nil, &BadCallback{Reason: "its credentials are not those of the DoorDash endpoint"}
	}
	var n doordashCallback
	if err := json.Unmarshal(body, &n); err != nil {
		return nil, &BadCallback{Reason: commerce.CleanText(err.Error(), commerce.MaxNote)}
	}
	event := strings.ToLower(cmp.Or(n.EventName, n.EventType))
	if n.ExternalDeliveryID == "" || event == "" {
		return nil, &BadCallback{Reason: "it is not a DoorDash Drive event"}
	}
	delivery := n.delivery()
	// A late event may carry a newer status.
	if state := doordashStates[event]; state.status.Rank() >= delivery.Status.Rank() {
		delivery.Status, delivery.Imminent = state.status, state.near
	}
	if delivery.Status == "" || event == "delivery_batched" {
		return nil, nil
	}
	delivery.SeenOn = doordashTime(n.CreatedAt)
	delivery.Reason = cmp.Or(delivery.Reason, commerce.CleanText(n.Reason, commerce.MaxNote))
	// Events have no id, but a repeated event has the same bytes.
	digest := sha256.Sum256(body)
	return []Callback{{ID: hex.EncodeToString(digest[:]), Delivery: delivery}}, nil
}

// CallbackForm implements Provider.
func (*DoorDash) CallbackForm() (headers []string, maxBytes int) {
	return []string{"Authorization"}, maxDoorDashCallback
}

// trusts compares the credentials in constant time. Operators choose in the portal
// whether they are preceded by Basic, Bearer or nothing.
func (d *DoorDash) trusts(authorization string) bool {
	credentials := authorization
	if _, after, ok := strings.Cut(authorization, " "); ok {
		credentials = after
	}
	digest := sha256.Sum256([]byte(credentials))
	return d.webhook != nil && subtle.ConstantTimeCompare(digest[:], d.webhook[:]) == 1
}
