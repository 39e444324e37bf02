package command

import (
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// TestReadyInMinutes: the time counts from the confirmation, which may say another number than
// the checkout.
func TestReadyInMinutes(t *testing.T) {
	for name, c := range map[string]struct {
		checkout, confirm *int64
		want              commerce.Millis // after the confirmation
	}{
		"not said":        {nil, nil, -1},
		"by the checkout": {new(int64(20)), nil, 20},
		"when confirmed":  {nil, new(int64(5)), 5},
		"changed":         {new(int64(20)), new(int64(1440)), 1440},
		"ready after all": {new(int64(20)), new(int64(0)), 0},
	} {
		o := orderIn(commerce.Paid, commerce.ByDelivery, false)
		o.ReadyInMinutes = c.checkout
		cmd := ConfirmOrder{Facts: FactsOf(o), Actor: byPartner, ReadyInMinutes: c.confirm}
		_, changes, err := decided(cmd, stored(o, 5), now)
		if err != nil || len(changes.Deliveries) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, changes.Deliveries)
		}
		order, ready := changes.Orders[0], changes.Deliveries[0].ReadyAt
		if c.want < 0 {
			if ready != 0 || order.ReadyInMinutes != nil {
				t.Errorf("%s: %d, %v", name, ready, order.ReadyInMinutes)
			}
			continue
		}
		if ready != now.Add(time.Duration(c.want)*time.Minute) || *order.ReadyInMinutes != int64(c.want) {
			t.Errorf("%s: %d, %d", name, ready-now, *order.ReadyInMinutes)
		}
	}
}
