package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"

	"github.com/go-json-experiment/json"
)

// Partners keeps the rows of commerce.Rows by that name.
var Partners = Table[string, commerce.Partner]{
	Name: "partners", Key: "id", Fixed: "created_on",
	Mutable:   "name, scopes, store_ids, rate_limit, callback_url, callback_secret, suspended, updated_on",
	KeyOf:     func(p *commerce.Partner) string { return p.ID },
	BindKey:   bindText,
	BindFixed: func(b Binder, p *commerce.Partner) { b.Int(p.CreatedOn) },
	BindMutable: func(b Binder, p *commerce.Partner) {
		scopes := make([]string, len(p.Scopes))
		for i, s := range p.Scopes {
			scopes[i] = string(s)
		}
		b.Text(p.Name).JSON(list(scopes)).JSON(list(p.StoreIDs)).Int(p.RateLimit).
			Text(p.CallbackURL).Text(p.CallbackSecret).Bool(p.Suspended).Int(p.UpdatedOn)
	},
	Scan: func(s Scanner, id string) commerce.Partner {
		p := commerce.Partner{ID: id, CreatedOn: s.Int(), Name: s.Text()}
		for _, scope := range listOf(s) {
			p.Scopes = append(p.Scopes, commerce.Scope(scope))
		}
		p.StoreIDs, p.RateLimit, p.CallbackURL = listOf(s), s.Int(), s.Text()
		p.CallbackSecret, p.Suspended, p.UpdatedOn = s.Text(), s.Bool(), s.Int()
		return p
	},
}

// APIKeys keeps the rows of commerce.Rows by that name.
var APIKeys = Table[commerce.APIKeyRef, commerce.APIKey]{
	Name: "api_keys", Key: "partner_id, mode", Mutable: "hash, created_on",
	KeyOf: func(k *commerce.APIKey) commerce.APIKeyRef {
		return commerce.APIKeyRef{PartnerID: k.PartnerID, Mode: k.Mode}
	},
	BindKey:     func(b Binder, k commerce.APIKeyRef) { b.Text(k.PartnerID).Text(string(k.Mode)) },
	BindFixed:   none[commerce.APIKey],
	BindMutable: func(b Binder, k *commerce.APIKey) { b.Blob(k.Hash[:]).Int(k.CreatedOn) },
	Scan: func(s Scanner, k commerce.APIKeyRef) commerce.APIKey {
		v := commerce.APIKey{PartnerID: k.PartnerID, Mode: k.Mode}
		copy(v.Hash[:], s.Blob())
		v.CreatedOn = s.Int()
		return v
	},
}

// Stores keeps the rows of commerce.Rows by that name.
var Stores = Table[string, commerce.Store]{
	Name: "stores", Key: "id", Fixed: "no",
	Mutable: "name, slug, address, city, state, zip_code, active, open, pickup_enabled, delivery_enabled, " +
		"lat, lng, radius_miles, email, phone, tax_rate_bps, charges_quote, updated_on, band",
	KeyOf:     func(v *commerce.Store) string { return v.ID },
	BindKey:   bindText,
	BindFixed: func(b Binder, v *commerce.Store) { b.Int(v.No) },
	BindMutable: func(b Binder, v *commerce.Store) {
		b.Text(v.Name).Text(v.Slug).Text(v.Address).Text(v.City).Text(v.State).Text(v.ZipCode).
			Bool(v.Active).Bool(v.Open).Bool(v.PickupEnabled).Bool(v.DeliveryEnabled).
			Float(v.Lat).Float(v.Lng).Float(v.RadiusMiles).Text(v.Email).Text(v.Phone).Int(v.TaxRateBps).Bool(v.ChargesQuote).Int(v.UpdatedOn).Int(v.Band())
	},
	Scan: func(s Scanner, id string) commerce.Store { // the band follows from the place
		return commerce.Store{ID: id, No: s.Int(), Name: s.Text(), Slug: s.Text(), Address: s.Text(), City: s.Text(), State: s.Text(),
			ZipCode: s.Text(), Active: s.Bool(), Open: s.Bool(), PickupEnabled: s.Bool(), DeliveryEnabled: s.Bool(),
			Lat: s.Float(), Lng: s.Float(), RadiusMiles: s.Float(), Email: s.Text(), Phone: s.Text(), TaxRateBps: s.Int(), ChargesQuote: s.Bool(), UpdatedOn: s.Int()}
	},
}

// SiteColumns are what ScanSite reads. An index has them all.
const SiteColumns = "id, lat, lng, pickup_enabled, delivery_enabled, radius_miles, updated_on"

// ScanSite reads the site of a store whose place is known.
func ScanSite(s Scanner) commerce.Site {
	site := commerce.Site{StoreID: s.Text(), At: commerce.Point{Lat: *s.Float(), Lng: *s.Float()},
		PickupEnabled: s.Bool(), DeliveryEnabled: s.Bool(), RadiusMiles: math.Inf(1)}
	if radius := s.Float(); radius != nil {
		site.RadiusMiles = *radius
	}
	site.UpdatedOn = s.Int()
	return site
}

// Categories keeps the rows of commerce.Rows by that name.
var Categories = Table[string, commerce.Category]{
	Name: "categories", Key: "id", Mutable: "name, active",
	KeyOf:       func(v *commerce.Category) string { return v.ID },
	BindKey:     bindText,
	BindFixed:   none[commerce.Category],
	BindMutable: func(b Binder, v *commerce.Category) { b.Text(v.Name).Bool(v.Active) },
	Scan: func(s Scanner, id string) commerce.Category {
		return commerce.Category{ID: id, Name: s.Text(), Active: s.Bool()}
	},
}

// ProductStores keeps the rows of commerce.Rows by that name.
var ProductStores = Table[string, commerce.ProductStore]{
	Name: "product_stores", Key: "product_id", Fixed: "store_id",
	KeyOf:       func(v *commerce.ProductStore) string { return v.ProductID },
	BindKey:     bindText,
	BindFixed:   func(b Binder, v *commerce.ProductStore) { b.Text(v.StoreID) },
	BindMutable: none[commerce.ProductStore],
	Scan: func(s Scanner, id string) commerce.ProductStore {
		return commerce.ProductStore{ProductID: id, StoreID: s.Text()}
	},
}

// Products keeps the rows of commerce.Rows by that name.
var Products = Table[commerce.ProductKey, commerce.Product]{
	Name: "products", Key: "store_id, id", Fixed: "source",
	Mutable:   "sku, hot, created_on, description, featured_image, images",
	KeyOf:     func(v *commerce.Product) commerce.ProductKey { return v.Key() },
	BindKey:   bindProductKey,
	BindFixed: func(b Binder, v *commerce.Product) { b.Text(v.Source) },
	BindMutable: func(b Binder, v *commerce.Product) {
		b.Text(v.SKU).Bool(v.Hot).Int(v.CreatedOn).
			Text(v.Description).Text(v.FeaturedImage).JSON(list(v.Images))
	},
	Scan: func(s Scanner, k commerce.ProductKey) commerce.Product {
		return commerce.Product{StoreID: k.StoreID, ID: k.ProductID, Source: s.Text(),
			SKU: s.Text(), Hot: s.Bool(), CreatedOn: s.Int(), Description: s.Text(), FeaturedImage: s.Text(), Images: listOf(s)}
	},
}

// Stock keeps the rows of commerce.Rows by that name.
var Stock = Table[commerce.ProductKey, commerce.Stock]{
	Name: "stock", Key: "store_id, product_id",
	Mutable:   "name, price_cents, category_id, active, quantity, moves, moved_on, sold_count, sold_cents, updated_on",
	KeyOf:     func(v *commerce.Stock) commerce.ProductKey { return v.Key() },
	BindKey:   bindProductKey,
	BindFixed: none[commerce.Stock],
	BindMutable: func(b Binder, v *commerce.Stock) {
		b.Text(v.Name).Int(int64(v.PriceCents)).Text(v.CategoryID).Bool(v.Active).Int(v.Quantity).Int(v.Moves).Int(v.MovedOn).Int(v.SoldCount).Int(int64(v.SoldCents)).Int(v.UpdatedOn)
	},
	Often: "quantity, moves, moved_on, sold_count, sold_cents, updated_on", // what a sale changes
	BindOften: func(b Binder, v *commerce.Stock) {
		b.Int(v.Quantity).Int(v.Moves).Int(v.MovedOn).Int(v.SoldCount).Int(int64(v.SoldCents)).Int(v.UpdatedOn)
	},
	Confined: func(v, was *commerce.Stock) bool {
		return v.Name == was.Name && v.PriceCents == was.PriceCents && v.CategoryID == was.CategoryID && v.Active == was.Active
	},
	Scan: func(s Scanner, k commerce.ProductKey) commerce.Stock {
		return commerce.Stock{StoreID: k.StoreID, ProductID: k.ProductID, Name: s.Text(), PriceCents: commerce.Cents(s.Int()), CategoryID: s.Text(), Active: s.Bool(),
			Quantity: s.Int(), Moves: s.Int(), MovedOn: s.Int(), SoldCount: s.Int(), SoldCents: commerce.Cents(s.Int()), UpdatedOn: s.Int()}
	},
}

// Orders keeps the rows of commerce.Rows by that name.
var Orders = Table[commerce.OrderKey, commerce.Order]{
	Name: "orders", Key: "store_id, id",
	Fixed: "partner_id, mode, source, external_id, fulfillment, lines, address, subtotal_cents, tax_cents, delivery_fee_cents, " +
		"total_cents, pickup_instructions, dropoff_instructions, external_payment_id, created_on, customer_id, customer_email",
	Mutable: "status, refunded_cents, courier_quote_id, courier_delivery_id, courier_tracking_url, inventory_deducted, confirmed, " +
		"ready_for_pickup_at, picked_up_at, refunded_from, refund_stopped, restocked, updated_on, events, notified_on",
	KeyOf:   func(v *commerce.Order) commerce.OrderKey { return v.Key() },
	BindKey: func(b Binder, k commerce.OrderKey) { b.Text(k.StoreID).Text(k.OrderID) },
	BindFixed: func(b Binder, v *commerce.Order) {
		b.Text(v.PartnerID).Text(string(v.Mode)).Text(v.Source).Text(v.ExternalID).Text(string(v.Fulfillment)).
			JSON(wire.AppendLines(nil, v.Lines)).JSON(addressJSON(v.Address)).
			Int(int64(v.SubtotalCents)).Int(int64(v.TaxCents)).Int(int64(v.DeliveryFeeCents)).Int(int64(v.TotalCents)).
			Text(v.PickupInstructions).Text(v.DropoffInstructions).Text(v.ExternalPaymentID).Int(v.CreatedOn).
			Text(v.CustomerID).Text(v.CustomerEmail)
	},
	BindMutable: func(b Binder, v *commerce.Order) {
		b.Text(string(v.Status)).Int(int64(v.RefundedCents)).Text(v.CourierQuoteID).Text(v.CourierDeliveryID).Text(v.CourierTrackingURL).
			Bool(v.InventoryDeducted).Bool(v.Confirmed).Int(v.ReadyForPickupAt).Int(v.PickedUpAt).Text(string(v.RefundedFrom)).Bool(v.RefundStopped).
			Bool(v.Restocked).Int(v.UpdatedOn).Int(v.Events).Int(v.NotifiedOn)
	},
	Scan: scanOrder,
}

func scanOrder(s Scanner, k commerce.OrderKey) commerce.Order {
	o := commerce.Order{StoreID: k.StoreID, ID: k.OrderID, PartnerID: s.Text(), Mode: commerce.Mode(s.Text()), Source: s.Text(),
		ExternalID: s.Text(), Fulfillment: commerce.Fulfillment(s.Text())}
	lines, address := s.JSON(), s.JSON()
	var err error
	if o.Lines, err = wire.ParseLines(lines); err != nil {
		unreadable(s, "lines", err)
	}
	if o.Address, err = wire.ParseDeliveryAddress(address); err != nil {
		unreadable(s, "address", err)
	}
	o.SubtotalCents, o.TaxCents = commerce.Cents(s.Int()), commerce.Cents(s.Int())
	o.DeliveryFeeCents, o.TotalCents = commerce.Cents(s.Int()), commerce.Cents(s.Int())
	o.PickupInstructions, o.DropoffInstructions, o.ExternalPaymentID = s.Text(), s.Text(), s.Text()
	o.CreatedOn, o.CustomerID, o.CustomerEmail = s.Int(), s.Text(), s.Text()
	o.Status, o.RefundedCents = commerce.OrderStatus(s.Text()), commerce.Cents(s.Int())
	o.CourierQuoteID, o.CourierDeliveryID, o.CourierTrackingURL = s.Text(), s.Text(), s.Text()
	o.InventoryDeducted, o.Confirmed = s.Bool(), s.Bool()
	o.ReadyForPickupAt, o.PickedUpAt, o.RefundedFrom, o.RefundStopped = s.Int(), s.Int(), commerce.OrderStatus(s.Text()), s.Bool()
	o.Restocked, o.UpdatedOn, o.Events, o.NotifiedOn = s.Bool(), s.Int(), s.Int(), s.Int()
	return o
}

func addressJSON(a *commerce.DeliveryAddress) []byte {
	if a == nil {
		return nil
	}
	return wire.AppendDeliveryAddress(nil, a)
}

// ExternalIDs keeps the rows of commerce.Rows by that name.
var ExternalIDs = Table[commerce.ExternalKey, commerce.ExternalRef]{
	Name: "external_ids", Key: "partner_id, mode, external_id", Fixed: "store_id, order_id",
	KeyOf:       func(v *commerce.ExternalRef) commerce.ExternalKey { return v.ExternalKey },
	BindKey:     func(b Binder, k commerce.ExternalKey) { b.Text(k.PartnerID).Text(string(k.Mode)).Text(k.ExternalID) },
	BindFixed:   func(b Binder, v *commerce.ExternalRef) { b.Text(v.Order.StoreID).Text(v.Order.OrderID) },
	BindMutable: none[commerce.ExternalRef],
	Scan: func(s Scanner, k commerce.ExternalKey) commerce.ExternalRef {
		return commerce.ExternalRef{ExternalKey: k, Order: commerce.OrderKey{StoreID: s.Text(), OrderID: s.Text()}}
	},
}

// Customers keeps the rows of commerce.Rows by that name. Batches ask for the
// contacts of a store, partner and mode at once, so the contact stands last here;
// in the index it follows the store, so that all customers of a contact are found.
var Customers = Table[commerce.CustomerKey, commerce.Customer]{
	Name: "customers", Key: "store_id, partner_id, mode, contact", Fixed: "id, name, created_on",
	KeyOf: func(v *commerce.Customer) commerce.CustomerKey { return v.CustomerKey },
	BindKey: func(b Binder, k commerce.CustomerKey) {
		b.Text(k.StoreID).Text(k.PartnerID).Text(string(k.Mode)).Text(k.Contact)
	},
	BindFixed:   func(b Binder, v *commerce.Customer) { b.Text(v.ID).Text(v.Name).Int(v.CreatedOn) },
	BindMutable: none[commerce.Customer],
	Scan: func(s Scanner, k commerce.CustomerKey) commerce.Customer {
		return commerce.Customer{CustomerKey: k, ID: s.Text(), Name: s.Text(), CreatedOn: s.Int()}
	},
}

// Replies keeps the rows of commerce.Rows by that name. Engines call PackReplies
// before they bind them. Idempotency keys come in no order and may be long; a
// digest keeps the index that each of them changes small.
var Replies = Table[commerce.ReplyKey, commerce.Reply]{
	Name: "replies", Key: "partner_id, digest", Fixed: "fingerprint, created_on", Mutable: "status, body, job_slot, job_id",
	KeyOf:     func(v *commerce.Reply) commerce.ReplyKey { return v.ReplyKey },
	BindKey:   func(b Binder, k commerce.ReplyKey) { b.Text(k.PartnerID).Blob(digest(k)) },
	BindFixed: func(b Binder, v *commerce.Reply) { b.Blob(v.Fingerprint[:]).Int(v.CreatedOn) },
	BindMutable: func(b Binder, v *commerce.Reply) {
		b.Int(int64(v.Status)).Blob(v.Body).Int(v.Job.Slot).Text(v.Job.ID)
	},
	Scan: func(s Scanner, k commerce.ReplyKey) commerce.Reply {
		v := commerce.Reply{ReplyKey: k}
		copy(v.Fingerprint[:], s.Blob())
		v.CreatedOn, v.Status = s.Int(), int(s.Int())
		var err error
		if v.Body, err = unpack(s.Blob()); err != nil {
			s.Fail(err)
		}
		v.Job = commerce.JobKey{Slot: s.Int(), ID: s.Text()}
		return v
	},
}

// Timeline and WebhookEvents are what batches append.
var (
	Timeline = Log[commerce.TimelineEvent]{
		Name: "timeline", ID: "store_id, order_id, seq", Rest: "kind, status, courier_status, message, data, created_on",
		Bind: func(b Binder, e *commerce.TimelineEvent) {
			b.Text(e.StoreID).Text(e.OrderID).Int(e.Seq).Text(string(e.Kind)).Text(string(e.Status)).
				Text(string(e.CourierStatus)).Text(e.Message).JSON(e.Data).Int(e.CreatedOn)
		},
	}
	WebhookEvents = Log[commerce.WebhookEvent]{
		Name: "webhook_events", ID: "partner_id, id", Rest: "kind, mode, store_id, order_id, trace_id, data, timestamp",
		Bind: func(b Binder, e *commerce.WebhookEvent) {
			b.Text(e.PartnerID).Text(e.ID).Text(string(e.Kind)).Text(string(e.Mode)).Text(e.StoreID).Text(e.OrderID).
				Text(e.TraceID).JSON(e.Data).Int(e.Timestamp)
		},
	}
)

// ScanTimeline reads the columns of Timeline that follow the order's key.
func ScanTimeline(s Scanner, k commerce.OrderKey) commerce.TimelineEvent {
	return commerce.TimelineEvent{StoreID: k.StoreID, OrderID: k.OrderID, Seq: s.Int(),
		Kind: commerce.TimelineKind(s.Text()), Status: commerce.OrderStatus(s.Text()), CourierStatus: commerce.CourierStatus(s.Text()),
		Message: s.Text(), Data: s.JSON(), CreatedOn: s.Int()}
}

func bindText(b Binder, id string) { b.Text(id) }

func bindProductKey(b Binder, k commerce.ProductKey) { b.Text(k.StoreID).Text(k.ProductID) }

func digest(k commerce.ReplyKey) []byte {
	var parts []byte
	for _, part := range []string{k.PartnerID, k.Op, k.Key} {
		parts = binary.BigEndian.AppendUint32(parts, uint32(len(part)))
		parts = append(parts, part...)
	}
	sum := sha256.Sum256(parts)
	return sum[:16]
}

// list is the JSON text of a list of strings.
func list(v []string) []byte {
	if len(v) == 0 {
		return []byte("[]")
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a []string always encodes
	}
	return data
}

func listOf(s Scanner) (v []string) {
	if data := s.JSON(); string(data) != "[]" {
		if err := json.Unmarshal(data, &v); err != nil {
			unreadable(s, "list", err)
		}
	}
	return v
}
