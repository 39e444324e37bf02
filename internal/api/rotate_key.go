package api

import (
	"context"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type rotateIn struct {
	OverlapHours *jsonin.Int `json:"overlap_hours"`
}

// overlap reads for how long the old key or secret goes on working.
func (in rotateIn) overlap(c *check) time.Duration {
	hours := c.OptBetween("overlap_hours", in.OverlapHours, 0, int64(commerce.MaxOverlap/time.Hour))
	if hours == nil {
		return commerce.DefaultOverlap
	}
	return time.Duration(*hours) * time.Hour
}

func (in rotateIn) call(r *request) (service.RotateKey, error) {
	var c check
	overlap := in.overlap(&c)
	if c.Err != nil {
		return service.RotateKey{}, c.Err
	}
	key, err := r.knownKey()
	return service.RotateKey{PartnerID: r.Partner.ID, KeyID: key.ID, Overlap: overlap}, err
}

// rotateKey replaces a key.
var rotateKey = secret[rotateIn](needsNoBody, func(s *service.Service, ctx context.Context, by service.Caller, in service.RotateKey) (service.RotatedKey, error) {
	return s.RotateKey(ctx, by.Actor, in)
}, func(r *request, done service.RotatedKey) (any, error) {
	key, err := r.keyOut(done.APIKey)
	if err != nil {
		return nil, err
	}
	previous, err := r.keyOut(done.Previous)
	return issuedOut{true, key, done.Value, &previous, r.traceID}, err
})
