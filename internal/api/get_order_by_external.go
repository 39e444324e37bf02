package api

// getOrderByExternal reads an order by the partner's own id.
func (a *API) getOrderByExternal(r *request) (reply, error) {
	order, err := a.service.FindOrderByExternal(r.Context(), r.caller(), r.param("external_order_id"))
	if err != nil {
		return reply{}, err
	}
	return a.getOrder(r, order)
}
