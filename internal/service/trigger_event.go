package service

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"

	"github.com/go-json-experiment/json"
)

// TriggerEvent asks for an event of a test order.
type TriggerEvent struct {
	Event   commerce.WebhookKind // one of TriggeredEvents
	StoreID string               // empty: one that has goods and can hand them over
	Repeat  Repeat
}

// play is how an order comes to an event.
type play struct {
	pays    bool // the order is checked out and paid; otherwise it is reported
	deliver bool // by a courier
	acts    []string
}

// What the partner does itself.
const (
	partnerReady    = "ready"
	partnerPickedUp = "picked_up"
)

var plays = map[commerce.WebhookKind]play{
	commerce.WebhookAccepted:          {},
	commerce.WebhookPaid:              {pays: true, acts: []string{"pay"}},
	commerce.WebhookProcessed:         {pays: true, acts: []string{"pay", MerchantConfirm}},
	commerce.WebhookReadyForPickup:    {acts: []string{partnerReady}},
	commerce.WebhookPickedUp:          {acts: []string{partnerReady, partnerPickedUp}},
	commerce.WebhookCancelled:         {acts: []string{MerchantCancel}},
	commerce.WebhookRefunded:          {pays: true, acts: []string{"pay", MerchantRefund}},
	commerce.WebhookRefundFailed:      {pays: true, acts: []string{"pay", MerchantRefund, "refund_fail"}},
	commerce.WebhookShipped:           {deliver: true},
	commerce.WebhookDeliveryCreated:   {deliver: true},
	commerce.WebhookCourierUpdate:     {deliver: true, acts: []string{"courier_next"}},
	commerce.WebhookOutForDelivery:    {deliver: true, acts: slices.Repeat([]string{"courier_next"}, 5)},
	commerce.WebhookDeliveryOut:       {deliver: true, acts: slices.Repeat([]string{"courier_next"}, 5)},
	commerce.WebhookDelivered:         {deliver: true, acts: []string{"courier_deliver"}},
	commerce.WebhookDeliveryDone:      {deliver: true, acts: []string{"courier_deliver"}},
	commerce.WebhookDeliveryCancelled: {deliver: true, acts: []string{"courier_cancel"}},
}

// TriggeredEvents are the kinds that TriggerEvent can bring about.
func TriggeredEvents() (kinds []commerce.WebhookKind) {
	for _, kind := range commerce.WebhookKinds {
		if _, ok := plays[kind]; ok {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// TriggerEvent plays a test order of the caller until the event has happened, and returns the order's id. The
// order takes its goods out of stock, as every test order. Errors: 409 insufficient_stock if no store has goods for it; 409
// wrong_status if the order has taken another course, because others act on it, too.
func (s *Service) TriggerEvent(ctx context.Context, by Caller, in TriggerEvent) (string, error) {
	played := plays[in.Event]
	sale, err := s.sampleSale(ctx, by, in.StoreID, played.deliver)
	if err != nil {
		return "", err
	}
	if in.Repeat.Key.Key == "" {
		in.Repeat.Key = commerce.ReplyKey{PartnerID: by.Partner.ID, Op: "sandbox trigger", Key: s.newID(commerce.PrefixSandbox)}
	}
	began := s.millis()
	id, err := s.placeSample(ctx, by, sale, played.pays, in.Repeat)
	if err != nil {
		return "", err
	}
	for i, act := range played.acts {
		if err := s.playAct(ctx, by, id, act, in.Repeat, i); err != nil {
			return id, err
		}
	}
	return id, s.awaitEvent(ctx, by.Partner.ID, id, in.Event, began)
}

// placeSample places the order, once for the key.
func (s *Service) placeSample(ctx context.Context, by Caller, sale Sale, pays bool, r Repeat) (string, error) {
	var out Outcome[commerce.Order]
	var err error
	once := Once[commerce.Order]{r.Key, r.Fingerprint, func(o commerce.Order) (int, []byte) { return 201, []byte(`{"order_id":"` + o.ID + `"}`) }}
	if pays {
		const page = "https://example.com/"
		once.Encode = func(commerce.Order) (int, []byte) { return 0, nil } // the job that opens the session decides the answer
		out, err = s.StartCheckout(ctx, by, StartCheckout{Checkout: Checkout{Sale: sale, SuccessURL: page, CancelURL: page}, FeeGiven: true}, once)
	} else {
		out, err = s.ReportOrder(ctx, by, ReportOrder{Sale: sale, ExternalID: "trigger-" + s.newID(commerce.PrefixSandbox)}, once)
	}
	if err != nil {
		return "", err
	}
	var placed struct {
		OrderID string `json:"order_id"`
	}
	if err := json.Unmarshal(out.Reply.Body, &placed); err != nil || placed.OrderID == "" {
		return "", commerce.Conflict("wrong_status", "The test order was not made in time; try again")
	}
	return placed.OrderID, nil
}

// playAct takes one step of a play. A repeat takes none that was taken before.
func (s *Service) playAct(ctx context.Context, by Caller, orderID, act string, r Repeat, step int) error {
	order, err := s.FindOrder(ctx, by, orderID)
	if err != nil {
		return err
	}
	switch act {
	case partnerReady:
		_, err = s.MarkReady(ctx, by, Handover{Order: order})
	case partnerPickedUp:
		_, err = s.MarkPickedUp(ctx, by, Handover{Order: order})
	default:
		r.Key.Key += " " + strconv.Itoa(step)
		_, err = s.ActInSandbox(ctx, by, SandboxAct{Order: order, Action: act, Repeat: r})
	}
	return err
}

// How long an event is waited for, and the time between two looks. Jobs make some of them.
const (
	eventPatience = 8 * time.Second
	eventPoll     = 50 * time.Millisecond
)

// awaitEvent returns when the event is stored.
func (s *Service) awaitEvent(ctx context.Context, partnerID, orderID string, kind commerce.WebhookKind, since commerce.Millis) error {
	wait, cancel := s.o.Env.WithTimeout(ctx, eventPatience)
	defer cancel()
	f := storage.EventFilter{PartnerID: partnerID, Kinds: []commerce.WebhookKind{kind}, Since: since.Add(-time.Minute), Limit: 300}
	for {
		page, err := s.reader.EventPage(ctx, f)
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			if e.OrderID == orderID {
				return nil
			}
		}
		if page.Through != "" {
			f.After = page.Through
		}
		if !page.More && s.o.Env.Sleep(wait, eventPoll) != nil {
			return commerce.Conflict("wrong_status", "The order %s has not come to %s", orderID, kind)
		}
	}
}

// sampleSale is an order of one piece of a store that the caller may use.
func (s *Service) sampleSale(ctx context.Context, by Caller, storeID string, deliver bool) (sale Sale, err error) {
	filter := storage.StoreFilter{Active: true, IDs: by.Partner.StoreIDs, Limit: 100}
	if len(filter.IDs) == 0 {
		filter.IDs = nil
	}
	if storeID != "" {
		if err := by.Partner.MayUse(storeID); err != nil {
			return sale, err
		}
		if _, err := s.storeNo(ctx, storeID); errors.Is(err, storage.ErrNotFound) {
			return sale, commerce.Invalid("store_id", "store %s is not known", storeID)
		}
		filter.IDs = []string{storeID}
	}
	stores, err := s.reader.Stores(ctx, filter)
	if err != nil {
		return sale, err
	}
	active := true
	for _, store := range stores {
		if !deliver && !store.PickupEnabled || deliver && (!store.DeliveryEnabled || store.Address == "") {
			continue
		}
		page, err := s.reader.ProductPage(ctx, storage.ProductFilter{StoreIDs: []string{store.ID}, Active: &active, AvailableOnly: true, Limit: 1}, nil)
		if err != nil {
			return sale, err
		}
		if len(page.Items) > 0 {
			return saleOf(store, page.Items[0], deliver), nil
		}
	}
	return sale, commerce.Conflict(commerce.CodeInsufficientStock, "Insufficient stock: no store that you may use has goods for such an order")
}

// saleOf is a sale to the door of the store itself, which is always in reach.
func saleOf(store commerce.Store, item commerce.Item, deliver bool) command.Sale {
	sale := Sale{StoreID: store.ID, Fulfillment: commerce.ByPickup,
		Lines: []commerce.OrderLine{{ProductID: item.ID, Quantity: 1, PriceCents: item.Stock.PriceCents}}}
	if deliver {
		sale.Fulfillment = commerce.ByDelivery
		sale.Address = &commerce.DeliveryAddress{Name: "Test", Address: commerce.Address{Line1: store.Address, City: store.City, State: store.State, PostalCode: store.ZipCode, Country: "US"}}
	}
	return sale
}
