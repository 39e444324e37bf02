package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
	"purveyor/internal/wire"
)

// checkoutIn is the request of SPEC.md, POST /v1/checkout/session.
type checkoutIn struct {
	StoreID             *string                          `json:"store_id"`
	Items               wire.List[itemIn, maxOrderLines] `json:"items"`
	SuccessURL          *string                          `json:"success_url"`
	CancelURL           *string                          `json:"cancel_url"`
	FulfillmentType     *string                          `json:"fulfillment_type"`
	DeliveryAddress     *addressIn                       `json:"delivery_address"`
	DeliveryFee         *wire.Int                        `json:"delivery_fee"`
	CustomerEmail       *string                          `json:"customer_email"`
	PickupInstructions  *string                          `json:"pickup_instructions"`
	DropoffInstructions *string                          `json:"dropoff_instructions"`
	Dev                 bool                             `json:"dev"`
}

// checkoutSession makes an order that its customer is to pay on a page of the
// payment processor.
func (a *API) checkoutSession(r *request) (reply, error) {
	key, err := web.IdempotencyKey(r.Request)
	if err != nil {
		return reply{}, err
	}
	var in checkoutIn
	if err := r.decodeBody(&in); err != nil {
		return reply{}, err
	}
	mode := r.modeOf(in.Dev)
	cmd, err := in.command(r.actor(mode))
	if err != nil {
		return reply{}, err
	}
	if cmd.Processor = a.processors[mode]; cmd.Processor == "" {
		return reply{}, &web.Error{Status: http.StatusInternalServerError, Code: "payment_not_configured", Log: slog.LevelWarn,
			Message: notConfigured(mode, "No payment processor", "set PURVEYOR_STRIPE_KEY and PURVEYOR_STRIPE_WEBHOOK_SECRET",
				"set PURVEYOR_SANDBOX=on, or PURVEYOR_STRIPE_TEST_KEY and PURVEYOR_STRIPE_TEST_WEBHOOK_SECRET")}
	}
	no, err := a.storeNo(r.Context(), cmd.StoreID)
	if errors.Is(err, storage.ErrNotFound) {
		err = commerce.Invalid("store_id", "store %s is not known", cmd.StoreID)
	}
	if err != nil {
		return reply{}, err
	}
	if cmd.Titles, err = a.titles(r.Context(), cmd.StoreID, cmd.Lines); err != nil {
		return reply{}, err
	}
	cmd.OrderID = commerce.NewOrderID(no, commerce.MillisOf(a.now()), a.env.Entropy())
	cmd.CustomerID = a.newID(commerce.PrefixCustomer)
	if key == "" {
		key = cmd.OrderID // nobody repeats it, but the answer comes the same way
	}
	if cmd.Fulfillment == commerce.ByDelivery {
		place := a.place(r.Context(), cmd.Address.Address)
		cmd.Place = forReach(place)
		if in.DeliveryFee == nil {
			if cmd.DeliveryFeeCents, err = a.liveFee(r, r.replyKey(mode, key), cmd, place); err != nil {
				return reply{}, err
			}
		}
	}
	return awaiting(a, r, r.replyKey(mode, key), in, cmd, func(commerce.Order) (int, []byte) { return 0, nil }, a.sessionRefused)
}

// titles are what the products of the lines are called now. One that is not
// known in the store has none: the command will refuse it.
func (a *API) titles(ctx context.Context, storeID string, lines []commerce.OrderLine) ([]commerce.LineTitle, error) {
	ids := make([]string, len(lines))
	for i, l := range lines {
		ids[i] = l.ProductID
	}
	items, err := a.reader.Items(ctx, storeID, ids)
	if err != nil {
		return nil, err
	}
	titles := make([]commerce.LineTitle, len(lines))
	for i, id := range ids {
		titles[i] = commerce.LineTitle{Name: items[id].Stock.Name, ImageURL: items[id].FeaturedImage}
	}
	return titles, nil
}

// sessionRefused says why the processor opened no session.
func (a *API) sessionRefused(ctx context.Context, job commerce.Job) error {
	payment, err := a.reader.Payment(ctx, commerce.OrderKey{StoreID: job.Owner, OrderID: job.Subject})
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return refusedByProcessor(payment.Error, job)
}

func (in checkoutIn) command(actor commerce.Actor) (command.StartCheckout, error) {
	var c check
	cmd := command.StartCheckout{
		Actor:               actor,
		StoreID:             c.ID("store_id", in.StoreID),
		Lines:               c.items(in.Items),
		SuccessURL:          c.webURL("success_url", in.SuccessURL),
		CancelURL:           c.webURL("cancel_url", in.CancelURL),
		Fulfillment:         c.fulfillment(in.FulfillmentType, in.DeliveryAddress != nil),
		Address:             c.address("delivery_address", in.DeliveryAddress),
		CustomerEmail:       c.email("customer_email", in.CustomerEmail),
		PickupInstructions:  c.instructions("pickup_instructions", in.PickupInstructions),
		DropoffInstructions: c.instructions("dropoff_instructions", in.DropoffInstructions),
	}
	if in.FulfillmentType == nil {
		c.Fail("fulfillment_type", "is missing")
	}
	if fee := c.cents("delivery_fee", in.DeliveryFee, commerce.MaxCents); fee != nil {
		cmd.DeliveryFeeCents = *fee
	}
	c.handOver(cmd.Fulfillment, cmd.Address, cmd.DeliveryFeeCents)
	return cmd, c.Err
}
