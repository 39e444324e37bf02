package tracking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

const now = commerce.Millis(1_772_463_845_250)

var (
	addresses = commerce.TrackingPages{Secret: []byte("a secret of thirty-two characters")}
	storeAt   = commerce.Point{Lat: 42.6526, Lng: -73.7562}
	doorAt    = commerce.Place{Point: commerce.Point{Lat: 42.6611, Lng: -73.7811}, RadiusMiles: 0.3}
	courierAt = commerce.Point{Lat: 42.655, Lng: -73.77}
)

// followed is an order of a store in Albany that a courier called Ana Petrova brings.
func followed(status commerce.OrderStatus, way commerce.Fulfillment, courier commerce.CourierStatus) service.Followed {
	miles := 5.0
	f := service.Followed{Now: now, Store: commerce.Store{ID: "sto_1", Name: "Harbor Street Market", Address: "1 Main St", City: "Albany", State: "NY", ZipCode: "12207",
		Phone: "+1 518 555 0100", Lat: &storeAt.Lat, Lng: &storeAt.Lng, RadiusMiles: &miles}}
	f.Order = commerce.Order{StoreID: "sto_1", ID: commerce.NewOrderID(7, now, commerce.Entropy{1, 2, 3}), Mode: commerce.Live, Status: status, Fulfillment: way,
		CustomerEmail: "ann@e.example", PickupInstructions: "Ask for Ann", DropoffInstructions: "Ring twice", ExternalID: "web-1", RequestedFrom: commerce.Delivered,
		Address: &commerce.DeliveryAddress{Name: "Ann Lee", Email: "ann@e.example", Phone: "+15185550177", Address: commerce.Address{Line1: "20 Oak St", Line2: "Door 4", City: "Troy", State: "NY", PostalCode: "12180", Country: "US"}}}
	if way == commerce.ByDelivery && courier != "" {
		f.Door = &doorAt
		f.Delivery = commerce.Delivery{Attempt: 1, State: commerce.DeliveryActive, ProviderID: "del_1", Status: courier, DropoffETA: now + 12*60_000,
			Courier: commerce.Courier{Name: "Ana Petrova", Phone: "+15185550199", Vehicle: "car", ImageURL: "https://c.example/ana.png", At: &courierAt}}
	}
	return f
}

// desk is the use case of tests.
type desk struct {
	f     service.Followed
	err   error
	asked []string
}

func (d *desk) FollowOrder(_ context.Context, id string, live bool) (service.Followed, error) {
	d.asked = append(d.asked, fmt.Sprint(id, " ", live))
	return d.f, d.err
}

// serve returns the handler as the process has it.
func (d *desk) serve() http.Handler {
	return web.Trace(env.Env{}, slog.New(slog.DiscardHandler), New(env.Env{}, d, addresses))
}

func get(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestWords: each status is told in plain words, with what the customer can do, and no page has
// anything that identifies the customer or the address.
func TestWords(t *testing.T) {
	secret := regexp.MustCompile(`Ann|Lee|Oak|Door 4|Troy|12180|ann@|0177|0199|Petrova|Ring|web-1|ana\.png|42\.6|73\.7|mile|sto_1|ord_|<script>`)
	with := func(f service.Followed, change func(*service.Followed)) service.Followed { change(&f); return f }
	for _, c := range []struct {
		name    string
		f       service.Followed
		heading string
		says    string
	}{
		{"unpaid", followed(commerce.PendingPayment, commerce.ByPickup, ""), "Waiting for your payment", "Pay on the page"},
		{"not paid", followed(commerce.FailedPayment, commerce.ByPickup, ""), "The payment did not go through", "Order again"},
		{"paid", followed(commerce.Paid, commerce.ByDelivery, ""), "Harbor Street Market has your order", "confirms it next"},
		{"made", followed(commerce.Processed, commerce.ByPickup, ""), "Harbor Street Market is preparing your order", "This page says when it is ready"},
		{"to be brought", followed(commerce.Processed, commerce.ByDelivery, ""), "Harbor Street Market is preparing your order", "A courier is being looked for"},
		{"given up", with(followed(commerce.Processed, commerce.ByDelivery, commerce.CourierCancelled), func(f *service.Followed) { f.Delivery.State = commerce.DeliveryOver }),
			"No courier was found", "Ask Harbor Street Market whether"},
		{"asked for", followed(commerce.Shipped, commerce.ByDelivery, commerce.CourierPending), "Harbor Street Market is preparing your order", "A courier is being looked for"},
		{"replaced", with(followed(commerce.Shipped, commerce.ByDelivery, commerce.CourierPending), func(f *service.Followed) { f.Delivery.Attempt = 2 }),
			"Another courier is being looked for", "The courier before"},
		{"found", followed(commerce.Shipped, commerce.ByDelivery, commerce.CourierAssigned), "Ana is on the way to Harbor Street Market", "Arrives in about 12 minutes"},
		{"at the store", with(followed(commerce.Shipped, commerce.ByDelivery, commerce.CourierAssigned), func(f *service.Followed) { f.Delivery.Imminent = true }),
			"Ana is about to reach Harbor Street Market", "Arrives in"},
		{"loaded", followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierLoaded), "Ana has picked up your order", `<figure class="map">`},
		{"on the way", followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierEnRoute), "Ana is on the way to you", `<figure class="map">`},
		{"near", with(followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierEnRoute), func(f *service.Followed) { f.Delivery.Imminent, f.Delivery.DropoffETA = true, now }),
			"Ana is almost there", "Please be at your door"},
		{"nameless", with(followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierEnRoute), func(f *service.Followed) {
			f.Delivery.Courier.Name, f.Store.Name, f.Delivery.DropoffETA = "", "", now+200*60_000
		}), "Your courier is on the way to you", "Arrives in about 3 hours"},
		{"going back", followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierReturning), "Your order goes back to Harbor Street Market", "bring it again"},
		{"back", followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierReturned), "Your order is back at Harbor Street Market", "for your money back"},
		{"delivered", followed(commerce.Delivered, commerce.ByDelivery, commerce.CourierDone), "Delivered", "Enjoy!"},
		{"ready", followed(commerce.ReadyForPickup, commerce.ByPickup, ""), "Your order is ready", "say that you pick up order 0000"},
		{"picked up", followed(commerce.PickedUp, commerce.ByPickup, ""), "Picked up", "Enjoy!"},
		{"refund", followed(commerce.RefundRequested, commerce.ByDelivery, commerce.CourierDone), "A refund was asked for", "decides about it"},
		{"cancelled", followed(commerce.Cancelled, commerce.ByPickup, ""), "Your order was cancelled", "Ask Harbor Street Market"},
		{"cancelled and refunded", with(followed(commerce.Cancelled, commerce.ByPickup, ""), func(f *service.Followed) { f.Order.RefundedCents = 1 }), "Your order was cancelled", "Your money is on its way back"},
		{"refunded", followed(commerce.Refunded, commerce.ByPickup, ""), "Your order was refunded", "Your money is on its way back"},
	} {
		d := &desk{f: c.f}
		page := get(d.serve(), addresses.PageOf(c.f.Order.ID))
		text := page.Body.String()
		if page.Code != http.StatusOK || !strings.Contains(text, "<h1>"+c.heading+"</h1>") || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d, without %q and %q:\n%s", c.name, page.Code, c.heading, c.says, text)
		}
		if over := c.f.Order.Status.Terminal() || c.f.Order.Status == commerce.FailedPayment; strings.Contains(text, "<script src") == over || strings.Contains(text, "data-over") != over || strings.Contains(text, `content="30"`) == over {
			t.Errorf("%s: the page goes on asking, or does not:\n%s", c.name, text)
		}
		if found := secret.FindString(strings.ReplaceAll(text, "/track/files/", "")); found != "" {
			t.Errorf("%s: the page has %q:\n%s", c.name, found, text)
		}
		if strings.Contains(text, "Ana") && strings.Contains(text, "{") {
			t.Errorf("%s: a name is missing:\n%s", c.name, text)
		}
	}
}

// TestState: the state is a part of the page and has an ETag, the one that the page begins with.
// It asks the courier, and the page does not.
func TestState(t *testing.T) {
	d := &desk{f: followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierEnRoute)}
	h, path := d.serve(), addresses.PageOf(d.f.Order.ID)
	page := get(h, path).Body.String()
	state := get(h, path+"/state")
	tag := state.Header().Get("ETag")
	if state.Code != http.StatusOK || !strings.Contains(page, state.Body.String()) || !strings.Contains(page, `data-tag="`+strings.ReplaceAll(tag, `"`, "&#34;")+`"`) || len(tag) < 10 {
		t.Errorf("%d, %s:\n%s\n%s", state.Code, tag, state.Body, page)
	}
	if same := get(h, path+"/state", "If-None-Match", tag); same.Code != http.StatusNotModified || same.Body.Len() > 0 || same.Header().Get("ETag") != tag {
		t.Errorf("%d %s", same.Code, same.Body)
	}
	d.f.Delivery.Imminent = true
	if other := get(h, path+"/state", "If-None-Match", tag); other.Code != http.StatusOK || other.Header().Get("ETag") == tag {
		t.Errorf("%d %s", other.Code, other.Header())
	}
	if want := []string{d.f.Order.ID + " false", d.f.Order.ID + " true", d.f.Order.ID + " true", d.f.Order.ID + " true"}; strings.Join(d.asked, ",") != strings.Join(want, ",") {
		t.Error(d.asked)
	}
}

// TestRefusals: no order is looked for unless its token is right, and each answer has the headers
// that keep the address secret.
func TestRefusals(t *testing.T) {
	order := followed(commerce.Delivered, commerce.ByPickup, "")
	path := addresses.PageOf(order.Order.ID)
	other := addresses.PageOf(commerce.NewOrderID(7, now, commerce.Entropy{9}))
	for _, c := range []struct {
		name, method, path string
		f                  service.Followed
		err                error
		want               int
		asks               bool
	}{
		{"right", "GET", path, order, nil, 200, true},
		{"head", "HEAD", path, order, nil, 200, true},
		{"the token of another order", "GET", path[:len(path)-26] + other[len(other)-26:], order, nil, 404, false},
		{"another database", "GET", commerce.TrackingPages{Secret: []byte("other")}.PageOf(order.Order.ID), order, nil, 404, false},
		{"the id of the order", "GET", "/track/" + order.Order.ID, order, nil, 404, false},
		{"without a token", "GET", "/track/", order, nil, 404, false},
		{"another part", "GET", path + "/stat", order, nil, 404, false},
		{"upper case", "GET", strings.ToUpper(path[7:]), order, nil, 404, false},
		{"no such file", "GET", "/track/files/track.css", order, nil, 404, false},
		{"a form", "POST", path, order, nil, 405, false},
		{"never made", "GET", path, order, commerce.NotFound("order"), 404, true},
		{"long ago", "GET", path + "/state", service.Followed{Gone: true}, nil, 410, true},
		{"broken", "GET", path, order, errors.New("the database is away"), 503, true},
	} {
		d := &desk{f: c.f, err: c.err}
		w := httptest.NewRecorder()
		d.serve().ServeHTTP(w, httptest.NewRequest(c.method, "/"+strings.TrimPrefix(c.path, "/"), nil))
		if w.Code != c.want || len(d.asked) > 0 != c.asks || c.want >= 400 && !strings.Contains(w.Body.String(), "<h1>") || strings.Contains(w.Body.String(), "database") {
			t.Errorf("%s: %d, asked for %v:\n%s", c.name, w.Code, d.asked, w.Body)
		}
		for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow", "Cache-Control": "no-store", "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff"} {
			if w.Header().Get(name) != want {
				t.Errorf("%s: %s is %q", c.name, name, w.Header().Get(name))
			}
		}
	}
}

// TestLimit: an address gets 60 pages and states a minute. Files do not count.
func TestLimit(t *testing.T) {
	d := &desk{f: followed(commerce.Delivered, commerce.ByPickup, "")}
	h, path := d.serve(), addresses.PageOf(d.f.Order.ID)
	codes := map[int]int{}
	for range 70 {
		codes[get(h, path).Code]++
		codes[get(h, path+"/state").Code]++
		codes[get(h, "/track/x").Code]++
	}
	if codes[200] > 2*perMinute || codes[429] < 210-2*perMinute-60 || codes[200] < 30 { // a minute may begin meanwhile
		t.Error(codes)
	}
	if code := get(h, files.Path("track.css")).Code; code != http.StatusOK {
		t.Error(code)
	}
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = "203.0.113.9:1"
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusOK {
		t.Errorf("another address: %d", w.Code)
	}
}

// TestHostileNames: what stores and couriers are called is text.
func TestHostileNames(t *testing.T) {
	const attack = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>{courier}`
	f := followed(commerce.OutForDelivery, commerce.ByDelivery, commerce.CourierEnRoute)
	f.Store.Name, f.Store.Address, f.Store.Phone, f.Delivery.Courier.Name = attack, attack, "javascript:alert(1)", attack
	d := &desk{f: f}
	for _, path := range []string{"", "/state"} {
		text := get(d.serve(), addresses.PageOf(f.Order.ID)+path).Body.String()
		if strings.Contains(text, "<script>") || strings.Contains(text, "<img") || strings.Contains(text, `href="javascript`) || !strings.Contains(text, "&lt;script&gt;") {
			t.Error(text)
		}
	}
}
