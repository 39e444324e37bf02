package sqlite

import (
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// table describes how the rows of one kind are kept: the columns of the key,
// those that never change, and those that do; and how each part is bound and
// read, in that order.
type table[K comparable, V any] struct {
	name                string
	key, fixed, mutable string // column names, separated by a comma and a space
	keyOf               func(*V) K
	bindKey             func(*binder, K)
	bindFixed           func(*binder, *V)
	bindMutable         func(*binder, *V)
	scan                func(*scanner, K) V // reads fixed, then mutable

	selectSQL, insertSQL, updateSQL string
}

func (t table[K, V]) prepared() *table[K, V] {
	where := strings.ReplaceAll(t.key, ", ", " = ? AND ") + " = ?"
	columns := join(t.key, t.fixed, t.mutable)
	t.selectSQL = "SELECT " + join(t.fixed, t.mutable) + " FROM " + t.name + " WHERE " + where
	t.insertSQL = "INSERT INTO " + t.name + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
	if t.mutable != "" {
		t.updateSQL = "UPDATE " + t.name + " SET " + strings.ReplaceAll(t.mutable, ", ", " = ?, ") + " = ? WHERE " + where
	}
	return &t
}

func join(lists ...string) string {
	var kept []string
	for _, l := range lists {
		if l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, ", ")
}

func none[V any](*binder, *V) {}

var partners = table[string, commerce.Partner]{
	name: "partners", key: "id", fixed: "created_on",
	mutable:   "name, scopes, store_ids, rate_limit, callback_url, callback_secret, suspended, updated_on",
	keyOf:     func(p *commerce.Partner) string { return p.ID },
	bindKey:   bindText,
	bindFixed: func(b *binder, p *commerce.Partner) { b.int(p.CreatedOn) },
	bindMutable: func(b *binder, p *commerce.Partner) {
		scopes := make([]string, len(p.Scopes))
		for i, s := range p.Scopes {
			scopes[i] = string(s)
		}
		b.text(p.Name).strings(scopes).strings(p.StoreIDs).int(p.RateLimit).
			text(p.CallbackURL).text(p.CallbackSecret).bool(p.Suspended).int(p.UpdatedOn)
	},
	scan: func(s *scanner, id string) commerce.Partner {
		p := commerce.Partner{ID: id, CreatedOn: s.int(), Name: s.text()}
		for _, scope := range s.strings() {
			p.Scopes = append(p.Scopes, commerce.Scope(scope))
		}
		p.StoreIDs, p.RateLimit, p.CallbackURL = s.strings(), s.int(), s.text()
		p.CallbackSecret, p.Suspended, p.UpdatedOn = s.text(), s.bool(), s.int()
		return p
	},
}.prepared()

var apiKeys = table[commerce.APIKeyRef, commerce.APIKey]{
	name: "api_keys", key: "partner_id, mode", mutable: "hash, created_on",
	keyOf: func(k *commerce.APIKey) commerce.APIKeyRef {
		return commerce.APIKeyRef{PartnerID: k.PartnerID, Mode: k.Mode}
	},
	bindKey:     func(b *binder, k commerce.APIKeyRef) { b.text(k.PartnerID).text(string(k.Mode)) },
	bindFixed:   none[commerce.APIKey],
	bindMutable: func(b *binder, k *commerce.APIKey) { b.blob(k.Hash[:]).int(k.CreatedOn) },
	scan: func(s *scanner, k commerce.APIKeyRef) commerce.APIKey {
		v := commerce.APIKey{PartnerID: k.PartnerID, Mode: k.Mode}
		copy(v.Hash[:], s.blob())
		v.CreatedOn = s.int()
		return v
	},
}.prepared()

var stores = table[string, commerce.Store]{
	name: "stores", key: "id", fixed: "no",
	mutable: "name, slug, address, city, state, zip_code, active, open, pickup_enabled, delivery_enabled, " +
		"lat, lng, radius_miles, email, phone, tax_rate_bps, updated_on",
	keyOf:     func(v *commerce.Store) string { return v.ID },
	bindKey:   bindText,
	bindFixed: func(b *binder, v *commerce.Store) { b.int(v.No) },
	bindMutable: func(b *binder, v *commerce.Store) {
		b.text(v.Name).text(v.Slug).text(v.Address).text(v.City).text(v.State).text(v.ZipCode).
			bool(v.Active).bool(v.Open).bool(v.PickupEnabled).bool(v.DeliveryEnabled).
			float(v.Lat).float(v.Lng).float(v.RadiusMiles).text(v.Email).text(v.Phone).int(v.TaxRateBps).int(v.UpdatedOn)
	},
	scan: func(s *scanner, id string) commerce.Store {
		return commerce.Store{ID: id, No: s.int(), Name: s.text(), Slug: s.text(), Address: s.text(), City: s.text(), State: s.text(),
			ZipCode: s.text(), Active: s.bool(), Open: s.bool(), PickupEnabled: s.bool(), DeliveryEnabled: s.bool(),
			Lat: s.float(), Lng: s.float(), RadiusMiles: s.float(), Email: s.text(), Phone: s.text(), TaxRateBps: s.int(), UpdatedOn: s.int()}
	},
}.prepared()

var categories = table[string, commerce.Category]{
	name: "categories", key: "id", mutable: "name, active",
	keyOf:       func(v *commerce.Category) string { return v.ID },
	bindKey:     bindText,
	bindFixed:   none[commerce.Category],
	bindMutable: func(b *binder, v *commerce.Category) { b.text(v.Name).bool(v.Active) },
	scan: func(s *scanner, id string) commerce.Category {
		return commerce.Category{ID: id, Name: s.text(), Active: s.bool()}
	},
}.prepared()

var productStores = table[string, commerce.ProductStore]{
	name: "product_stores", key: "product_id", fixed: "store_id",
	keyOf:       func(v *commerce.ProductStore) string { return v.ProductID },
	bindKey:     bindText,
	bindFixed:   func(b *binder, v *commerce.ProductStore) { b.text(v.StoreID) },
	bindMutable: none[commerce.ProductStore],
	scan: func(s *scanner, id string) commerce.ProductStore {
		return commerce.ProductStore{ProductID: id, StoreID: s.text()}
	},
}.prepared()

var products = table[commerce.ProductKey, commerce.Product]{
	name: "products", key: "store_id, id", fixed: "source",
	mutable:   "sku, hot, created_on, description, featured_image, images",
	keyOf:     func(v *commerce.Product) commerce.ProductKey { return v.Key() },
	bindKey:   bindProductKey,
	bindFixed: func(b *binder, v *commerce.Product) { b.text(v.Source) },
	bindMutable: func(b *binder, v *commerce.Product) {
		b.text(v.SKU).bool(v.Hot).int(v.CreatedOn).
			text(v.Description).text(v.FeaturedImage).strings(v.Images)
	},
	scan: func(s *scanner, k commerce.ProductKey) commerce.Product {
		return commerce.Product{StoreID: k.StoreID, ID: k.ProductID, Source: s.text(),
			SKU: s.text(), Hot: s.bool(), CreatedOn: s.int(), Description: s.text(), FeaturedImage: s.text(), Images: s.strings()}
	},
}.prepared()

var stock = table[commerce.ProductKey, commerce.Stock]{
	name: "stock", key: "store_id, product_id",
	mutable:   "name, price_cents, category_id, active, quantity, sold_count, sold_cents, updated_on",
	keyOf:     func(v *commerce.Stock) commerce.ProductKey { return v.Key() },
	bindKey:   bindProductKey,
	bindFixed: none[commerce.Stock],
	bindMutable: func(b *binder, v *commerce.Stock) {
		b.text(v.Name).int(int64(v.PriceCents)).text(v.CategoryID).bool(v.Active).int(v.Quantity).int(v.SoldCount).int(int64(v.SoldCents)).int(v.UpdatedOn)
	},
	scan: func(s *scanner, k commerce.ProductKey) commerce.Stock {
		return commerce.Stock{StoreID: k.StoreID, ProductID: k.ProductID, Name: s.text(), PriceCents: commerce.Cents(s.int()), CategoryID: s.text(), Active: s.bool(),
			Quantity: s.int(), SoldCount: s.int(), SoldCents: commerce.Cents(s.int()), UpdatedOn: s.int()}
	},
}.prepared()

var orders = table[commerce.OrderKey, commerce.Order]{
	name: "orders", key: "store_id, id",
	fixed: "partner_id, mode, source, external_id, fulfillment, lines, address, subtotal_cents, tax_cents, delivery_fee_cents, " +
		"total_cents, pickup_instructions, dropoff_instructions, external_payment_id, created_on, customer_id, customer_email",
	mutable: "status, refunded_cents, courier_quote_id, courier_delivery_id, courier_tracking_url, inventory_deducted, confirmed, " +
		"ready_for_pickup_at, picked_up_at, attention, updated_on, events, notified_on",
	keyOf:   func(v *commerce.Order) commerce.OrderKey { return v.Key() },
	bindKey: func(b *binder, k commerce.OrderKey) { b.text(k.StoreID).text(k.OrderID) },
	bindFixed: func(b *binder, v *commerce.Order) {
		b.text(v.PartnerID).text(string(v.Mode)).text(v.Source).text(v.ExternalID).text(string(v.Fulfillment)).
			json(wire.AppendLines(nil, v.Lines)).json(addressJSON(v.Address)).
			int(int64(v.SubtotalCents)).int(int64(v.TaxCents)).int(int64(v.DeliveryFeeCents)).int(int64(v.TotalCents)).
			text(v.PickupInstructions).text(v.DropoffInstructions).text(v.ExternalPaymentID).int(v.CreatedOn).
			text(v.CustomerID).text(v.CustomerEmail)
	},
	bindMutable: func(b *binder, v *commerce.Order) {
		b.text(string(v.Status)).int(int64(v.RefundedCents)).text(v.CourierQuoteID).text(v.CourierDeliveryID).text(v.CourierTrackingURL).
			bool(v.InventoryDeducted).bool(v.Confirmed).int(v.ReadyForPickupAt).int(v.PickedUpAt).text(v.Attention).
			int(v.UpdatedOn).int(v.Events).int(v.NotifiedOn)
	},
	scan: scanOrder,
}.prepared()

func scanOrder(s *scanner, k commerce.OrderKey) commerce.Order {
	o := commerce.Order{StoreID: k.StoreID, ID: k.OrderID, PartnerID: s.text(), Mode: commerce.Mode(s.text()), Source: s.text(),
		ExternalID: s.text(), Fulfillment: commerce.Fulfillment(s.text())}
	lines, address := s.json(), s.json()
	var err error
	if o.Lines, err = wire.ParseLines(lines); err != nil {
		s.fail(err)
	}
	if o.Address, err = wire.ParseDeliveryAddress(address); err != nil {
		s.fail(err)
	}
	o.SubtotalCents, o.TaxCents = commerce.Cents(s.int()), commerce.Cents(s.int())
	o.DeliveryFeeCents, o.TotalCents = commerce.Cents(s.int()), commerce.Cents(s.int())
	o.PickupInstructions, o.DropoffInstructions, o.ExternalPaymentID = s.text(), s.text(), s.text()
	o.CreatedOn, o.CustomerID, o.CustomerEmail = s.int(), s.text(), s.text()
	o.Status, o.RefundedCents = commerce.OrderStatus(s.text()), commerce.Cents(s.int())
	o.CourierQuoteID, o.CourierDeliveryID, o.CourierTrackingURL = s.text(), s.text(), s.text()
	o.InventoryDeducted, o.Confirmed = s.bool(), s.bool()
	o.ReadyForPickupAt, o.PickedUpAt, o.Attention = s.int(), s.int(), s.text()
	o.UpdatedOn, o.Events, o.NotifiedOn = s.int(), s.int(), s.int()
	return o
}

func addressJSON(a *commerce.DeliveryAddress) []byte {
	if a == nil {
		return nil
	}
	return wire.AppendDeliveryAddress(nil, a)
}

var externalIDs = table[commerce.ExternalKey, commerce.ExternalRef]{
	name: "external_ids", key: "partner_id, mode, external_id", fixed: "store_id, order_id",
	keyOf:       func(v *commerce.ExternalRef) commerce.ExternalKey { return v.ExternalKey },
	bindKey:     func(b *binder, k commerce.ExternalKey) { b.text(k.PartnerID).text(string(k.Mode)).text(k.ExternalID) },
	bindFixed:   func(b *binder, v *commerce.ExternalRef) { b.text(v.Order.StoreID).text(v.Order.OrderID) },
	bindMutable: none[commerce.ExternalRef],
	scan: func(s *scanner, k commerce.ExternalKey) commerce.ExternalRef {
		return commerce.ExternalRef{ExternalKey: k, Order: commerce.OrderKey{StoreID: s.text(), OrderID: s.text()}}
	},
}.prepared()

var customers = table[commerce.CustomerKey, commerce.Customer]{
	name: "customers", key: "store_id, contact", fixed: "id, name, created_on",
	keyOf:       func(v *commerce.Customer) commerce.CustomerKey { return v.Key() },
	bindKey:     func(b *binder, k commerce.CustomerKey) { b.text(k.StoreID).text(k.Contact) },
	bindFixed:   func(b *binder, v *commerce.Customer) { b.text(v.ID).text(v.Name).int(v.CreatedOn) },
	bindMutable: none[commerce.Customer],
	scan: func(s *scanner, k commerce.CustomerKey) commerce.Customer {
		return commerce.Customer{StoreID: k.StoreID, Contact: k.Contact, ID: s.text(), Name: s.text(), CreatedOn: s.int()}
	},
}.prepared()

var replies = table[commerce.ReplyKey, commerce.Reply]{
	name: "replies", key: "partner_id, op, key", fixed: "fingerprint, status, body, created_on",
	keyOf:   func(v *commerce.Reply) commerce.ReplyKey { return v.ReplyKey },
	bindKey: func(b *binder, k commerce.ReplyKey) { b.text(k.PartnerID).text(k.Op).text(k.Key) },
	bindFixed: func(b *binder, v *commerce.Reply) {
		b.blob(v.Fingerprint[:]).int(int64(v.Status)).blob(v.Body).int(v.CreatedOn)
	},
	bindMutable: none[commerce.Reply],
	scan: func(s *scanner, k commerce.ReplyKey) commerce.Reply {
		v := commerce.Reply{ReplyKey: k}
		copy(v.Fingerprint[:], s.blob())
		v.Status, v.Body, v.CreatedOn = int(s.int()), s.blob(), s.int()
		return v
	},
}.prepared()

func bindText(b *binder, id string) { b.text(id) }

func bindProductKey(b *binder, k commerce.ProductKey) { b.text(k.StoreID).text(k.ProductID) }
