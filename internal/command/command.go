// Package command holds the verbs: one file for each change of state. A
// command names the rows it needs and is decided over them in pure Go; package
// commit loads the rows before and saves the changes after. Ids of what a
// command makes are drawn by its caller, and facts that never change (an
// order's lines, a product's store) are handed in.
package command

import "purveyor/internal/commerce"

// OrderFacts are the facts of an order that never change. The caller reads them before it
// makes the command, so that the command can name all of its needs.
type OrderFacts struct {
	Key         commerce.OrderKey
	PartnerID   string // empty: made by the merchant
	Fulfillment commerce.Fulfillment
	Lines       []commerce.OrderLine
}

// FactsOf returns the facts of an order.
func FactsOf(o commerce.Order) OrderFacts {
	return OrderFacts{o.Key(), o.PartnerID, o.Fulfillment, o.Lines}
}

// needs names the order and its partner, and the stock and attention rows that these
// transitions may change.
func (f OrderFacts) needs(triggers ...commerce.Trigger) commerce.Needs {
	n := commerce.Needs{Orders: []commerce.OrderKey{f.Key}}
	if f.PartnerID != "" {
		n.Partners = []string{f.PartnerID}
	}
	for _, t := range triggers {
		if commerce.TransitionOf(t).Stock != commerce.KeepsStock {
			n.Stock = commerce.ProductKeys(f.Key.StoreID, f.Lines)
		}
		f.needAttention(&n, commerce.ResolvedBy(t)...)
	}
	return n
}

// delivery names the order's delivery. A pickup order has none.
func (f OrderFacts) delivery() []commerce.OrderKey {
	if f.Fulfillment != commerce.ByDelivery {
		return nil
	}
	return []commerce.OrderKey{f.Key}
}

// refundKey is the key of a refund of the order.
func (f OrderFacts) refundKey(id string) commerce.RefundKey {
	return commerce.RefundKey{StoreID: f.Key.StoreID, RefundID: id}
}

// access refuses the order's partner if it may no longer use the store.
func (f OrderFacts) access(rows *commerce.Rows) error {
	if f.PartnerID == "" {
		return nil
	}
	partner, _ := rows.Partners.Get(f.PartnerID)
	return partner.MayUse(f.Key.StoreID)
}

func (f OrderFacts) load(rows *commerce.Rows) (commerce.Order, error) {
	o, ok := rows.Orders.Get(f.Key)
	if !ok {
		return o, commerce.NotFound("order")
	}
	return o, nil
}

// loadWith loads an order and its row of another table.
func loadWith[V any](f OrderFacts, rows *commerce.Rows, table *commerce.Table[commerce.OrderKey, V], noun string) (o commerce.Order, v V, err error) {
	if o, err = f.load(rows); err != nil {
		return o, v, err
	}
	v, ok := table.Get(f.Key)
	if !ok {
		err = commerce.NotFound(noun)
	}
	return o, v, err
}
