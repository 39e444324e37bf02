package backoffice

import "purveyor/internal/commerce"

// orderRoutes are the pages of orders.
var orderRoutes = []route{
	{method: get, path: Prefix + "/orders/{id}", may: commerce.MayReadOrders, handle: ofOrder((*visit).order)},
}

// order shows one order.
func (v *visit) order(o commerce.Order) error { return v.page("order", "Order "+short(o.ID), o) }
