package service_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/service"
	"purveyor/internal/testkit/fixture"
)

// other is another partner, with all scopes.
func other(mode commerce.Mode) service.Caller {
	const id = "ptn_2"
	return service.Caller{Actor: fixture.ActorOf(id, mode), Partner: fixture.Admit(commerce.Partner{ID: id}).Partner}
}

// TestWhoSeesAnOrder: partners see their own orders in stores that their key is for,
// and with a test key only test orders. By the partner's own id they find the order
// of the key's mode first.
func TestWhoSeesAnOrder(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx := t.Context()
		live, test := s.ordered(caller(commerce.Live), reported("both")), s.ordered(caller(commerce.Test), reported("both"))
		onlyTest := s.ordered(caller(commerce.Test), reported("test"))
		for _, c := range []struct {
			who        string
			by         service.Caller
			order      commerce.Order
			byID       string // the refusal; empty: the order is found
			external   string
			byExternal string
			finds      commerce.Order
		}{
			{"live key, live order", caller(commerce.Live), live, "", "both", "", live},
			{"live key, test order", caller(commerce.Live), test, "", "test", "", onlyTest},
			{"test key, test order", caller(commerce.Test), test, "", "both", "", test},
			{"test key, live order", caller(commerce.Test), live, "not_found", "none", "not_found", live},
			{"another partner", other(commerce.Live), live, "not_found", "both", "not_found", live},
			{"another partner's test key", other(commerce.Test), test, "not_found", "both", "not_found", test},
			{"a key for other stores", restricted(), live, "store_not_allowed", "both", "store_not_allowed", live},
		} {
			found, err := s.FindOrder(ctx, c.by, c.order.ID)
			if code(err) != c.byID || err == nil && found.ID != c.order.ID || err != nil && found.ID != "" {
				t.Errorf("%s: found %q, %v", c.who, found.ID, err)
			}
			found, err = s.FindOrderByExternal(ctx, c.by, c.external)
			if code(err) != c.byExternal || err == nil && found.ID != c.finds.ID || err != nil && found.ID != "" {
				t.Errorf("%s, by external id: found %q, %v", c.who, found.ID, err)
			}
		}
		for _, id := range []string{"", "ord_", "none", live.ID + "0", s.NewOrderID(1), s.NewOrderID(77)} {
			if _, err := s.FindOrder(ctx, caller(commerce.Live), id); code(err) != "not_found" {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
}

// TestWhoReadsAStore: a store that does not exist is told from one that the key is not
// for, each time that it is asked for.
func TestWhoReadsAStore(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		for _, c := range []struct {
			by    service.Caller
			store string
			want  string
		}{
			{caller(commerce.Live), fixture.StoreID, ""},
			{restricted(), fixture.StoreID, "store_not_allowed"},
			{caller(commerce.Live), "sto_none", "not_found"},
			{restricted(), "sto_none", "not_found"},
		} {
			for range 2 {
				if err := s.MayReadStore(t.Context(), c.by.Partner, c.store); code(err) != c.want {
					t.Errorf("%s: %v, want %s", c.store, err, c.want)
				}
			}
			_, _, err := s.CheckAvailability(t.Context(), c.by, &c.store, nil)
			if code(err) != c.want {
				t.Errorf("availability in %s: %v, want %s", c.store, err, c.want)
			}
			if _, err := s.Preflight(t.Context(), c.by, service.Cart{StoreID: c.store}); code(err) != c.want {
				t.Errorf("preflight in %s: %v, want %s", c.store, err, c.want)
			}
			if _, err := s.QuoteDelivery(t.Context(), c.by, service.QuoteDelivery{StoreID: c.store, To: *at(commerce.ByDelivery)}); code(err) != c.want {
				t.Errorf("quote of %s: %v, want %s", c.store, err, c.want)
			}
		}
	})
}

// TestRightsAreRead: the rights that hold are those that are stored when the command
// is decided, and not those that the front has looked up before. A repeat of a call
// is refused as well.
func TestRightsAreRead(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, by := t.Context(), caller(commerce.Live)
		if _, err := s.ReportOrder(ctx, by, reported("a"), once[commerce.Order](s, "a")); err != nil {
			t.Fatal(err)
		}
		paid := s.paid(commerce.ByPickup, "p")
		_, err := s.ImportCatalog(ctx, operator, service.ImportCatalog{Stores: []command.ImportStore{{ID: "sto_other", Name: "Other"}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.UpdatePartner(ctx, operator, service.UpdatePartner{ID: fixture.PartnerID, StoreIDs: &[]string{"sto_other"}}); err != nil {
			t.Fatal(err)
		}
		orders, stock := len(s.orders()), s.Stock(0)
		for name, call := range map[string]func() error{
			"report": func() error {
				_, err := s.ReportOrder(ctx, by, reported("b"), once[commerce.Order](s, "b"))
				return err
			},
			"repeat": func() error {
				_, err := s.ReportOrder(ctx, by, reported("a"), once[commerce.Order](s, "a"))
				return err
			},
			"checkout": func() error {
				_, err := s.StartCheckout(ctx, by, bought(commerce.ByPickup), awaiting[commerce.Order](s, "c"))
				return err
			},
			"refund": func() error {
				_, err := s.RefundOrder(ctx, by, service.RefundOrder{Order: paid}, awaiting[commerce.Refund](s, "r"))
				return err
			},
			"cancel": func() error {
				_, err := s.CancelOrder(ctx, by, service.CancelOrder{Order: paid}, once[service.Cancelled](s, "x"))
				return err
			},
			"adjust": func() error {
				_, err := s.AdjustInventory(ctx, by, []service.Adjustment{{Product: fixture.ProductKey(0), Delta: 1}}, once[[]service.Adjusted](s, "i"))
				return err
			},
			"upsert": func() error {
				_, err := s.UpsertProduct(ctx, by, service.UpsertProduct{Create: true, StoreID: fixture.StoreID, CategoryID: fixture.CategoryID, Name: "New"}, once[commerce.Item](s, "u"))
				return err
			},
		} {
			if err := call(); code(err) != "store_not_allowed" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(s.orders()) != orders || s.Stock(0) != stock || s.Order(paid.Key()).Status != commerce.Paid {
			t.Errorf("something was changed: %d orders, stock %+v", len(s.orders()), s.Stock(0))
		}
	})
}

var operator = commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}

// TestWhoReportsPayments: only the processor that takes a payment may report about
// it. A callback about anything else changes nothing.
func TestWhoReportsPayments(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx := t.Context()
		order, unpaid := s.checkedOut(commerce.ByPickup, "k"), s.ordered(caller(commerce.Live), reported("a"))
		calls := map[string]func(by, orderID string) error{
			"payment": func(by, id string) error {
				return s.RecordPaymentCallback(ctx, provided(by), payment.Callback{Kind: payment.CallbackPaid, OrderID: id, SessionID: session, PaymentID: "pay_1", AmountCents: order.TotalCents})
			},
			"callback": func(by, id string) error {
				return s.RecordPaymentCallback(ctx, provided(by), payment.Callback{Kind: payment.CallbackDeclined, OrderID: id, ID: "cb_1"})
			},
			"refund": func(by, id string) error {
				return s.RecordPaymentCallback(ctx, provided(by), payment.Callback{Kind: payment.CallbackRefunded, OrderID: id, RefundID: "ref_1", AmountCents: 1})
			},
		}
		before := s.Payment(order.Key())
		for name, call := range calls {
			for _, c := range []struct{ by, orderID string }{{"stripe", order.ID}, {processor, unpaid.ID}, {processor, s.NewOrderID(1)}, {processor, "nonsense"}, {"", order.ID}} {
				if err := call(c.by, c.orderID); !errors.Is(err, service.ErrUnknownSubject) {
					t.Errorf("%s by %q about %s: %v", name, c.by, c.orderID, err)
				}
			}
		}
		if now := s.Payment(order.Key()); !reflect.DeepEqual(now, before) {
			t.Errorf("the payment was %+v, and is %+v", before, now)
		}
		for _, want := range []error{nil, service.ErrDuplicate} {
			if err := calls["payment"](processor, order.ID); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		if o, p := s.Order(order.Key()), s.Payment(order.Key()); o.Status != commerce.Paid || p.CapturedCents != order.TotalCents || s.Stock(0).Quantity != quantity-1 {
			t.Errorf("order %+v, payment %+v, stock %d", o, p, s.Stock(0).Quantity)
		}
	})
}

func provided(by string) commerce.Actor { return commerce.Actor{Kind: commerce.ActorProvider, ID: by} }

// TestWhoReportsDeliveries: only the provider that delivers may report about it.
func TestWhoReportsDeliveries(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		order := s.delivered("a")
		ref := commerce.DeliveryRef(order.ID, 1)
		for _, c := range []struct {
			by, ref string
			want    error
			status  commerce.CourierStatus // then
		}{
			{"van", ref, service.ErrUnknownSubject, commerce.CourierPending},
			{provider, commerce.DeliveryRef(order.ID, 9), service.ErrDuplicate, commerce.CourierPending}, // of an attempt that is over
			{provider, commerce.DeliveryRef(s.NewOrderID(1), 1), service.ErrUnknownSubject, commerce.CourierPending},
			{provider, "nonsense", service.ErrUnknownSubject, commerce.CourierPending},
			{provider, ref, nil, commerce.CourierAssigned},
			{provider, ref, service.ErrDuplicate, commerce.CourierAssigned},
		} {
			err := s.RecordCourierUpdate(t.Context(), provided(c.by), courier.Delivery{ID: "bike_1", Ref: c.ref, Status: commerce.CourierAssigned})
			if !errors.Is(err, c.want) {
				t.Errorf("%s about %s: %v, want %v", c.by, c.ref, err, c.want)
			}
			if now := s.Delivery(order.Key()).Status; now != c.status {
				t.Errorf("%s about %s took the delivery to %s, want %s", c.by, c.ref, now, c.status)
			}
		}
	})
}

// delivered is a reported order that a courier of provider brings.
func (s *shop) delivered(external string) commerce.Order {
	s.T.Helper()
	in := reported(external)
	in.Fulfillment, in.Address = commerce.ByDelivery, at(commerce.ByDelivery)
	if _, err := s.ReportOrder(context.Background(), caller(commerce.Live), in, once[commerce.Order](s, external)); err != nil {
		s.T.Fatal(err)
	}
	key, err := s.Reader.ExternalOrder(context.Background(), commerce.ExternalKey{PartnerID: fixture.PartnerID, Mode: commerce.Live, ExternalID: external})
	if err != nil {
		s.T.Fatal(err)
	}
	return s.Order(key)
}

// TestKeys: a key is shown once and stored as its hash. A new key takes the place of
// the one of its mode. An id, a key and a secret are drawn for each call.
func TestKeys(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx := t.Context()
		holder := func(key string) string {
			p, k, err := s.Reader.KeyHolder(ctx, commerce.HashKey(key))
			if err != nil || k.State(commerce.MillisOf(time.Now())) != commerce.KeyActive {
				return "none"
			}
			return p.ID + " " + string(k.Mode)
		}
		made, err := s.CreatePartner(ctx, operator, commerce.Partner{ID: "chosen", Name: "Q", Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: 1}, nil, "")
		second, again := s.CreatePartner(ctx, operator, commerce.Partner{Name: "Q", Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: 1}, nil, "")
		if err != nil || again != nil {
			t.Fatal(err, again)
		}
		id := made.Partner.ID
		if id == "chosen" || id == second.Partner.ID || made.Keys[commerce.Live] == second.Keys[commerce.Live] {
			t.Errorf("made %+v, then %+v", made, second)
		}
		for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
			if got := holder(made.Keys[mode]); got != id+" "+string(mode) {
				t.Errorf("the %s key is of %s", mode, got)
			}
		}
		_, old, err := s.Reader.KeyHolder(ctx, commerce.HashKey(made.Keys[commerce.Live]))
		if err != nil {
			t.Fatal(err)
		}
		rotated, err := s.RotateKey(ctx, operator, service.RotateKey{PartnerID: id, KeyID: old.ID})
		key := rotated.Value
		if err != nil || holder(key) != id+" live" || holder(made.Keys[commerce.Live]) != "none" || holder(made.Keys[commerce.Test]) != id+" test" {
			t.Errorf("after a rotation the keys are of %s, %s and %s; %v", holder(key), holder(made.Keys[commerce.Live]), holder(made.Keys[commerce.Test]), err)
		}
		for _, given := range []string{"", "", "a secret of theirs"} {
			before := s.partner()
			secret, e, err := s.RotateSecret(ctx, operator, service.RotateSecret{Owner: fixture.PartnerID, Secret: given})
			if err != nil || secret == before.CallbackSecret || s.partner().CallbackSecret != secret || e.PreviousSecret != before.CallbackSecret ||
				given != "" && secret != given || given == "" && len(secret) != len("whsec_")+44 {
				t.Errorf("given %q: %q, %+v, %v", given, secret, e, err)
			}
		}
	})
}

func (s *shop) partner() commerce.Partner {
	s.T.Helper()
	p, err := s.Reader.Partner(context.Background(), fixture.PartnerID)
	if err != nil {
		s.T.Fatal(err)
	}
	return p
}
