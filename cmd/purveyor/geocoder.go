package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// newGeocoder makes the geocoder: the configured one for streets, and the tables of
// the program behind it.
func newGeocoder(c config.Couriers, db *database, baseURL string) (geocode.Geocoder, error) {
	o := geocode.Options{Source: c.Geocoder, Memory: places{db}}
	switch c.Geocoder {
	case config.Census:
		o.Online = geocode.NewCensus(geocode.OnlineOptions{URL: c.CensusURL, Contact: baseURL})
	case config.Nominatim:
		nominatim, err := geocode.NewNominatim(geocode.OnlineOptions{URL: c.NominatimURL, Contact: baseURL}, nominatimPace(c.NominatimURL))
		if err != nil {
			return nil, fmt.Errorf("--nominatim-url: %w", err)
		}
		o.Online = nominatim
	}
	return geocode.New(o), nil
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
