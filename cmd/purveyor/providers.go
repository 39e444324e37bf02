package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/effect"
	"purveyor/internal/env"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/outside/mail"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/outside/sms"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// portsOf returns the ways out of the process that jobs use for webhooks, mail and
// texts, or an error if their configuration cannot work.
func portsOf(c config.Outbound) (o effect.Options, err error) {
	if err := c.CheckOutbound(); err != nil {
		return o, err
	}
	proxy, err := c.Proxy()
	if err != nil {
		return o, err
	}
	o = effect.Options{Sender: webhook.NewSender(c.AllowPrivateWebhooks, proxy), AppendWebhook: wire.AppendWebhook}
	if c.Mail() {
		m, err := mail.NewSMTP(mail.Config{Host: c.SMTPHost, Port: c.SMTPPort, User: c.SMTPUser, Password: c.SMTPPassword,
			From: c.SMTPFrom, TLS: mail.TLSMode(c.SMTPTLS)})
		if err != nil {
			return o, fmt.Errorf("--smtp-...: %w", err)
		}
		o.Mailer = m
	}
	if c.Texts() {
		t, err := sms.NewTwilio(sms.Config{AccountSID: c.TwilioAccount, AuthToken: c.TwilioToken, From: c.TwilioFrom, BaseURL: c.TwilioURL})
		if err != nil {
			return o, fmt.Errorf("--twilio-...: %w", err)
		}
		o.Texter = t
	}
	return o, nil
}

// The names of processors that payments store. Never change them.
const (
	sandboxName    = service.SandboxName
	stripeName     = "stripe"
	stripeTestName = "stripe-test"
)

// processors are the payment processors.
type processors struct {
	sandbox *payment.Sandbox
	byName  map[string]payment.Processor
	modes   map[commerce.Mode]string // processor of new payments
}

// newProcessors makes the configured processors. The sandbox always exists, so that
// its payments can be refunded after the operator has changed to Stripe.
func newProcessors(c config.Payments, objects sandbox.Objects, baseURL string) processors {
	box := payment.NewSandbox(env.Env{}, objects, baseURL)
	p := processors{
		sandbox: box,
		byName:  map[string]payment.Processor{sandboxName: box},
		modes:   map[commerce.Mode]string{commerce.Test: sandboxName},
	}
	if c.LiveStripe() {
		p.byName[stripeName] = payment.NewStripe(payment.StripeOptions{Key: c.StripeKey, WebhookSecrets: c.StripeWebhookSecret, URL: c.StripeURL})
		p.modes[commerce.Live] = stripeName
	}
	if c.TestStripe() {
		p.byName[stripeTestName] = payment.NewStripe(payment.StripeOptions{Key: c.StripeTestKey, WebhookSecrets: c.StripeTestWebhookSecret, URL: c.StripeURL})
		p.modes[commerce.Test] = stripeTestName
	}
	return p
}

// uberTestName is, like the names in config, a name by which deliveries store their
// provider, and under which the provider posts its callbacks. It is stored: never
// change it.
const uberTestName = "uber-test"

// couriers are the courier providers.
type couriers struct {
	courier.Fleet
	sandbox *courier.Sandbox
}

// newCouriers makes the providers. A provider that is configured but not listed for new
// deliveries still serves the deliveries that it has. A malformed key is refused, and
// nothing is called yet.
func newCouriers(c config.Couriers, objects sandbox.Objects, geocoder geocode.Geocoder, baseURL string) (couriers, error) {
	box := courier.NewSandbox(env.Env{}, objects, baseURL)
	box.StepEvery = c.SandboxStep
	box.Locate = func(ctx context.Context, a commerce.Address) (commerce.Point, bool) {
		place, err := geocoder.Find(ctx, geocode.Parts(a))
		return place.Point, err == nil
	}
	f := courier.Fleet{Providers: map[string]courier.Provider{sandboxName: box},
		Modes: map[commerce.Mode][]string{commerce.Test: {sandboxName}, commerce.Live: c.InOrder()}}
	if c.Uber() {
		f.Providers[config.Uber] = courier.NewUber(courier.UberOptions{CustomerID: c.UberCustomer, ClientID: c.UberClient, ClientSecret: c.UberSecret,
			SigningKeys: c.UberSigningKey, BaseURL: c.UberURL, AuthURL: c.UberAuthURL})
	}
	if c.UberTest() {
		f.Providers[uberTestName] = courier.NewUber(courier.UberOptions{CustomerID: c.UberTestCustomer, ClientID: c.UberTestClient, ClientSecret: c.UberTestSecret,
			SigningKeys: c.UberTestSigning, Robo: true, BaseURL: c.UberURL, AuthURL: c.UberAuthURL})
		f.Modes[commerce.Test] = []string{uberTestName}
	}
	if c.DoorDash() {
		p, err := courier.NewDoorDash(courier.DoorDashOptions{DeveloperID: c.DoorDashDeveloper, KeyID: c.DoorDashKey, SigningSecret: c.DoorDashSecret,
			WebhookUser: c.DoorDashWebhookUser, WebhookPassword: c.DoorDashWebhookPassword, BaseURL: c.DoorDashURL})
		if err != nil {
			return couriers{}, fmt.Errorf("--doordash-...: %w", err)
		}
		f.Providers[config.DoorDash] = p
	}
	return couriers{f, box}, nil
}

// newGeocoder makes the geocoder: the configured one for streets, and the tables of
// the program behind it.
func newGeocoder(c config.Couriers, db *database, baseURL string) (geocode.Geocoder, error) {
	online, err := onlineGeocoder(c, baseURL)
	if err != nil {
		return nil, err
	}
	return geocode.New(geocode.Options{Source: c.Geocoder, Memory: places{db}, Online: online}), nil
}

// onlineGeocoder makes the geocoder for streets; nil: none is configured.
func onlineGeocoder(c config.Couriers, baseURL string) (geocode.Geocoder, error) {
	switch c.Geocoder {
	case config.Census:
		return geocode.NewCensus(geocode.OnlineOptions{URL: c.CensusURL, Contact: baseURL}), nil
	case config.Nominatim:
		nominatim, err := geocode.NewNominatim(geocode.OnlineOptions{URL: c.NominatimURL, Contact: baseURL}, nominatimPace(c.NominatimURL))
		if err != nil {
			return nil, fmt.Errorf("--nominatim-url: %w", err)
		}
		return nominatim, nil
	}
	return nil, nil
}

// nominatimPace returns the time between requests: the public server requires an
// interval, an operator's own server does not.
func nominatimPace(server string) time.Duration {
	u, err := url.Parse(server)
	if err == nil && strings.HasSuffix(strings.ToLower(u.Hostname()), "openstreetmap.org") {
		return time.Second
	}
	return 0
}

// places stores places in the database, for all processes on it.
type places struct{ db *database }

// Place implements geocode.Memory.
func (p places) Place(ctx context.Context, key string) (geocode.Place, bool, error) {
	kept, err := p.db.Reader().GeocodedAddress(ctx, key)
	if errors.Is(err, storage.ErrNotFound) || err == nil && kept.Outdated(commerce.MillisOf(time.Now())) {
		return geocode.Place{}, false, nil
	}
	return geocode.Place{Point: kept.At, Precision: geocode.Precision(kept.Precision)}, err == nil, err
}

// Keep implements geocode.Memory. It waits for a database that does not answer no
// longer than ctx; the place is stored if the database comes back.
func (p places) Keep(ctx context.Context, key string, place geocode.Place, source string) error {
	done := make(chan error, 1)
	go func() {
		_, err := service.Do(ctx, p.db.uses, command.KeepPlace{Place: commerce.GeocodedAddress{Address: key, At: place.Point, Precision: string(place.Precision), Source: source}})
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
