package purveyor

import "context"

// CheckoutService lets customers pay by card on a hosted page.
type CheckoutService struct{ client *Client }

// Preflight tells whether an order could be made of a cart.
func (s *CheckoutService) Preflight(ctx context.Context, body PreflightRequest, options ...Option) (*PreflightReply, error) {
	return call(ctx, s.client, opPreflightCheckout, nil, none{}, &body, append(options, harmless)...)
}

// Start makes an order, and the page on which the customer pays.
func (s *CheckoutService) Start(ctx context.Context, body CheckoutRequest, options ...Option) (*CheckoutReply, error) {
	return call(ctx, s.client, opCreateCheckoutSession, nil, none{}, &body, options...)
}

// DeliveryService is about deliveries before there is an order.
type DeliveryService struct{ client *Client }

// Quote tells what a courier would charge, and how long it would take.
func (s *DeliveryService) Quote(ctx context.Context, body QuoteRequest, options ...Option) (*QuoteReply, error) {
	return call(ctx, s.client, opQuoteDelivery, nil, none{}, &body, append(options, harmless)...)
}
