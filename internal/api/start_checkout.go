package api

import (
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

// checkoutIn is the request of SPEC.md, POST /v1/checkout/session.
type checkoutIn struct {
	StoreID             *string                            `json:"store_id"`
	Items               jsonin.List[itemIn, maxOrderLines] `json:"items"`
	SuccessURL          *string                            `json:"success_url"`
	CancelURL           *string                            `json:"cancel_url"`
	FulfillmentType     *string                            `json:"fulfillment_type"`
	DeliveryAddress     *addressIn                         `json:"delivery_address"`
	DeliveryFee         *jsonin.Int                        `json:"delivery_fee"`
	CustomerEmail       *string                            `json:"customer_email"`
	PickupInstructions  *string                            `json:"pickup_instructions"`
	DropoffInstructions *string                            `json:"dropoff_instructions"`
	Dev                 bool                               `json:"dev"`
	Metadata            metadataIn                         `json:"metadata,omitzero"`
	ReadyInMinutes      *jsonin.Int                        `json:"ready_in_minutes,omitzero"`
}

// startCheckout makes an order that the customer pays on a page of the payment processor.
// The job that opens the session decides the answer.
var startCheckout = keyed[checkoutIn](0, (*service.Service).StartCheckout, func(*request, commerce.Order) (int, []byte) { return 0, nil })

func (in checkoutIn) call(r *request) (service.StartCheckout, error) {
	r.dev = in.Dev
	var c check
	cmd := service.Checkout{
		Sale:       service.Sale{StoreID: c.ID("store_id", in.StoreID), Lines: c.items(in.Items)},
		SuccessURL: c.webURL("success_url", in.SuccessURL),
		CancelURL:  c.webURL("cancel_url", in.CancelURL),
	}
	cmd.Fulfillment = c.fulfillment(in.FulfillmentType, in.DeliveryAddress != nil)
	cmd.Address = c.address("delivery_address", in.DeliveryAddress)
	cmd.CustomerEmail = c.email("customer_email", in.CustomerEmail)
	cmd.PickupInstructions = c.instructions("pickup_instructions", in.PickupInstructions)
	cmd.DropoffInstructions = c.instructions("dropoff_instructions", in.DropoffInstructions)
	if in.FulfillmentType == nil {
		c.Fail("fulfillment_type", "is missing")
	}
	if fee := c.cents("delivery_fee", in.DeliveryFee, commerce.MaxCents); fee != nil {
		cmd.DeliveryFeeCents = *fee
	}
	c.handOver(cmd.Fulfillment, cmd.Address, cmd.DeliveryFeeCents)
	cmd.Metadata = c.metadata(in.Metadata)
	cmd.ReadyInMinutes = c.readyIn(in.ReadyInMinutes)
	return service.StartCheckout{Checkout: cmd, FeeGiven: in.DeliveryFee != nil}, c.Err
}

// CheckedOut answers POST /v1/checkout/session with the open session.
func (Answers) CheckedOut(o commerce.Order, p commerce.Payment) (status int, body []byte) {
	return http.StatusCreated, wire.Encode(struct {
		OK          bool   `json:"ok"`
		OrderID     string `json:"order_id"`
		SessionID   string `json:"session_id"`
		CheckoutURL string `json:"checkout_url"`
		TraceID     string `json:"trace_id"`
	}{true, o.ID, p.SessionID, p.CheckoutURL, p.TraceID})
}
