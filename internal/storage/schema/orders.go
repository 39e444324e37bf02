package schema

import "purveyor/internal/commerce"

// Orders has a row for each order, with its lines.
var Orders = Table[commerce.OrderKey, commerce.Order]{
	Name: "orders", Key: "store_id, id",
	Fixed: "partner_id, mode, source, external_id, fulfillment, lines, address, subtotal_cents, tax_cents, delivery_fee_cents, " +
		"total_cents, pickup_instructions, dropoff_instructions, external_payment_id, created_on, customer_id, customer_email",
	Mutable: "status, refunded_cents, courier_quote_id, courier_delivery_id, courier_tracking_url, inventory_deducted, confirmed, " +
		"ready_for_pickup_at, picked_up_at, refunded_from, refund_stopped, restocked, requested_from, held_until, updated_on, events, notified_on, metadata, ready_in_minutes, line_refunds",
	KeyOf:   func(v *commerce.Order) commerce.OrderKey { return v.Key() },
	BindKey: func(b Binder, k commerce.OrderKey) { b.Text(k.StoreID).Text(k.OrderID) },
	BindFixed: func(b Binder, v *commerce.Order) {
		b.Text(v.PartnerID).Text(string(v.Mode)).Text(v.Source).Text(v.ExternalID).Text(string(v.Fulfillment)).
			JSON(encodeLines(v.Lines)).JSON(encodeAddress(v.Address)).
			Int(int64(v.SubtotalCents)).Int(int64(v.TaxCents)).Int(int64(v.DeliveryFeeCents)).Int(int64(v.TotalCents)).
			Text(v.PickupInstructions).Text(v.DropoffInstructions).Text(v.ExternalPaymentID).Int(int64(v.CreatedOn)).
			Text(v.CustomerID).Text(v.CustomerEmail)
	},
	BindMutable: func(b Binder, v *commerce.Order) {
		b.Text(string(v.Status)).Int(int64(v.RefundedCents)).Text(v.CourierQuoteID).Text(v.CourierDeliveryID).Text(v.CourierTrackingURL).
			Bool(v.InventoryDeducted).Bool(v.Confirmed).Int(int64(v.ReadyForPickupAt)).Int(int64(v.PickedUpAt)).Text(string(v.RefundedFrom)).Bool(v.RefundStopped).
			Bool(v.Restocked).Text(string(v.RequestedFrom)).Int(int64(v.HeldUntil)).Int(int64(v.UpdatedOn)).Int(v.Events).Int(int64(v.NotifiedOn)).
			JSON(encodeMetadata(v.Metadata)).Int(orNone(v.ReadyInMinutes)).JSON(encodeLineRefunds(v.LineRefunds))
	},
	Scan:    scanOrder,
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.OrderKey, commerce.Order] { return &r.Orders },
	Needs:   func(n *commerce.Needs) *[]commerce.OrderKey { return &n.Orders },
	Changes: func(c *commerce.Changes) *[]commerce.Order { return &c.Orders },
	Created: func(n *commerce.Needs) *[]commerce.OrderKey { return &n.NewOrders },
	Lock:    LockAll,
	Traits:  Traits{Shard: "store_id", Single: true},
}

func scanOrder(s Scanner, k commerce.OrderKey) commerce.Order {
	o := commerce.Order{StoreID: k.StoreID, ID: k.OrderID, PartnerID: s.Text(), Mode: commerce.Mode(s.Text()), Source: s.Text(),
		ExternalID: s.Text(), Fulfillment: commerce.Fulfillment(s.Text())}
	o.Lines, o.Address = decodeLines(s), decodeAddress(s)
	o.SubtotalCents, o.TaxCents = commerce.Cents(s.Int()), commerce.Cents(s.Int())
	o.DeliveryFeeCents, o.TotalCents = commerce.Cents(s.Int()), commerce.Cents(s.Int())
	o.PickupInstructions, o.DropoffInstructions, o.ExternalPaymentID = s.Text(), s.Text(), s.Text()
	o.CreatedOn, o.CustomerID, o.CustomerEmail = millis(s), s.Text(), s.Text()
	o.Status, o.RefundedCents = commerce.OrderStatus(s.Text()), commerce.Cents(s.Int())
	o.CourierQuoteID, o.CourierDeliveryID, o.CourierTrackingURL = s.Text(), s.Text(), s.Text()
	o.InventoryDeducted, o.Confirmed = s.Bool(), s.Bool()
	o.ReadyForPickupAt, o.PickedUpAt, o.RefundedFrom, o.RefundStopped = millis(s), millis(s), commerce.OrderStatus(s.Text()), s.Bool()
	o.Restocked, o.RequestedFrom, o.HeldUntil, o.UpdatedOn, o.Events, o.NotifiedOn = s.Bool(), commerce.OrderStatus(s.Text()), millis(s), millis(s), s.Int(), millis(s)
	o.Metadata, o.ReadyInMinutes, o.LineRefunds = decodeMetadata(s), unlessNone(s.Int()), decodeLineRefunds(s)
	return o
}

// none stands for a number that is not known, and is not negative otherwise.
const none = -1

func orNone(v *int64) int64 {
	if v == nil {
		return none
	}
	return *v
}

func unlessNone(n int64) *int64 {
	if n == none {
		return nil
	}
	return &n
}

// ExternalIDs has the order of each external id of a partner.
var ExternalIDs = Table[commerce.ExternalKey, commerce.ExternalRef]{
	Name: "external_ids", Key: "partner_id, mode, external_id", Fixed: "store_id, order_id",
	KeyOf:     func(v *commerce.ExternalRef) commerce.ExternalKey { return v.ExternalKey },
	BindKey:   func(b Binder, k commerce.ExternalKey) { b.Text(k.PartnerID).Text(string(k.Mode)).Text(k.ExternalID) },
	BindFixed: func(b Binder, v *commerce.ExternalRef) { b.Text(v.Order.StoreID).Text(v.Order.OrderID) },
	Scan: func(s Scanner, k commerce.ExternalKey) commerce.ExternalRef {
		return commerce.ExternalRef{ExternalKey: k, Order: commerce.OrderKey{StoreID: s.Text(), OrderID: s.Text()}}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.ExternalKey, commerce.ExternalRef] { return &r.External },
	Needs:   func(n *commerce.Needs) *[]commerce.ExternalKey { return &n.External },
	Changes: func(c *commerce.Changes) *[]commerce.ExternalRef { return &c.External },
	Traits:  Traits{Shard: "partner_id", Collides: true, AddedByName: true},
}

// Customers of a store and partner. Batches ask for the
// contacts of a store, partner and mode at once, so the contact stands last here;
// in the index it follows the store, so that all customers of a contact are found.
var Customers = Table[commerce.CustomerKey, commerce.Customer]{
	Name: "customers", Key: "store_id, partner_id, mode, contact", Fixed: "id, name, created_on",
	KeyOf: func(v *commerce.Customer) commerce.CustomerKey { return v.CustomerKey },
	BindKey: func(b Binder, k commerce.CustomerKey) {
		b.Text(k.StoreID).Text(k.PartnerID).Text(string(k.Mode)).Text(k.Contact)
	},
	BindFixed: func(b Binder, v *commerce.Customer) { b.Text(v.ID).Text(v.Name).Int(int64(v.CreatedOn)) },
	Scan: func(s Scanner, k commerce.CustomerKey) commerce.Customer {
		return commerce.Customer{CustomerKey: k, ID: s.Text(), Name: s.Text(), CreatedOn: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.CustomerKey, commerce.Customer] { return &r.Customers },
	Needs:   func(n *commerce.Needs) *[]commerce.CustomerKey { return &n.Customers },
	Changes: func(c *commerce.Changes) *[]commerce.Customer { return &c.Customers },
	Traits:  Traits{Shard: "store_id", Collides: true, AddedByName: true},
}

// Timeline has the history of orders.
var Timeline = Log[commerce.TimelineEvent]{
	Name: "timeline", ID: "store_id, order_id, seq", Rest: "kind, status, courier_status, message, data, created_on, actor",
	Bind: func(b Binder, e *commerce.TimelineEvent) {
		b.Text(e.StoreID).Text(e.OrderID).Int(e.Seq).Text(string(e.Kind)).Text(string(e.Status)).
			Text(string(e.CourierStatus)).Text(e.Message).JSON(encodeTimelineData(e.Data)).Int(int64(e.CreatedOn)).Text(e.Actor)
	},
	Changes: func(c *commerce.Changes) *[]commerce.TimelineEvent { return &c.Timeline },
	Traits:  Traits{Shard: "store_id"},
}

// ScanTimeline reads the columns of Timeline that follow the order's key.
func ScanTimeline(s Scanner, k commerce.OrderKey) commerce.TimelineEvent {
	e := commerce.TimelineEvent{StoreID: k.StoreID, OrderID: k.OrderID, Seq: s.Int(),
		Kind: commerce.TimelineKind(s.Text()), Status: commerce.OrderStatus(s.Text()), CourierStatus: commerce.CourierStatus(s.Text()), Message: s.Text()}
	e.Data, e.CreatedOn, e.Actor = decodeTimelineData(s, e.Kind), millis(s), s.Text()
	return e
}
