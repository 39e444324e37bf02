package commerce

import "slices"

// Owners are the ids of the owners of the rows that the command may change, each once. An
// owner is a store, a partner, or a single row that belongs to neither. Two commands
// without a common owner never wait for the same row.
func (n Needs) Owners() (owners []string) {
	add := func(id string) {
		if !slices.Contains(owners, id) {
			owners = append(owners, id)
		}
	}
	for _, keys := range [][]ProductKey{n.Products, n.Stock} {
		for _, k := range keys {
			add(k.StoreID)
		}
	}
	for _, keys := range [][]OrderKey{n.Orders, n.NewOrders, n.Payments, n.Deliveries} {
		for _, k := range keys {
			add(k.StoreID)
		}
	}
	for _, k := range n.Refunds {
		add(k.StoreID)
	}
	for _, k := range n.Customers {
		add(k.StoreID)
	}
	for _, k := range n.Mails {
		add(k.Owner)
	}
	for _, k := range n.OpenReplies {
		add(k.PartnerID)
	}
	for _, k := range slices.Concat(n.Jobs, n.EndedJobs) {
		add(k.ID)
	}
	for _, ids := range [][]string{n.Endpoints, n.Places, n.Sandbox} {
		for _, id := range ids {
			add(id)
		}
	}
	if n.Lock {
		for _, ids := range [][]string{n.Partners, n.Stores, n.Categories} {
			for _, id := range ids {
				add(id)
			}
		}
	}
	return owners
}
