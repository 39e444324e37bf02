// Package purveyor is a client of the Purveyor Partner API. It needs the standard library
// alone.
//
//	client, err := purveyor.New("https://shop.example.com", "sk_test_...", purveyor.Options{})
//	reply, err := client.Orders.Report(ctx, purveyor.ReportRequest{...}, purveyor.WithIdempotencyKey("order-4711"))
//
// Calls are repeated where that is safe, and fail with an *Error. Types come from the API
// document: optional fields are pointers unless their zero value says that they are absent,
// and members that a type has no field for are kept in Extra.
package purveyor

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Version is the version of the SDK.
const Version = "1.0.0"

// Options of a client; each zero value is a default.
type Options struct {
	HTTPClient   *http.Client  // redirects are not followed, whatever it says
	Tries        int           // of a call that may be repeated; 3
	TryTimeout   time.Duration // of one try; 30 s
	TotalTimeout time.Duration // of all tries, with the waits between them; 90 s
	UserAgent    string        // put before that of the SDK

	// Sleep waits between tries, and for the next look of Follow and Track. Tests replace it.
	Sleep func(context.Context, time.Duration) error
}

// Client calls the API with one key. It is safe for concurrent use.
type Client struct {
	base    string
	key     string
	http    *http.Client
	options Options
	random  func() float64 // from 0 to 1
	services
}

// services are the operations, by subject.
type services struct {
	Service    *ServiceService
	Stores     *StoresService
	Categories *CategoriesService
	Products   *ProductsService
	Inventory  *InventoryService
	Checkout   *CheckoutService
	Orders     *OrdersService
	Delivery   *DeliveryService
	Events     *EventsService
	Endpoints  *EndpointsService
	Keys       *KeysService
	Requests   *RequestsService
	Sandbox    *SandboxService
	Certify    *CertifyService
}

// New makes a client of the service at a base URL such as "https://shop.example.com".
func New(baseURL, key string, o Options) (*Client, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, invalid("the base URL must be http or https, as https://shop.example.com")
	}
	if key == "" || strings.ContainsAny(key, "\r\n ") {
		return nil, invalid("the API key is missing, or has white space")
	}
	c := &Client{base: strings.TrimRight(baseURL, "/"), key: key, http: newHTTPClient(o.HTTPClient), options: o, random: rand.Float64}
	if c.options.Tries <= 0 {
		c.options.Tries = 3
	}
	if c.options.TryTimeout <= 0 {
		c.options.TryTimeout = 30 * time.Second
	}
	if c.options.TotalTimeout <= 0 {
		c.options.TotalTimeout = 90 * time.Second
	}
	if c.options.Sleep == nil {
		c.options.Sleep = sleep
	}
	c.options.UserAgent = strings.TrimSpace(o.UserAgent + " purveyor-go/" + Version)
	c.services = services{&ServiceService{c}, &StoresService{c}, &CategoriesService{c}, &ProductsService{c}, &InventoryService{c},
		&CheckoutService{c}, &OrdersService{c}, &DeliveryService{c}, &EventsService{c}, &EndpointsService{c}, &KeysService{c}, &RequestsService{c}, &SandboxService{c}, &CertifyService{c}}
	return c, nil
}

// newHTTPClient returns a client that does not follow redirects: they could lead the key
// elsewhere.
func newHTTPClient(given *http.Client) *http.Client {
	var c http.Client
	if given != nil {
		c = *given
	} else {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 32
		c.Transport = transport
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
