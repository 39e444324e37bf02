package scenario

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// seedOrder stores an order in a status that no endpoint reaches:
//
//	order a paid pickup 2*prd_loaf [of=other] [store=sto_south] [mode=test] [ext=web-1] [deducted] [confirmed] [courier]
//
// The stock is left alone: what the catalog has is what is left after it.
func (w *world) seedOrder(t *testing.T, words []string) string {
	t.Helper()
	o, err := orderOf(words, commerce.MillisOf(w.clock.Now()))
	if err != nil {
		t.Fatal(err)
	}
	store, err := w.engine.Reader().Store(context.Background(), o.StoreID)
	if err != nil {
		t.Fatal(err)
	}
	o.ID = commerce.NewOrderID(store.No, o.CreatedOn, commerce.Entropy([]byte(fmt.Sprintf("%-10.10s", words[0]))))
	external := commerce.ExternalRef{ExternalKey: commerce.ExternalKey{PartnerID: o.PartnerID, Mode: o.Mode, ExternalID: o.ExternalID}, Order: o.Key()}
	needs, changes := commerce.Needs{Orders: []commerce.OrderKey{o.Key()}}, commerce.Changes{Orders: []commerce.Order{o}}
	if o.ExternalID != "" {
		needs.External = []commerce.ExternalKey{external.ExternalKey}
		changes.External = []commerce.ExternalRef{external}
	}
	w.store(t, needs, changes)
	return o.ID
}

func orderOf(words []string, now commerce.Millis) (o commerce.Order, err error) {
	if len(words) < 4 {
		return o, fmt.Errorf("an order needs a name, a status, a way and lines: %v", words)
	}
	o = commerce.Order{StoreID: "sto_north", PartnerID: partnerID("live"), Mode: commerce.Live, Source: commerce.SourcePartner,
		CustomerID: "cus_seeded", Status: commerce.OrderStatus(words[1]), Fulfillment: commerce.Fulfillment(words[2]),
		CreatedOn: now, UpdatedOn: now}
	for _, text := range strings.Split(words[3], "+") {
		quantity, product, _ := strings.Cut(text, "*")
		n, err := strconv.ParseInt(quantity, 10, 64)
		if err != nil {
			return o, err
		}
		o.Lines = append(o.Lines, commerce.OrderLine{ProductID: product, Quantity: n, PriceCents: 500})
		o.SubtotalCents += commerce.Cents(500 * n)
	}
	o.TotalCents = o.SubtotalCents
	for _, word := range words[4:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "of":
			o.PartnerID = partnerID(value)
		case "store":
			o.StoreID = value
		case "mode":
			o.Mode = commerce.Mode(value)
		case "ext":
			o.ExternalID = value
		case "deducted":
			o.InventoryDeducted = true
		case "confirmed":
			o.Confirmed = true
		case "native":
			o.PartnerID, o.Source = "", "service"
		case "courier":
			o.CourierDeliveryID, o.CourierTrackingURL, o.CourierQuoteID = "del_1", "https://courier.example.com/t/1", "quo_1"
		default:
			return o, fmt.Errorf("order: %q is not known", word)
		}
	}
	if o.Fulfillment == commerce.ByDelivery {
		o.Address = &commerce.DeliveryAddress{Name: "Ann Lee", Address: commerce.Address{
			Line1: "2 Elm St", City: "Albany", State: "NY", PostalCode: "12208", Country: "US"}}
	}
	return o, nil
}
