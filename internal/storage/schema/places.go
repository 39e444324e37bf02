package schema

import "purveyor/internal/commerce"

// Places has where addresses were found to be, by the digest of the address.
var Places = Table[string, commerce.GeocodedAddress]{
	Name: "places", Key: "address", Mutable: "lat, lng, precision, source, found_on",
	KeyOf:   func(v *commerce.GeocodedAddress) string { return v.Address },
	BindKey: bindText,
	BindMutable: func(b Binder, v *commerce.GeocodedAddress) {
		b.Float(&v.At.Lat).Float(&v.At.Lng).Text(v.Precision).Text(v.Source).Int(int64(v.FoundOn))
	},
	Scan: func(s Scanner, address string) commerce.GeocodedAddress {
		v := commerce.GeocodedAddress{Address: address}
		if lat, lng := s.Float(), s.Float(); lat != nil && lng != nil {
			v.At = commerce.Point{Lat: *lat, Lng: *lng}
		}
		v.Precision, v.Source, v.FoundOn = s.Text(), s.Text(), millis(s)
		return v
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.GeocodedAddress] { return &r.Places },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Places },
	Changes: func(c *commerce.Changes) *[]commerce.GeocodedAddress { return &c.Places },
	Lock:    LockAll,
	Traits:  Traits{Shard: "address", Single: true, Collides: true},
}
