package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/importfile"
)

// CreateStore makes a store by the rules of the import file. Without an ID it gets one.
func (s *Service) CreateStore(ctx context.Context, by Caller, store commerce.Store, o Once[commerce.Store]) (Outcome[commerce.Store], error) {
	if store.ID == "" {
		store.ID = s.newID(commerce.PrefixStore)
	}
	if err := importfile.CheckStore(fieldsOf(store)); err != nil {
		return Outcome[commerce.Store]{}, err
	}
	return once(ctx, s, by, o, auditPeople(by.Actor, deed{"create_store", store.ID, store.ID}, command.CreateStore{Store: store}), neverRefused)
}

// fieldsOf is a store as the import file has it.
func fieldsOf(s commerce.Store) command.ImportStore {
	return command.ImportStore{ID: s.ID, Name: s.Name, Slug: &s.Slug, Address: &s.Address, City: &s.City, State: &s.State, ZipCode: &s.ZipCode,
		Email: &s.Email, Phone: &s.Phone, Active: &s.Active, Open: &s.Open, PickupEnabled: &s.PickupEnabled, DeliveryEnabled: &s.DeliveryEnabled,
		Lat: s.Lat, Lng: s.Lng, RadiusMiles: s.RadiusMiles, TaxRateBps: &s.TaxRateBps, ChargesQuote: &s.ChargesQuote,
		TimeZone: &s.TimeZone, LateMinutes: &s.LateMinutes, HoldMinutes: &s.HoldMinutes}
}
