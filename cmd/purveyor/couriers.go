package main

import (
	"context"
	"fmt"

	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/outside/sandbox"
)

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
