package courier

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	doordashURL     = "https://openapi.doordash.com"
	doordashTimeout = 8 * time.Second // of one call of the port, whatever it asks of DoorDash
	doordashQuote   = 5 * time.Minute // how long a quote is good for
)

// DoorDashOptions is an account of DoorDash Drive. Whether its deliveries are
// real is up to the access key: there are some for the sandbox.
type DoorDashOptions struct {
	DeveloperID, KeyID, SigningSecret string // an access key, as the developer portal shows it
	// WebhookUser and WebhookPassword are those that DoorDash gives with what it
	// posts to us (Basic). Without a user, the password is the portal's token.
	WebhookUser, WebhookPassword string
	BaseURL                      string            // of the API, without a path; empty: DoorDash's own
	Transport                    http.RoundTripper // nil: http.DefaultTransport
}

// DoorDash is the Provider of an account of DoorDash Drive (v2). It may be used
// by many goroutines.
//
// A delivery has at DoorDash the name that we give it, our Ref, and one name is
// delivered once, for good. Quotes use names up as well: one that is accepted
// within five minutes becomes the delivery of that name, and a name whose quote
// lapsed may be of no use any more. So a quote has a name of its own here, and a
// delivery is made without one: however often either is asked for, and wherever
// a process dies in between, there is one name to look for, and one delivery.
// What it costs is told when it is made.
type DoorDash struct {
	client             *http.Client
	base               string
	developerID, keyID string
	secret             []byte
	webhook            *[sha256.Size]byte // digest of the credentials of callbacks; nil: nothing is trusted
	now                func() time.Time
}

var _ Provider = (*DoorDash)(nil)

// NewDoorDash makes the provider. It asks nothing of DoorDash: a wrong key shows
// with the first call.
func NewDoorDash(o DoorDashOptions) (*DoorDash, error) {
	if o.DeveloperID == "" || o.KeyID == "" || o.SigningSecret == "" {
		return nil, errors.New("DoorDash: a developer id, a key id and a signing secret are needed")
	}
	// The portal gives base64url without padding; be lenient with what was pasted.
	text := strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(o.SigningSecret, "="))
	secret, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil { // the error would tell of the secret
		return nil, errors.New("DoorDash: the signing secret is not as the developer portal shows it (base64url)")
	}
	base, err := url.Parse(cmp.Or(o.BaseURL, doordashURL))
	if err != nil || base.Host == "" {
		return nil, errors.New("DoorDash: the URL of the API is none")
	}
	d := &DoorDash{
		client: &http.Client{
			Transport:     cmp.Or(o.Transport, http.DefaultTransport),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		base:        base.JoinPath("drive/v2").String(),
		developerID: o.DeveloperID, keyID: o.KeyID, secret: secret,
		now: time.Now,
	}
	if o.WebhookPassword != "" { // anybody knows an empty one
		credentials := o.WebhookPassword
		if o.WebhookUser != "" {
			credentials = base64.StdEncoding.EncodeToString([]byte(o.WebhookUser + ":" + o.WebhookPassword))
		}
		digest := sha256.Sum256([]byte(credentials))
		d.webhook = &digest
	}
	return d, nil
}

// Check asks for something harmless, so that wrong credentials show before an
// order waits for a courier: a *commerce.CredentialsError says that they are.
// DoorDash has no list of deliveries, so a delivery that does not exist is read.
func (d *DoorDash) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, doordashTimeout)
	defer cancel()
	_, err := d.read(ctx, "check."+rand.Text())
	if err = doordashFailure(ctx, "read a delivery", err); refusedAs(err, NotFound) {
		return nil
	}
	return err
}

// Quote asks for an offer, under a name that is used for nothing else.
func (d *DoorDash) Quote(ctx context.Context, r QuoteRequest) (Quote, error) {
	ctx, cancel := context.WithTimeout(ctx, doordashTimeout)
	defer cancel()
	order, err := toDoorDashOrder(r)
	if err != nil {
		return Quote{}, err
	}
	order.ExternalDeliveryID = "quote." + rand.Text()
	a, err := d.call(ctx, http.MethodPost, "/quotes", order.ExternalDeliveryID, order)
	if err != nil {
		return Quote{}, doordashFailure(ctx, "quote a delivery", err)
	}
	now := d.now()
	offer := a.delivery()
	return Quote{
		ID: offer.ID, FeeCents: offer.FeeCents, Currency: strings.ToUpper(a.Currency),
		DropoffETA: offer.DropoffETA, ExpiresOn: now.Add(doordashQuote).UnixMilli(),
		DurationSeconds:       doordashSeconds(offer.DropoffETA, now),
		PickupDurationSeconds: doordashSeconds(offer.PickupETA, now),
	}, nil
}

// doordashSeconds is 0 for a time that is not known, or has passed.
func doordashSeconds(at int64, now time.Time) int64 { return max(0, at-now.UnixMilli()) / 1000 }

// Create makes the delivery, at the price of the moment. If nobody knows what
// became of an earlier try, its name tells: DoorDash does not use it again.
func (d *DoorDash) Create(ctx context.Context, r CreateRequest) (Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, doordashTimeout)
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
	if doordashRefused(err) {
		a, err = d.made(ctx, r.Ref, err)
	}
	if err != nil {
		return Delivery{}, doordashFailure(ctx, "create a delivery", err)
	}
	delivery := a.delivery()
	delivery.QuoteID = r.QuoteID // the offer that it was chosen for
	return delivery, nil
}

// made looks for the delivery that DoorDash refuses to make. It may refuse
// because there is one, or for what has changed since an earlier try made it.
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
	ctx, cancel := context.WithTimeout(ctx, doordashTimeout)
	defer cancel()
	a, err := d.read(ctx, doordashName(k))
	if err != nil {
		return Delivery{}, doordashFailure(ctx, "read a delivery", err)
	}
	return a.delivery(), nil
}

// doordashName is the name of a delivery at DoorDash, which is ours.
func doordashName(k Key) string { return cmp.Or(k.ID, k.Ref) }

func doordashPath(name string) string { return "/deliveries/" + url.PathEscape(name) }

func (d *DoorDash) read(ctx context.Context, name string) (doordashDelivery, error) {
	a, err := d.call(ctx, http.MethodGet, doordashPath(name), name, nil)
	if err == nil && a.DeliveryStatus == "quote" { // that is none
		err = &doordashError{status: http.StatusNotFound, Code: "unknown_delivery_id", Message: "There is a quote of this name, but no delivery"}
	}
	return a, err
}

// Cancel ends a delivery, until the goods are picked up.
func (d *DoorDash) Cancel(ctx context.Context, k Key) (Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, doordashTimeout)
	defer cancel()
	name := doordashName(k)
	a, err := d.call(ctx, http.MethodPut, doordashPath(name)+"/cancel", name, nil)
	if doordashSaid(err, "delivery_cancelled") || doordashSaid(err, "duplicate_request") {
		if now, readErr := d.read(ctx, name); readErr == nil && now.DeliveryStatus == "cancelled" {
			return now.delivery(), nil
		}
	}
	if err != nil {
		return Delivery{}, doordashFailure(ctx, "cancel a delivery", err)
	}
	return a.delivery(), nil
}
