package commerce

// Obstacle is a reason why a cart cannot be sold now, as SPEC names it (Checkout and
// orders, preflight).
type Obstacle string

// The obstacles.
const (
	StoreInactive    Obstacle = "store_inactive"
	ItemUnavailable  Obstacle = "item_unavailable"
	OutOfReach       Obstacle = "out_of_radius"
	QuoteUnavailable Obstacle = "quote_unavailable"
	NoDelivery       Obstacle = "store_delivery_disabled"
	NoPickup         Obstacle = "store_pickup_disabled"
)

// Sale is a sale from a store, as far as it is known. The zero values of Short and Reach
// are no obstacles.
type Sale struct {
	Store       Store
	Fulfillment Fulfillment
	Short       bool  // some of the goods cannot be sold
	Reach       Reach // of a delivery
}

// Obstacles returns the reasons against the sale, in the order in which partners read them.
// It is the one place of this rule. Partner.MayUse decides on the stores of a partner, and
// Stock.Sell on the goods.
func (s Sale) Obstacles() []Obstacle {
	list := []Obstacle{}
	if !s.Store.Active {
		list = append(list, StoreInactive)
	}
	if s.Short {
		list = append(list, ItemUnavailable)
	}
	if s.Reach.Beyond {
		list = append(list, OutOfReach)
	}
	switch {
	case s.Fulfillment == ByDelivery && !s.Store.DeliveryEnabled:
		list = append(list, NoDelivery)
	case s.Fulfillment == ByPickup && !s.Store.PickupEnabled:
		list = append(list, NoPickup)
	}
	return list
}
