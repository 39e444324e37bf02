package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/outside/httpcall"
)

// ofPublicURL asks the service for its life, as callers reach it. ahead is how far the clock there is
// ahead of ours.
func ofPublicURL(ctx context.Context, base string, given bool) (list []finding, ahead map[string]time.Duration) {
	const check = "public URL"
	asked := time.Now()
	answer, err := alive(ctx, base)
	if err != nil {
		return []finding{found(check, "", fmt.Errorf("%s does not lead to the service: %w", base, err), "start the service, or correct --public-url, the name and the proxy")}, nil
	}
	list = []finding{found(check, base+" leads to the service", nil, "")}
	u, _ := url.Parse(base) // it has led to an answer
	host := net.ParseIP(u.Hostname())
	switch near := u.Hostname() == "localhost" || host != nil && host.IsLoopback(); {
	case !given:
		list[0].State, list[0].Advice = warns, "set --public-url: partners, customers and providers cannot reach this address"
	case u.Scheme == "http" && !near:
		list[0].State, list[0].Advice = warns, "use TLS: keys and sessions can be read on the way"
	}
	if state := answer.TLS; state != nil && len(state.PeerCertificates) > 0 && time.Until(state.PeerCertificates[0].NotAfter) < 14*24*time.Hour {
		list = append(list, finding{"certificate", warns, fmt.Sprintf("it ends on %s", state.PeerCertificates[0].NotAfter.Format(time.RFC3339)), "renew it"})
	}
	// The header has whole seconds: the middle of that second against the middle of the call.
	if there, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		here := asked.Add(time.Since(asked) / 2)
		ahead = map[string]time.Duration{"public URL": there.Add(time.Second / 2).Sub(here)}
	}
	return list, ahead
}

// alive asks /livez.
func alive(ctx context.Context, base string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/livez", nil)
	if err != nil {
		return nil, err
	}
	answer, err := httpcall.Client(nil).Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if err == nil && (answer.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), `{"ok":true}`)) {
		err = fmt.Errorf("it answers %d, and not as Purveyor does", answer.StatusCode)
	}
	return answer, err
}

// outside asks each provider, the geocoder and the mail server by a call that changes nothing.
func (c doctorCommand) outside(ctx context.Context, base string) []finding {
	checks := c.checkers(base)
	if len(checks) == 0 {
		return []finding{found("providers", "none is configured", nil, "")}
	}
	names := sortedKeys(checks)
	list := make([]finding, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, callTime)
			defer cancel()
			list[i] = answered(name, checks[name].Check(ctx))
		})
	}
	asked.Wait()
	return list
}

// answered is the finding of a call. A provider that limits us accepts our credentials.
func answered(name string, err error) finding {
	advice := "look at the network, and at the provider's status page"
	switch {
	case errors.As(err, new(*courier.Limited)):
		return finding{name, warns, err.Error(), "it is asked too often"}
	case errors.As(err, new(*commerce.CredentialsError)):
		advice = "put the right credentials into the settings"
	}
	return found(name, "it answers, and accepts us", err, advice)
}

// checkers are what is configured. What cannot be made was listed with the configuration.
func (c doctorCommand) checkers(base string) map[string]checker {
	all := map[string]checker{}
	addCheckers(all, newProcessors(c.Payments, nil, base).byName)
	if couriers, err := newCouriers(c.Couriers, nil, nil, base); err == nil {
		addCheckers(all, couriers.Providers)
	}
	if ports, err := portsOf(c.Outbound); err == nil {
		addCheckers(all, map[string]any{"mail server": ports.Mailer, "twilio": ports.Texter})
	}
	if geocoder, err := onlineGeocoder(c.Couriers, base); err == nil && geocoder != nil {
		all["geocoder"] = asksForPlace{geocoder}
	}
	return all
}

// asksForPlace checks a geocoder by asking for the place of a house that all know.
type asksForPlace struct{ geocode.Geocoder }

// Check implements checker.
func (g asksForPlace) Check(ctx context.Context) error {
	_, err := g.Find(ctx, geocode.Parts(commerce.Address{Line1: "1600 Pennsylvania Ave NW", City: "Washington", State: "DC", PostalCode: "20500", Country: "US"}))
	if errors.Is(err, geocode.ErrNotFound) {
		return nil
	}
	return err
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
