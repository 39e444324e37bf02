package api

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type newKeyIn struct {
	Name      *string                           `json:"name"`
	Mode      *string                           `json:"mode"`
	Scopes    *jsonin.List[string, maxScopes]   `json:"scopes"`
	StoreIDs  jsonin.List[string, maxStoreIDs]  `json:"store_ids"`
	ExpiresOn *jsonin.Int                       `json:"expires_on"`
	Addresses jsonin.List[string, maxAddresses] `json:"allowed_addresses"`
}

type (
	maxScopes    struct{}
	maxStoreIDs  struct{}
	maxAddresses struct{}
)

func (maxScopes) Most() int    { return 20 }
func (maxStoreIDs) Most() int  { return 200 }
func (maxAddresses) Most() int { return commerce.MaxAddresses }

func (in newKeyIn) call(r *request) (service.NewKey, error) {
	var c check
	key := service.NewKey{PartnerID: r.Partner.ID, Name: c.Required("name", in.Name, commerce.MaxKeyName),
		Mode: c.mode("mode", in.Mode, commerce.Live, commerce.Test), StoreIDs: c.texts("store_ids", in.StoreIDs), Addresses: c.texts("allowed_addresses", in.Addresses)}
	if in.Scopes != nil {
		c.NotEmpty("scopes", len(*in.Scopes))
		for _, s := range c.texts("scopes", *in.Scopes) {
			key.Scopes = append(key.Scopes, commerce.Scope(s))
		}
	}
	if at := c.OptBetween("expires_on", in.ExpiresOn, 1, 1<<53); at != nil {
		key.ExpiresOn = commerce.Millis(*at)
	}
	return key, c.Err
}

// makeKey issues another key. The answer is stored nowhere, since it has the key.
var makeKey = secret[newKeyIn](0, func(s *service.Service, ctx context.Context, by service.Caller, in service.NewKey) (service.IssuedKey, error) {
	return s.MakeKey(ctx, by.Actor, in)
}, func(r *request, made service.IssuedKey) (any, error) {
	key, err := r.keyOut(made.APIKey)
	return issuedOut{true, key, made.Value, nil, r.traceID}, err
})
