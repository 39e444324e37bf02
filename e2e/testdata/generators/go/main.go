// The program lists, reports, follows and verifies with what oapi-codegen makes of
// openapi.yaml.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"example/purveyor"
)

func main() {
	ctx, order := context.Background(), os.Getenv("ORDER")
	client, err := purveyor.NewClientWithResponses(os.Getenv("BASE_URL"), purveyor.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("x-api-key", os.Getenv("API_KEY"))
		return nil
	}))
	must(err)
	pushed := make(chan purveyor.OrderAcceptedEvent, 10)
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	must(err)
	go func() { must(http.Serve(listener, receiver{order, pushed})) }()

	stores, err := client.ListStoresWithResponse(ctx, nil)
	must(err)
	store := stores.JSON200.Stores[0]
	products := allProducts(ctx, client, store.Id)
	report := func(quantity int64) *purveyor.ReportOrderResponse {
		pickup := purveyor.FulfillmentType("pickup")
		answer, err := client.ReportOrderWithResponse(ctx, &purveyor.ReportOrderParams{IdempotencyKey: order}, purveyor.ReportRequest{
			ExternalOrderId: order, StoreId: store.Id, FulfillmentType: &pickup,
			Items: []purveyor.ReportLine{{ProductId: products[0].Id, Quantity: quantity, Price: products[0].Price}}})
		must(err)
		return answer
	}
	if refused := report(products[0].AvailableQuantity + 1); refused.JSON409 == nil || refused.JSON409.Code != "insufficient_stock" {
		log.Fatalf("not refused: %s", refused.Body)
	}
	reported := report(2)
	if reported.JSON201 == nil {
		log.Fatalf("not reported: %s", reported.Body)
	}
	listed := follow(ctx, client, order)
	if event := <-pushed; event.Id != listed.Id || event.OrderId != reported.JSON201.OrderId {
		log.Fatalf("another event: %+v", event)
	}
	fmt.Println(stores.JSON200.Count, len(products), reported.JSON201.OrderId)
}

func allProducts(ctx context.Context, client *purveyor.ClientWithResponses, storeID string) (all []purveyor.Product) {
	limit := int64(2)
	for params := (&purveyor.ListProductsParams{StoreId: &storeID, Limit: &limit}); ; {
		page, err := client.ListProductsWithResponse(ctx, params)
		must(err)
		all = append(all, page.JSON200.Products...)
		if params.Cursor = page.JSON200.NextCursor; params.Cursor == nil {
			return all
		}
	}
}

func follow(ctx context.Context, client *purveyor.ClientWithResponses, order string) purveyor.OrderAcceptedEvent {
	for params := (&purveyor.ListEventsParams{}); ; {
		page, err := client.ListEventsWithResponse(ctx, params)
		must(err)
		for _, e := range page.JSON200.Events {
			if event, is := accepted(e, order); is {
				return event
			}
		}
		params.Cursor = page.JSON200.NextCursor
	}
}

// accepted returns the event if it tells that the order was reported.
func accepted(e purveyor.WebhookEvent, order string) (purveyor.OrderAcceptedEvent, bool) {
	if kind, err := e.Discriminator(); err != nil || kind != "order.accepted" {
		return purveyor.OrderAcceptedEvent{}, false
	}
	event, err := e.AsOrderAcceptedEvent()
	must(err)
	id := event.Data.Order.ExternalOrderId
	return event, id != nil && *id == order
}

type receiver struct {
	order string
	take  chan<- purveyor.OrderAcceptedEvent
}

func (s receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	must(err)
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("SECRET"), "whsec_"))
	must(err)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if !hmac.Equal([]byte(r.Header.Get("webhook-signature")), []byte(want)) {
		log.Fatal("the signature does not verify")
	}
	var e purveyor.WebhookEvent
	must(json.Unmarshal(body, &e))
	if event, is := accepted(e, s.order); is {
		s.take <- event
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
