package wire

import "purveyor/internal/commerce"

// AppendOrder appends the order shape (SPEC, Order; BEHAVIOUR, further order
// fields).
func AppendOrder(b []byte, v commerce.Order) []byte {
	o := open(b)
	o.str("id", v.ID)
	o.str("store_id", v.StoreID)
	o.num("created_on", v.CreatedOn)
	o.num("updated_on", v.UpdatedOn)
	o.str("customer_id", v.CustomerID)
	o.name("items")
	o.b = AppendLines(o.b, v.Lines)
	o.optStr("source", v.Source)
	o.optStr("partner_client_id", v.PartnerID)
	o.optStr("external_order_id", v.ExternalID)
	o.str("fulfillment_type", string(v.Fulfillment))
	o.name("delivery_address")
	o.b = AppendDeliveryAddress(o.b, v.Address)
	o.num("delivery_fee", int64(v.DeliveryFeeCents))
	o.num("subtotal", int64(v.SubtotalCents))
	o.num("tax_amount", int64(v.TaxCents))
	o.num("total", int64(v.TotalCents))
	o.num("refunded_total", int64(v.RefundedCents))
	o.str("status", string(v.Status))
	o.optStr("courier_delivery_id", v.CourierDeliveryID)
	o.optStr("courier_tracking_url", v.CourierTrackingURL)
	o.optStr("courier_quote_id", v.CourierQuoteID)
	o.optNum("ready_for_pickup_at", v.ReadyForPickupAt)
	o.optNum("picked_up_at", v.PickedUpAt)
	o.bool("dev", v.Mode == commerce.Test)
	o.optStr("pickup_instructions", v.PickupInstructions)
	o.optStr("dropoff_instructions", v.DropoffInstructions)
	o.optStr("external_payment_id", v.ExternalPaymentID)
	o.optStr("customer_email", v.CustomerEmail)
	return o.close()
}

// AppendLines appends items of an order: product_id, quantity, price in cents
// and, where it differs, original_price. Storage keeps lines in this form too.
func AppendLines(b []byte, lines []commerce.OrderLine) []byte {
	b = append(b, '[')
	for i, l := range lines {
		if i > 0 {
			b = append(b, ',')
		}
		o := open(b)
		o.str("product_id", l.ProductID)
		o.num("quantity", l.Quantity)
		o.num("price", int64(l.PriceCents))
		if l.OriginalPriceCents != nil {
			o.num("original_price", int64(*l.OriginalPriceCents))
		}
		b = o.close()
	}
	return append(b, ']')
}

// AppendDeliveryAddress appends null for nil.
func AppendDeliveryAddress(b []byte, a *commerce.DeliveryAddress) []byte {
	if a == nil {
		return append(b, "null"...)
	}
	o := open(b)
	o.str("name", a.Name)
	o.optStr("email", a.Email)
	o.optStr("phone", a.Phone)
	o.name("address")
	in := open(o.b)
	in.str("line1", a.Address.Line1)
	in.optStr("line2", a.Address.Line2)
	in.str("city", a.Address.City)
	in.str("state", a.Address.State)
	in.str("postal_code", a.Address.PostalCode)
	in.str("country", a.Address.Country)
	o.b = in.close()
	return o.close()
}

// AppendTimelineEvent appends the timeline shape (SPEC, Order timeline event).
func AppendTimelineEvent(b []byte, e commerce.TimelineEvent) []byte {
	o := open(b)
	o.str("id", commerce.TimelineEventID(e.OrderID, e.Seq))
	o.str("order_id", e.OrderID)
	o.str("event", string(e.Kind))
	o.nullStr("status", string(e.Status))
	o.nullStr("courier_delivery_status", string(e.CourierStatus))
	o.nullStr("message", e.Message)
	if e.Data == nil {
		o.raw("data", []byte("null"))
	} else {
		o.raw("data", e.Data)
	}
	o.num("created_on", e.CreatedOn)
	return o.close()
}

// InventoryMove is what a transition did to the stock of one product.
type InventoryMove struct {
	ProductID string
	Delta     int64
	Left      int64 // in stock afterwards
}

// InventoryData is the data of the timeline events order.processed and
// order.cancelled.
func InventoryData(moves []InventoryMove) []byte {
	o := open(nil)
	o.inventory(moves)
	return o.close()
}

func (o *object) inventory(moves []InventoryMove) {
	o.name("inventory")
	o.b = append(o.b, '[')
	for i, m := range moves {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		in := open(o.b)
		in.str("product_id", m.ProductID)
		in.num("delta", m.Delta)
		in.num("available_quantity", m.Left)
		o.b = in.close()
	}
	o.b = append(o.b, ']')
}

// NoteData is the data of order.note: a machine code.
func NoteData(code string) []byte {
	return append(AppendString([]byte(`{"code":`), code), '}')
}

// PaymentData is the data of the timeline event order.paid.
func PaymentData(amount commerce.Cents, paymentID string) []byte {
	o := open(nil)
	o.num("amount_cents", int64(amount))
	o.str("payment_id", paymentID)
	return o.close()
}

// RefundData is the data of the timeline event order.refunded; total is what
// went back so far, with this refund. moves are there if the refund put goods
// back in stock.
func RefundData(r commerce.Refund, total commerce.Cents, moves []InventoryMove) []byte {
	o := open(nil)
	o.refund(r, total)
	if moves != nil {
		o.inventory(moves)
	}
	return o.close()
}

func (o *object) refund(r commerce.Refund, total commerce.Cents) {
	o.str("payments_refund_id", r.ID)
	o.num("amount_refunded_cents", int64(r.AmountCents))
	o.num("total_refunded_cents", int64(total))
	o.optStr("reason", r.Reason)
}

// RefundEventData is the data of the webhook order.refunded: that of every
// order event, and the refund (BEHAVIOUR, Lifecycle).
func RefundEventData(v commerce.Order, previous commerce.OrderStatus, r commerce.Refund) []byte {
	o := object{b: OrderEventData(v, previous), comma: true}
	o.b = o.b[:len(o.b)-1]
	o.refund(r, v.RefundedCents)
	o.str("status", string(v.Status))
	return o.close()
}

// RefundFailedEventData is the data of the webhook order.refund_failed: that of
// every order event, and the refund that came back.
func RefundFailedEventData(v commerce.Order, previous commerce.OrderStatus, r commerce.Refund) []byte {
	o := object{b: OrderEventData(v, previous), comma: true}
	o.b = o.b[:len(o.b)-1]
	o.str("payments_refund_id", r.ID)
	o.num("amount_cents", int64(r.AmountCents))
	o.num("total_refunded_cents", int64(v.RefundedCents))
	o.str("status", string(v.Status))
	o.str("error", r.Error)
	return o.close()
}

// OrderEventData is the data of the order.* webhook events. previous is empty
// when the order was made by this change.
func OrderEventData(v commerce.Order, previous commerce.OrderStatus) []byte {
	b := append(make([]byte, 0, 1024), `{"order":`...)
	b = AppendOrder(b, v)
	b = append(b, `,"previous_status":`...)
	b = AppendStringOrNull(b, string(previous))
	return append(b, '}')
}
