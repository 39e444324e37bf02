package api

// getOrderByExternal reads an order by the partner's own id.
func (a *API) getOrderByExternal(r *request) (reply, error) {
	order, err := a.service.FindOrderByExternal(r.Context(), r.caller(), r.param("external_order_id"))
	if err != nil {
		return reply{}, err
	}
	r.seen.aboutOrder(order.ID)
	r.seen.aboutStore(order.StoreID)
	return a.getOrder(r, order)
}
