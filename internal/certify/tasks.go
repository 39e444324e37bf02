package certify

import "fmt"

// report asks for the report of an order that was paid elsewhere.
func report(n int) func(Run) Task {
	return func(r Run) Task {
		number := r.number(n)
		return Task{ID: r.short() + "-report-" + fmt.Sprint(n), Do: "report", Order: number, Text: "Report order " + number + ", which was paid on your side.",
			Body: &Body{ExternalOrderID: number, StoreID: r.Goods.StoreID, Fulfillment: "pickup", Items: r.Goods.Items}}
	}
}

// reportDelivery asks for the report of an order that a courier brings.
func reportDelivery(n int) func(Run) Task {
	return func(r Run) Task {
		t := report(n)(r)
		t.Text = "Report order " + t.Order + ", which was paid on your side and is to be delivered."
		t.Body.StoreID, t.Body.Items, t.Body.Fulfillment, t.Body.Address = r.Goods.DeliveryStore, r.Goods.DeliveryItems, "delivery", r.Goods.Address
		return t
	}
}

// checkout asks for a page on which the customer pays.
func checkout(n int) func(Run) Task {
	return func(r Run) Task {
		number := r.number(n)
		items := make([]Item, len(r.Goods.Items))
		for i, item := range r.Goods.Items {
			items[i] = Item{ProductID: item.ProductID, Quantity: item.Quantity}
		}
		return Task{ID: r.short() + "-checkout-" + fmt.Sprint(n), Do: "checkout", Order: number, Text: "Start a checkout for order " + number + ". The customer pays soon after; then confirm it.",
			Body: &Body{StoreID: r.Goods.StoreID, Fulfillment: "pickup", Items: items, SuccessURL: "https://example.com/thanks", CancelURL: "https://example.com/cart"}}
	}
}

func cancel(n int) func(Run) Task {
	return func(r Run) Task {
		number := r.number(n)
		return Task{ID: r.short() + "-cancel-" + fmt.Sprint(n), Do: "cancel", Order: number, Text: "Cancel order " + number + "."}
	}
}

// refund asks for a part of an order's money, which is given back once.
func refund(n int) func(Run) Task {
	return func(r Run) Task {
		number, cents := r.number(n), r.refundCents()
		return Task{ID: r.short() + "-refund-" + fmt.Sprint(n), Do: "refund", Order: number, Text: fmt.Sprintf("Refund %d cents of order %s.", cents, number),
			Body: &Body{AmountCents: cents}}
	}
}

// refundCents is about half of what the first piece costs.
func (r Run) refundCents() int64 { return (r.Goods.Items[0].Price + 1) / 2 }

func sync(name, text string) func(Run) Task {
	return func(r Run) Task { return Task{ID: r.short() + "-sync-" + name, Do: "sync", Text: text} }
}

// ack asks what the books have. Each has an id of its own: it is asked again until they have all.
func (r Run) ack() Task {
	return Task{ID: fmt.Sprintf("%s-ack-%d-%d", r.short(), r.Stage, r.AckNo), Do: "ack", Body: &Body{RunID: r.ID},
		Text: "Tell which events your books have, each as often as they have it, and the status of each order: POST /v1/certify/ack."}
}
