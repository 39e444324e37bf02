package storagetest

import (
	"context"
	"reflect"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// sampleDelivery is that of the order of sample, with every field set.
func sampleDelivery() commerce.Delivery {
	return commerce.Delivery{StoreID: "sto_1", OrderID: "ord_1", Attempt: 2, State: commerce.DeliveryActive, Provider: "uber", AskedOn: 50, ProviderID: "del_1",
		QuoteID: "dqt_1", FeeCents: 599, Avoid: "doordash", TrackingURL: "https://t.example/1", Status: commerce.CourierEnRoute, PickupETA: 51, DropoffETA: 52,
		Courier:  commerce.Courier{Name: "Ünï", Phone: "+15125550111", Vehicle: "bicycle", ImageURL: "https://t.example/1.png", At: &commerce.Point{Lat: 30.25, Lng: -97.5}},
		Imminent: true, SeenOn: 53, HeardOn: 54, ToldOn: 55, Untold: true, CalledOff: true, Replacing: true,
		TraceID: "t", Error: "e", CreatedOn: 56, ReadyAt: 59, UpdatedOn: 57, Changes: 58}
}

// changeDelivery changes every field that can change.
func changeDelivery(d *commerce.Delivery, p *commerce.GeocodedAddress) {
	*d = commerce.Delivery{StoreID: d.StoreID, OrderID: d.OrderID, Attempt: 3, State: commerce.DeliveryOver, Status: commerce.CourierDone, UpdatedOn: 157, Changes: 158,
		TraceID: d.TraceID, CreatedOn: d.CreatedOn, ReadyAt: d.ReadyAt}
	p.At, p.Precision, p.Source, p.FoundOn = commerce.Point{Lat: -1.5, Lng: 179.5}, "zip", "offline", 160
}

func sampleCallbacks() []commerce.StrayCallback {
	return []commerce.StrayCallback{{Provider: "uber", DeliveryID: "del_0", ID: "cno_1", Body: `{"ünï": 1}`, ReceivedOn: 59},
		{Provider: "uber", DeliveryID: "del_0", ID: "cno_2", ReceivedOn: 60}}
}

func samplePlace() commerce.GeocodedAddress {
	return commerce.GeocodedAddress{Address: "00ff", At: commerce.Point{Lat: 37.75, Lng: -122.25}, Precision: "rooftop", Source: "census", FoundOn: 60}
}

// wantDeliveries reads the delivery of sample, and what else is known of places
// and couriers.
func wantDeliveries(t *testing.T, r storage.Reader, c commerce.Changes) {
	t.Helper()
	ctx := context.Background()
	delivery, err := r.Delivery(ctx, c.Deliveries[0].Key())
	if err != nil || !reflect.DeepEqual(delivery, c.Deliveries[0]) {
		t.Errorf("delivery:\n got %+v, %v\nwant %+v", delivery, err, c.Deliveries[0])
	}
	place, err := r.GeocodedAddress(ctx, c.Places[0].Address)
	if err != nil || place != c.Places[0] {
		t.Errorf("place:\n got %+v, %v\nwant %+v", place, err, c.Places[0])
	}
	callbacks, err := r.StrayCallbacks(ctx, "del_0")
	if err != nil || !reflect.DeepEqual(callbacks, c.StrayCallbacks) {
		t.Errorf("callbacks:\n got %+v, %v\nwant %+v", callbacks, err, c.StrayCallbacks)
	}
	if callbacks, err := r.StrayCallbacks(ctx, "del_1"); err != nil || len(callbacks) > 0 {
		t.Errorf("callbacks of another delivery: %+v, %v", callbacks, err)
	}
}
