package courier_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/couriertest"
)

func (x *town) get(t *testing.T, address string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	x.sandbox.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimPrefix(address, "https://shop.example"), nil))
	return w
}

// TestPageInWords follows deliveries on their pages and through the requests that the
// pages make.
func TestPageInWords(t *testing.T) {
	for tags, headings := range map[string][]string{
		"": {"Looking for a courier|The time of arrival is shown here once one is found.", "NAME is on the way to Harbor Street Market|Arrives in about 13 minutes",
			"NAME is about to reach Harbor Street Market|Arrives in about 11 minutes", "NAME has picked up your order|Arrives in about 8 minutes",
			"NAME is on the way to you|Arrives in about 7 minutes", "NAME is almost there|Arrives in a moment", "Delivered|Enjoy!"},
		"sandbox:cancel":       {"This delivery was cancelled|The courier could not come to the store."},
		"sandbox:cancel-later": {"This delivery was cancelled|The courier had an accident. Nobody was hurt."},
		"sandbox:return":       {"Your order goes back to Harbor Street Market|Nobody could take it at your door.", "Your order is back at Harbor Street Market|Nobody could take it at your door."},
	} {
		x := newTown(t, "https://shop.example")
		d := x.create(t, asks(tags))
		var said []string
		for more := true; more; more = x.step(t, d.ID) {
			now, err := x.sandbox.Get(t.Context(), courier.Key{ID: d.ID})
			check.OK(t, err)
			said = append(said, x.words(t, now))
		}
		for _, want := range headings {
			if !strings.Contains(strings.Join(said, "\n"), want) {
				t.Errorf("%q: the pages do not say %q, but\n%s", tags, want, strings.Join(said, "\n"))
			}
		}
	}
}

// words returns the text that the page and its state request both show.
func (x *town) words(t *testing.T, d courier.Delivery) string {
	t.Helper()
	page, state := x.get(t, d.TrackingURL), x.get(t, d.TrackingURL+"/state")
	var v struct {
		Heading, Detail, Title string
		Over                   bool
		X, Y                   json.Number
		Courier                *struct{ Name, Vehicle, Picture string }
	}
	check.OK(t, json.Unmarshal(state.Body.Bytes(), &v))
	html := page.Body.String()
	for _, text := range []string{v.Heading, v.Detail, "<title>" + v.Title + "</title>", "Test mode"} {
		if !strings.Contains(html, text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	if page.Code != http.StatusOK || v.Over != d.Status.Over() || strings.Contains(html, `http-equiv="refresh"`) == v.Over || strings.Contains(html, "<script>") == v.Over {
		t.Errorf("when %s the page is %d, and what it asks for %+v", d.Status, page.Code, v)
	}
	if (v.Courier == nil) != (d.Courier.At == nil) {
		t.Errorf("when %s the page has the courier %+v", d.Status, v.Courier)
	}
	if v.Courier == nil {
		return v.Heading + "|" + v.Detail
	}
	if v.Courier.Name != d.Courier.Name || "../"+strings.TrimPrefix(d.Courier.ImageURL, "https://shop.example/sandbox/") != v.Courier.Picture {
		t.Errorf("the courier is %+v, on the page %+v", d.Courier, v.Courier)
	}
	if !strings.Contains(html, `translate(`+v.X.String()+" "+v.Y.String()+`)`) {
		t.Errorf("on the page the courier is not at %s, %s", v.X, v.Y)
	}
	return strings.ReplaceAll(v.Heading, v.Courier.Name, "NAME") + "|" + v.Detail
}

// TestWhatToDoNext checks that a delivery that will not arrive stays where it came
// to, and that the page names the store to ask, with its number.
func TestWhatToDoNext(t *testing.T) {
	for tags, want := range map[string]struct {
		next     string
		progress int
	}{
		"":                     {"", 3},
		"sandbox:cancel":       {"Ask Harbor Street Market whether another one brings it.", 0},
		"sandbox:cancel-later": {"Ask Harbor Street Market whether another one brings it.", 2},
		"sandbox:return":       {"Ask Harbor Street Market to bring it again or to keep it for you, or for your money back.", 2},
	} {
		x := newTown(t, "https://shop.example")
		d := x.create(t, asks(tags))
		for x.step(t, d.ID) {
		}
		var v struct {
			Next     string
			Progress int
			Stopped  bool
		}
		check.OK(t, json.Unmarshal(x.get(t, d.TrackingURL+"/state").Body.Bytes(), &v))
		page := x.get(t, d.TrackingURL).Body.String()
		if !strings.HasSuffix(v.Next, want.next) || (v.Next == "") != (want.next == "") || v.Progress != want.progress || v.Stopped != (want.next != "") {
			t.Errorf("%q: %+v, want %+v", tags, v, want)
		}
		if strings.Contains(page, `class="progress stopped"`) != v.Stopped || strings.Contains(page, `role="status" hidden`) == v.Stopped || !strings.Contains(page, v.Next) ||
			!strings.Contains(page, `<a href="tel:&#43;14155550101">Call Harbor Street Market: &#43;14155550101</a>`) {
			t.Errorf("%q: the page is\n%s", tags, page)
		}
		if !strings.Contains(page, `<header class="test"><strong>Test mode</strong>`) {
			t.Error("the banner stands in no landmark")
		}
	}
	x := newTown(t, "https://shop.example")
	r := asks("sandbox:cancel")
	r.Pickup.Phone = "ask for Jo"
	if page := x.get(t, x.create(t, r).TrackingURL).Body.String(); strings.Contains(page, "tel:") {
		t.Error("a text that is no number can be called")
	}
}

// TestPageHidesThePlace checks that the public page does not show the customer's
// place.
func TestPageHidesThePlace(t *testing.T) {
	x := newTown(t, "https://shop.example")
	d := x.create(t, asks(""))
	for more := true; more; more = x.step(t, d.ID) {
		for _, w := range []*httptest.ResponseRecorder{x.get(t, d.TrackingURL), x.get(t, d.TrackingURL+"/state")} {
			for _, private := range []string{"Jo", "Doe", "555-0134", "5550134", "18th", "94110", "San Francisco", "Ferry", "37.79", "37.76", "122.39", "122.41", d.Ref, "ord_"} {
				if strings.Contains(w.Body.String(), private) {
					t.Errorf("it tells %s:\n%s", private, w.Body)
				}
			}
		}
	}
	object, err := x.objects.Object(t.Context(), d.ID)
	check.OK(t, err)
	for _, private := range []string{"Jo Doe", "555-0134", "5550134", "18th St"} {
		if strings.Contains(string(object.Data), private) {
			t.Errorf("stored is %s: %s", private, object.Data)
		}
	}
}

// TestUnknownPages checks that all unknown addresses get the same answer, which says
// nothing about existing ones.
func TestUnknownPages(t *testing.T) {
	x := newTown(t, "https://shop.example")
	d := x.create(t, asks(""))
	want := x.get(t, "/sandbox/track/del_test_0")
	if want.Code != http.StatusNotFound || strings.Contains(want.Body.String(), "Harbor") {
		t.Errorf("%d: %s", want.Code, want.Body)
	}
	for _, id := range []string{"secret", "del_test_", d.ID[:len(d.ID)-1], d.ID + "0", "%00", strings.ToUpper(d.ID), "del_test_" + strings.Repeat("0", 40)} {
		if w := x.get(t, "/sandbox/track/"+id); w.Code != http.StatusNotFound || w.Body.String() != want.Body.String() {
			t.Errorf("%s is another page, %d:\n%s", id, w.Code, w.Body)
		}
		if w := x.get(t, "/sandbox/track/"+id+"/state"); w.Code != http.StatusNotFound || w.Body.String() != `{"error":"There is no such delivery"}` {
			t.Errorf("%s has a state, %d:\n%s", id, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/sandbox/couriers/0.svg", "/sandbox/couriers/13.svg", "/sandbox/couriers/01.svg", "/sandbox/couriers/1", "/sandbox/couriers/1.png",
		"/sandbox/track/", "/sandbox/track/" + d.ID + "/", "/sandbox/track/" + d.ID + "/object"} {
		if w := x.get(t, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
	for method, status := range map[string]int{http.MethodPost: 405, http.MethodDelete: 405, http.MethodHead: 200} {
		w := httptest.NewRecorder()
		if x.sandbox.Handler().ServeHTTP(w, httptest.NewRequest(method, "/sandbox/track/"+d.ID, nil)); w.Code != status {
			t.Errorf("%s: status %d", method, w.Code)
		}
	}
}

// TestPageDuringAnOutage checks that the page shows nothing of the error.
func TestPageDuringAnOutage(t *testing.T) {
	x := newTown(t, "https://shop.example")
	d := x.create(t, asks(""))
	x.outage = couriertest.Unreachable
	for _, w := range []*httptest.ResponseRecorder{x.get(t, d.TrackingURL), x.get(t, d.TrackingURL+"/state")} {
		if text := w.Body.String(); w.Code != http.StatusServiceUnavailable || !strings.Contains(text, "does not work at the moment") || strings.Contains(text, "refused") {
			t.Errorf("%d: %s", w.Code, text)
		}
	}
}

// TestHostileStore checks that markup in a store's name stays text.
func TestReadyTimeOnThePage(t *testing.T) {
	x := newTown(t, "https://shop.example")
	r := asks("")
	r.ReadyAt = 1_800_000_000_000
	if page := x.get(t, x.create(t, r).TrackingURL).Body.String(); !strings.Contains(page, "Delivery from Harbor Street Market, ready for the courier on 15 January, 08:00 UTC<") {
		t.Error(page)
	}
}

func TestHostileStore(t *testing.T) {
	x := newTown(t, "https://shop.example")
	r := asks("")
	r.Pickup.Name = `"><script>alert(1)</script>'</title></style>{{.}}`
	d := x.create(t, r)
	x.step(t, d.ID)
	w := x.get(t, d.TrackingURL)
	if text := w.Body.String(); strings.Contains(text, "<script>alert") || strings.Contains(text, "ZgotmplZ") || !strings.Contains(text, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error(text)
	}
	state := x.get(t, d.TrackingURL+"/state")
	if kind := state.Header().Get("Content-Type"); kind != "application/json" || !json.Valid(state.Body.Bytes()) || strings.Contains(state.Body.String(), "<script") {
		t.Errorf("%s: %s", kind, state.Body)
	}
}

func TestPageHeaders(t *testing.T) {
	x := newTown(t, "https://shop.example")
	d := x.create(t, asks(""))
	for what, w := range map[string]*httptest.ResponseRecorder{
		"page": x.get(t, d.TrackingURL), "state": x.get(t, d.TrackingURL+"/state"), "unknown": x.get(t, d.TrackingURL+"0"), "unknown state": x.get(t, d.TrackingURL+"0/state"),
	} {
		h := w.Header()
		for name, value := range map[string]string{"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
			if got := h.Get(name); got != value {
				t.Errorf("%s: %s is %q", what, name, got)
			}
		}
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'; style-src 'sha256-", "; script-src 'sha256-", "; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy is %s", what, policy)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %s", what, policy)
		}
	}
}

// TestPictures checks that pictures are well-formed and public.
func TestPictures(t *testing.T) {
	x := newTown(t, "https://shop.example")
	seen := map[string]bool{}
	for attempt := range int64(60) {
		r := asks("")
		r.Ref = commerce.DeliveryRef(order, attempt+1)
		d := x.create(t, r)
		x.step(t, d.ID)
		now, err := x.sandbox.Get(t.Context(), courier.Key{ID: d.ID})
		check.OK(t, err)
		if seen[now.Courier.Name] {
			continue
		}
		seen[now.Courier.Name] = true
		w := x.get(t, now.Courier.ImageURL)
		if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || kind != "image/svg+xml" || !strings.Contains(w.Body.String(), "<title>"+now.Courier.Name+"</title>") {
			t.Errorf("%s: %d %s", now.Courier.ImageURL, w.Code, kind)
		}
		for decoder := xml.NewDecoder(w.Body); ; {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", now.Courier.ImageURL, err)
			}
		}
		if now.Courier.Phone == "" || now.Courier.Vehicle == "" {
			t.Errorf("the courier is %+v", now.Courier)
		}
	}
	if len(seen) < 6 {
		t.Errorf("60 deliveries are brought by %d couriers", len(seen))
	}
}

// TestEvery checks how often the page polls: at most twice a second, and at least
// every five seconds.
func TestEvery(t *testing.T) {
	for step, want := range map[time.Duration]string{time.Millisecond: "500", 2 * time.Second: "2000", time.Hour: "5000"} {
		x := newTown(t, "https://shop.example")
		x.sandbox.StepEvery = step
		if w := x.get(t, x.create(t, asks("")).TrackingURL); !strings.Contains(w.Body.String(), `data-every="`+want+`"`) {
			t.Errorf("with steps of %s it does not look every %s ms", step, want)
		}
	}
}
