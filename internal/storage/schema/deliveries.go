package schema

import "purveyor/internal/commerce"

// Deliveries has the delivery of each order that is delivered: its present attempt.
var Deliveries = Table[commerce.OrderKey, commerce.Delivery]{
	Name: "deliveries", Key: "store_id, order_id",
	Fixed: "trace_id, created_on, ready_at",
	Mutable: "attempt, state, provider, asked_on, provider_id, quote_id, fee_cents, avoid, tracking_url, status, pickup_eta, dropoff_eta, " +
		"courier_name, courier_phone, courier_vehicle, courier_image_url, lat, lng, imminent, seen_on, heard_on, told_on, untold, called_off, replacing, error, updated_on, changes",
	KeyOf:   func(v *commerce.Delivery) commerce.OrderKey { return v.Key() },
	BindKey: func(b Binder, k commerce.OrderKey) { b.Text(k.StoreID).Text(k.OrderID) },
	BindFixed: func(b Binder, v *commerce.Delivery) {
		b.Text(v.TraceID).Int(int64(v.CreatedOn)).Int(int64(v.ReadyAt))
	},
	BindMutable: func(b Binder, v *commerce.Delivery) {
		b.Int(v.Attempt).Text(string(v.State)).Text(v.Provider).Int(int64(v.AskedOn)).Text(v.ProviderID).Text(v.QuoteID).Int(int64(v.FeeCents)).
			Text(v.Avoid).Text(v.TrackingURL).Text(string(v.Status)).Int(int64(v.PickupETA)).Int(int64(v.DropoffETA)).
			Text(v.Courier.Name).Text(v.Courier.Phone).Text(v.Courier.Vehicle).Text(v.Courier.ImageURL)
		if at := v.Courier.At; at != nil {
			b.Float(&at.Lat).Float(&at.Lng)
		} else {
			b.Float(nil).Float(nil)
		}
		b.Bool(v.Imminent).Int(int64(v.SeenOn)).Int(int64(v.HeardOn)).Int(int64(v.ToldOn)).Bool(v.Untold).
			Bool(v.CalledOff).Bool(v.Replacing).Text(v.Error).Int(int64(v.UpdatedOn)).Int(v.Changes)
	},
	Scan:    scanDelivery,
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.OrderKey, commerce.Delivery] { return &r.Deliveries },
	Needs:   func(n *commerce.Needs) *[]commerce.OrderKey { return &n.Deliveries },
	Changes: func(c *commerce.Changes) *[]commerce.Delivery { return &c.Deliveries },
	Created: func(n *commerce.Needs) *[]commerce.OrderKey { return &n.NewDeliveries },
	Lock:    LockAll,
	Traits:  Traits{Shard: "store_id", Single: true},
}

func scanDelivery(s Scanner, k commerce.OrderKey) commerce.Delivery {
	d := commerce.Delivery{StoreID: k.StoreID, OrderID: k.OrderID, TraceID: s.Text(), CreatedOn: millis(s), ReadyAt: millis(s),
		Attempt: s.Int(), State: commerce.DeliveryState(s.Text()), Provider: s.Text(), AskedOn: millis(s), ProviderID: s.Text(), QuoteID: s.Text(),
		FeeCents: commerce.Cents(s.Int()), Avoid: s.Text(), TrackingURL: s.Text(), Status: commerce.CourierStatus(s.Text()), PickupETA: millis(s), DropoffETA: millis(s),
		Courier: commerce.Courier{Name: s.Text(), Phone: s.Text(), Vehicle: s.Text(), ImageURL: s.Text()}}
	if lat, lng := s.Float(), s.Float(); lat != nil && lng != nil {
		d.Courier.At = &commerce.Point{Lat: *lat, Lng: *lng}
	}
	d.Imminent, d.SeenOn, d.HeardOn, d.ToldOn, d.Untold = s.Bool(), millis(s), millis(s), millis(s), s.Bool()
	d.CalledOff, d.Replacing, d.Error, d.UpdatedOn, d.Changes = s.Bool(), s.Bool(), s.Text(), millis(s), s.Int()
	return d
}

// StrayCallbacks has the callbacks about deliveries that are not ours.
var StrayCallbacks = Log[commerce.StrayCallback]{
	Name: "courier_notices", ID: "id", Rest: "delivery_id, provider, body, received_on",
	Bind: func(b Binder, n *commerce.StrayCallback) {
		b.Text(n.ID).Text(n.DeliveryID).Text(n.Provider).Text(n.Body).Int(int64(n.ReceivedOn))
	},
	Changes: func(c *commerce.Changes) *[]commerce.StrayCallback { return &c.StrayCallbacks },
	Traits: Traits{Shard: "id",
		Expired: []Expired{{Keep: EventKeep, Column: "id", Prefix: commerce.PrefixStrayCallback, Order: "id"}}},
}

// ScanStrayCallback reads all columns of StrayCallbacks.
func ScanStrayCallback(s Scanner) commerce.StrayCallback {
	return commerce.StrayCallback{ID: s.Text(), DeliveryID: s.Text(), Provider: s.Text(), Body: s.Text(), ReceivedOn: millis(s)}
}
