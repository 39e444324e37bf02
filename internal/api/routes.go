package api

import (
	"net/http"

	"purveyor/internal/commerce"
)

// Route is one endpoint: the scopes that a key needs for it, and its handler.
type Route struct {
	Method, Path string
	Scopes       []commerce.Scope
	handler      handler
}

// Routes is the only list of the routes of the API.
var Routes = []Route{
	{get, "/v1/health", nil, (*API).health},

	{get, "/v1/stores", needs(commerce.ReadStores), (*API).listStores},
	{post, "/v1/stores/nearby", needs(commerce.ReadStores), (*API).nearbyStores},
	{get, "/v1/stores/{store_id}/categories", needs(commerce.ReadCategories), (*API).listStoreCategories},
	{get, "/v1/categories", needs(commerce.ReadCategories), (*API).listCategories},

	{get, "/v1/products", needs(commerce.ReadProducts), (*API).listProducts},
	{get, "/v1/products/{product_id}", needs(commerce.ReadProducts), (*API).getProduct},
	{post, "/v1/products/availability", needs(commerce.ReadProducts), (*API).checkAvailability},
	{post, "/v1/products/upsert", needs(commerce.WriteProducts), upsertProduct},
	{post, "/v1/inventory/adjustments", needs(commerce.WriteInventory), adjustInventory},

	{post, "/v1/delivery/quote", nil, withOneOf(quoteDelivery, commerce.ReadDelivery, commerce.WriteOrders)},
	{post, "/v1/checkout/preflight", needs(commerce.ReadStores, commerce.ReadProducts), preflight},
	{post, "/v1/checkout/session", needs(commerce.WriteOrders), startCheckout},
	{post, "/v1/orders/report", needs(commerce.WriteOrders), reportOrder},
	{get, "/v1/orders/by-external/{external_order_id}", needs(commerce.ReadOrders), (*API).getOrderByExternal},
	{get, "/v1/orders/{order_id}", needs(commerce.ReadOrders), ofOrder((*API).getOrder)},
	{get, "/v1/orders/{order_id}/ping", needs(commerce.ReadOrders), ofOrder((*API).pingOrder)},
	{get, "/v1/orders/{order_id}/driver-location", needs(commerce.ReadDelivery), ofOrder((*API).driverLocation)},
	{get, "/v1/orders/{order_id}/tracking", needs(commerce.ReadOrders), ofOrder((*API).trackOrder)},
	{get, "/v1/orders/{order_id}/tracking/stream", needs(commerce.ReadOrders), ofOrder((*API).trackingStream)},
	{get, "/v1/orders/{order_id}/timeline", needs(commerce.ReadOrders), (*API).orderTimeline},
	{post, "/v1/orders/{order_id}/confirm", needs(commerce.WriteOrders), ofOrder((*API).confirmOrder)},
	{post, "/v1/orders/{order_id}/ready-for-pickup", needs(commerce.WriteOrders), markReady},
	{post, "/v1/orders/{order_id}/picked-up", needs(commerce.WriteOrders), markPickedUp},
	{post, "/v1/orders/{order_id}/cancel", needs(commerce.WriteOrders), cancelOrder},
	{post, "/v1/orders/{order_id}/refund", needs(commerce.WriteOrders), refundOrder},

	{get, "/v1/events", needs(commerce.ReadOrders), (*API).listEvents},
}

const (
	get  = http.MethodGet
	post = http.MethodPost
)

func needs(scopes ...commerce.Scope) []commerce.Scope { return scopes }
