package sample

import "strings"

// methods are the methods of the SDKs by the ids of the operations: as Go names them. Those of
// TypeScript begin with a small letter.
var methods = map[string]string{
	"getHealth":             "Service.Health",
	"listStores":            "Stores.List",
	"findNearbyStores":      "Stores.Nearby",
	"listCategories":        "Categories.List",
	"listStoreCategories":   "Stores.Categories",
	"listProducts":          "Products.List",
	"getProduct":            "Products.Get",
	"checkAvailability":     "Products.Availability",
	"upsertProduct":         "Products.Upsert",
	"bulkUpsertProducts":    "Products.BulkUpsert",
	"adjustInventory":       "Inventory.Adjust",
	"quoteDelivery":         "Delivery.Quote",
	"preflightCheckout":     "Checkout.Preflight",
	"createCheckoutSession": "Checkout.Start",
	"reportOrder":           "Orders.Report",
	"listOrders":            "Orders.List",
	"getOrder":              "Orders.Get",
	"getOrderByExternalId":  "Orders.GetByExternalID",
	"pingOrder":             "Orders.Ping",
	"getDriverLocation":     "Orders.DriverLocation",
	"getOrderTracking":      "Orders.Tracking",
	"streamOrderTracking":   "Orders.Track",
	"getOrderTimeline":      "Orders.Timeline",
	"updateOrderMetadata":   "Orders.UpdateMetadata",
	"confirmOrder":          "Orders.Confirm",
	"markReadyForPickup":    "Orders.MarkReady",
	"markPickedUp":          "Orders.MarkPickedUp",
	"cancelOrder":           "Orders.Cancel",
	"refundOrder":           "Orders.Refund",
	"listEvents":            "Events.List",
	"getEvent":              "Events.Get",
	"listEventAttempts":     "Events.Attempts",
	"resendEvent":           "Events.Resend",
	"listEndpoints":         "Endpoints.List",
	"getEndpoint":           "Endpoints.Get",
	"makeEndpoint":          "Endpoints.Create",
	"changeEndpoint":        "Endpoints.Update",
	"rotateEndpointSecret":  "Endpoints.RotateSecret",
	"pauseEndpoint":         "Endpoints.Pause",
	"resumeEndpoint":        "Endpoints.Resume",
	"deleteEndpoint":        "Endpoints.Delete",
	"testEndpoint":          "Endpoints.Test",
	"replayEvents":          "Endpoints.Replay",
	"listEndpointAttempts":  "Endpoints.Attempts",
	"listKeys":              "Keys.List",
	"makeKey":               "Keys.Create",
	"rotateKey":             "Keys.Rotate",
	"revokeKey":             "Keys.Revoke",
	"listRequests":          "Requests.List",
	"getRequest":            "Requests.Get",
	"actInSandbox":          "Sandbox.Act",
	"triggerEvent":          "Sandbox.Trigger",
	"listFaults":            "Sandbox.Faults",
	"startCertification":    "Certify.Start",
	"getCertification":      "Certify.Get",
	"ackCertification":      "Certify.Ack",
	"makeFault":             "Sandbox.Fault",
	"clearFaults":           "Sandbox.ClearFaults",
}

// tsMethod returns a method as TypeScript names it.
func tsMethod(method string) string {
	service, name, _ := strings.Cut(method, ".")
	return small(service) + "." + small(name)
}

func small(name string) string { return strings.ToLower(name[:1]) + name[1:] }
