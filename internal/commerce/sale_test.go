package commerce

import (
	"slices"
	"testing"
)

func TestSaleObstacles(t *testing.T) {
	open := Store{Active: true, PickupEnabled: true, DeliveryEnabled: true}
	pickupOnly, deliveryOnly, closed := open, open, Store{}
	pickupOnly.DeliveryEnabled, deliveryOnly.PickupEnabled = false, false
	far := Reach{Beyond: true}
	for _, c := range []struct {
		sale Sale
		want []Obstacle
	}{
		{Sale{Store: open, Fulfillment: ByPickup}, nil},
		{Sale{Store: open, Fulfillment: ByDelivery}, nil},
		{Sale{Store: pickupOnly, Fulfillment: ByPickup}, nil},
		{Sale{Store: pickupOnly, Fulfillment: ByDelivery}, []Obstacle{NoDelivery}},
		{Sale{Store: deliveryOnly, Fulfillment: ByPickup}, []Obstacle{NoPickup}},
		{Sale{Store: deliveryOnly, Fulfillment: ByDelivery, Reach: far}, []Obstacle{OutOfReach}},
		{Sale{Store: open, Fulfillment: ByPickup, Short: true}, []Obstacle{ItemUnavailable}},
		{Sale{Store: closed, Fulfillment: ByDelivery, Short: true, Reach: far}, []Obstacle{StoreInactive, ItemUnavailable, OutOfReach, NoDelivery}},
		{Sale{Store: closed, Fulfillment: ByPickup, Short: true}, []Obstacle{StoreInactive, ItemUnavailable, NoPickup}},
	} {
		got := c.sale.Obstacles()
		if got == nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.sale, got, c.want)
		}
	}
}
