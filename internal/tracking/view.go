package tracking

import (
	"bytes"
	"embed"
	"html/template"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/maps"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

var (
	//go:embed pages/*.html
	pageFiles embed.FS
	//go:embed files/*
	fileFiles embed.FS

	files = web.NewFiles(commerce.TrackingPrefix+"files/", fileFiles, map[string][]string{
		"track.css": {"files/track.css"}, "track.js": {"files/track.js"}, "mark.svg": {"files/mark.svg"}})

	templates = template.Must(template.New("").Funcs(template.FuncMap{"file": files.Path}).ParseFS(pageFiles, "pages/*.html"))
)

// render makes a page or a part of one. A template that fails is a bug, so render panics.
func render(name string, data any) []byte {
	var html bytes.Buffer
	if err := templates.ExecuteTemplate(&html, name, data); err != nil {
		panic(err)
	}
	return html.Bytes()
}

// message is the data of a page that shows no order.
type message struct{ Title, Text string }

// view is the data of a page.
type view struct {
	said
	Title    string
	Tag      string // ETag of the state in the page
	Test     bool   // nothing is made and nothing is brought
	Over     bool   // nothing will change any more
	Stopped  bool   // the customer will not get the goods this way
	Arrival  string // when the courier arrives; empty: not known
	Steps    []string
	Step     int // index in Steps of the last one that was reached; -1: none was
	Map      template.HTML
	Number   string // of the order, short enough to be said
	Delivery bool
	Store    store
}

// store is what customers see of a store.
type store struct {
	Name, Address string
	Phone         string
	Dial          template.URL // empty: Phone cannot be dialled
}

var (
	deliverySteps = []string{"Ordered", "Courier found", "On the way", "Delivered"}
	pickupSteps   = []string{"Ordered", "Ready", "Picked up"}
)

func viewOf(f service.Followed) view {
	o := f.Order
	v := view{said: words(f), Test: o.Mode == commerce.Test, Over: o.Status.Terminal() || o.Status == commerce.FailedPayment,
		Number: number(o.ID), Delivery: o.Fulfillment == commerce.ByDelivery, Store: storeOf(f.Store)}
	v.Title = v.Heading
	if f.Store.Name != "" {
		v.Title += " - " + f.Store.Name
	}
	v.Steps, v.Step = pickupSteps, stepOfPickup(o.Beneath())
	if v.Delivery {
		v.Steps, v.Step = deliverySteps, stepOfDelivery(o.Beneath(), f.Delivery)
	}
	if o.Stopped() || o.Status == commerce.FailedPayment {
		v.Steps = nil
	}
	v.Stopped = v.Steps == nil || goesBack(f.Delivery.Status)
	if v.Delivery && o.StillToFulfil() && !v.Stopped {
		v.Arrival, v.Map = arrival(f), mapOf(f)
	}
	return v
}

func storeOf(s commerce.Store) store {
	var lines []string
	for _, part := range []string{s.Address, s.City, strings.TrimSpace(s.State + " " + s.ZipCode)} {
		if part != "" {
			lines = append(lines, part)
		}
	}
	shown := store{Name: s.Name, Address: strings.Join(lines, ", "), Phone: s.Phone}
	if dialled, ok := commerce.E164(s.Phone); ok {
		shown.Dial = template.URL("tel:" + dialled) // dialled has only digits behind a plus
	}
	return shown
}

func stepOfPickup(s commerce.OrderStatus) int {
	switch s {
	case commerce.PendingPayment:
		return -1
	case commerce.ReadyForPickup:
		return 1
	case commerce.PickedUp:
		return 2
	}
	return 0
}

func stepOfDelivery(s commerce.OrderStatus, d commerce.Delivery) int {
	switch {
	case s == commerce.PendingPayment:
		return -1
	case s == commerce.Delivered:
		return 3
	case d.Status == commerce.CourierCancelled, d.Status.Rank() < commerce.CourierAssigned.Rank():
		return 0
	case d.Status == commerce.CourierAssigned:
		return 1
	}
	return 2
}

func goesBack(s commerce.CourierStatus) bool {
	return s == commerce.CourierReturning || s == commerce.CourierReturned
}

// mapOf draws store, door and courier without a scale; empty if too little is known.
func mapOf(f service.Followed) template.HTML {
	m := maps.Map{Title: "Map: the store, your address, and the courier", Door: f.Door, Sketch: true}
	if at, known := f.Store.Point(); known {
		m.Store = &at
	}
	if !f.Delivery.Status.Over() {
		m.Courier = f.Delivery.Courier.At
	}
	if m.Store == nil || m.Door == nil && m.Courier == nil {
		return ""
	}
	return m.SVG()
}
