package schema

import (
	"math"

	"purveyor/internal/commerce"
)

// Stores are the shops of the merchant.
var Stores = Table[string, commerce.Store]{
	Name: "stores", Key: "id", Fixed: "no",
	Mutable: "name, slug, address, city, state, zip_code, active, open, pickup_enabled, delivery_enabled, " +
		"lat, lng, radius_miles, email, phone, tax_rate_bps, charges_quote, time_zone, late_minutes, hold_minutes, updated_on, band",
	KeyOf:     func(v *commerce.Store) string { return v.ID },
	BindKey:   bindText,
	BindFixed: func(b Binder, v *commerce.Store) { b.Int(v.No) },
	BindMutable: func(b Binder, v *commerce.Store) {
		b.Text(v.Name).Text(v.Slug).Text(v.Address).Text(v.City).Text(v.State).Text(v.ZipCode).
			Bool(v.Active).Bool(v.Open).Bool(v.PickupEnabled).Bool(v.DeliveryEnabled).
			Float(v.Lat).Float(v.Lng).Float(v.RadiusMiles).Text(v.Email).Text(v.Phone).Int(v.TaxRateBps).Bool(v.ChargesQuote).
			Text(v.TimeZone).Int(v.LateMinutes).Int(v.HoldMinutes).Int(int64(v.UpdatedOn)).Int(v.Band())
	},
	Scan: func(s Scanner, id string) commerce.Store { // the band follows from the place
		return commerce.Store{ID: id, No: s.Int(), Name: s.Text(), Slug: s.Text(), Address: s.Text(), City: s.Text(), State: s.Text(),
			ZipCode: s.Text(), Active: s.Bool(), Open: s.Bool(), PickupEnabled: s.Bool(), DeliveryEnabled: s.Bool(),
			Lat: s.Float(), Lng: s.Float(), RadiusMiles: s.Float(), Email: s.Text(), Phone: s.Text(), TaxRateBps: s.Int(), ChargesQuote: s.Bool(),
			TimeZone: s.Text(), LateMinutes: s.Int(), HoldMinutes: s.Int(), UpdatedOn: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.Store] { return &r.Stores },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Stores },
	Changes: func(c *commerce.Changes) *[]commerce.Store { return &c.Stores },
	Lock:    LockOnRequest,
	Traits:  Traits{Shard: Everywhere, Collides: true},
}

// SiteColumns are the columns that ScanSite reads. One index has all of them.
const SiteColumns = "id, lat, lng, pickup_enabled, delivery_enabled, radius_miles, updated_on"

// ScanSite reads the site of a store whose place is known.
func ScanSite(s Scanner) commerce.Site {
	site := commerce.Site{StoreID: s.Text(), At: commerce.Point{Lat: *s.Float(), Lng: *s.Float()},
		PickupEnabled: s.Bool(), DeliveryEnabled: s.Bool(), RadiusMiles: math.Inf(1)}
	if radius := s.Float(); radius != nil {
		site.RadiusMiles = *radius
	}
	site.UpdatedOn = millis(s)
	return site
}
