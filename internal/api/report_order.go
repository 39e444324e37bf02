package api

import (
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

// reportIn is the request of SPEC.md, POST /v1/orders/report.
type reportIn struct {
	ExternalOrderID     *string                                `json:"external_order_id"`
	StoreID             *string                                `json:"store_id"`
	Items               jsonin.List[soldItemIn, maxOrderLines] `json:"items"`
	FulfillmentType     *string                                `json:"fulfillment_type"`
	Total               *jsonin.Int                            `json:"total"`
	Subtotal            *jsonin.Int                            `json:"subtotal"`
	TaxAmount           *jsonin.Int                            `json:"tax_amount"`
	TaxRate             *jsonin.Rate                           `json:"tax_rate"`
	DeliveryFee         *jsonin.Int                            `json:"delivery_fee"`
	DeliveryAddress     *addressIn                             `json:"delivery_address"`
	PickupInstructions  *string                                `json:"pickup_instructions"`
	DropoffInstructions *string                                `json:"dropoff_instructions"`
	ExternalPaymentID   *string                                `json:"external_payment_id"`
	Dev                 bool                                   `json:"dev"`
	Metadata            metadataIn                             `json:"metadata,omitzero"`
	ReadyInMinutes      *jsonin.Int                            `json:"ready_in_minutes,omitzero"`
}

type soldItemIn struct {
	ProductID *string     `json:"product_id"`
	Quantity  *jsonin.Int `json:"quantity"`
	Price     *jsonin.Int `json:"price"`
}

type maxOrderLines struct{}

func (maxOrderLines) Most() int { return 98 }

// reportOrder records an order whose customer paid the partner.
var reportOrder = keyed[reportIn](needsKey, (*service.Service).ReportOrder, func(r *request, o commerce.Order) (int, []byte) {
	return Answers{}.Reported(o, r.traceID)
})

func (in reportIn) call(r *request) (service.ReportOrder, error) {
	r.dev = in.Dev
	var c check
	order := service.ReportOrder{
		ExternalID: c.ID("external_order_id", in.ExternalOrderID),
		Sale: service.Sale{
			StoreID:             c.ID("store_id", in.StoreID),
			Lines:               in.lines(&c),
			Fulfillment:         c.fulfillment(in.FulfillmentType, in.DeliveryAddress != nil),
			Address:             c.address("delivery_address", in.DeliveryAddress),
			PickupInstructions:  c.instructions("pickup_instructions", in.PickupInstructions),
			DropoffInstructions: c.instructions("dropoff_instructions", in.DropoffInstructions),
		},
		ExternalPaymentID: c.Optional("external_payment_id", in.ExternalPaymentID, jsonin.MaxID),
		Given: commerce.GivenTotals{
			Total:    c.cents("total", in.Total, commerce.MaxTotal),
			Subtotal: c.cents("subtotal", in.Subtotal, commerce.MaxTotal),
			Tax:      c.cents("tax_amount", in.TaxAmount, commerce.MaxTotal),
			TaxRate:  (*commerce.Rate)(in.TaxRate),
		},
	}
	if fee := c.cents("delivery_fee", in.DeliveryFee, commerce.MaxCents); fee != nil {
		order.Given.DeliveryFee = *fee
	}
	c.handOver(order.Fulfillment, order.Address, order.Given.DeliveryFee)
	order.Metadata = c.metadata(in.Metadata)
	order.ReadyInMinutes = c.readyIn(in.ReadyInMinutes)
	return order, c.Err
}

func (in reportIn) lines(c *check) []commerce.OrderLine {
	c.NotEmpty("items", len(in.Items))
	lines := make([]commerce.OrderLine, len(in.Items))
	c.Each("items", len(lines), func(i int) {
		item := in.Items[i]
		lines[i] = commerce.OrderLine{
			ProductID:  c.ID("product_id", item.ProductID),
			Quantity:   c.Between("quantity", item.Quantity, 1, commerce.MaxQuantity),
			PriceCents: commerce.Cents(c.Between("price", item.Price, 0, int64(commerce.MaxCents))),
		}
	})
	return lines
}

// cents reads an optional amount.
func (c *check) cents(field string, v *jsonin.Int, most commerce.Cents) *commerce.Cents {
	return (*commerce.Cents)(c.OptBetween(field, v, 0, int64(most)))
}

// Reported answers POST /v1/orders/report. traceID is the trace id of the report.
func (Answers) Reported(o commerce.Order, traceID string) (status int, body []byte) {
	return http.StatusCreated, wire.Encode(struct {
		OK              bool            `json:"ok"`
		OrderID         string          `json:"order_id"`
		ExternalOrderID string          `json:"external_order_id"`
		Status          string          `json:"status"`
		Delivery        *deliveryAnswer `json:"delivery,omitempty"`
		TraceID         string          `json:"trace_id"`
	}{true, o.ID, o.ExternalID, string(commerce.Processed), deliveryOf(o), traceID})
}

// deliveryAnswer shows whether a provider has created the delivery of an order.
type deliveryAnswer struct {
	Created            bool   `json:"created"`
	CourierDeliveryID  string `json:"courier_delivery_id,omitempty"`
	CourierTrackingURL string `json:"courier_tracking_url,omitempty"`
}

// deliveryOf returns the delivery as answers show it, or nil for a pickup order.
func deliveryOf(o commerce.Order) *deliveryAnswer {
	if o.Fulfillment != commerce.ByDelivery {
		return nil
	}
	return &deliveryAnswer{o.CourierDeliveryID != "", o.CourierDeliveryID, o.CourierTrackingURL}
}
