package courier

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
)

const trackPath = "/sandbox/track/"

var (
	//go:embed page/track.html
	trackHTML string
	//go:embed page/track.css
	trackCSS string
	//go:embed page/track.js
	trackJS string

	trackPage = sandbox.NewPage(trackHTML, trackCSS, trackJS, "img-src 'self'", "connect-src 'self'")
)

// Handler serves the public pages: GET /sandbox/track/{delivery} follows a delivery,
// GET /sandbox/track/{delivery}/state returns what changes on that page, and GET
// /sandbox/couriers/{picture} returns the picture of a courier. Everyone with the
// address may see them, so they do not identify the customer or the place.
func (s *Sandbox) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+trackPath+"{delivery}", s.showTracking)
	mux.HandleFunc("GET "+trackPath+"{delivery}/state", s.showState)
	mux.HandleFunc("GET "+picturesPath+"{picture}", showPicture)
	return mux
}

// tracking is the data of the template.
type tracking struct {
	Title, Text string // Text is shown when there is no delivery
	Map         *townMap
	State       state
	Store       string
	Phone       *phone // of the store; nil: not known
	Progress    []string
	EveryMs     int64
	Ready       string // when the courier can have the goods; empty: at once
}

// state is the part of the page that changes.
type state struct {
	Title    string         `json:"title"`
	Heading  string         `json:"heading"`
	Detail   string         `json:"detail"`
	Progress int            `json:"progress"` // index of the latest step that is reached; -1: none
	Courier  *courierOnPage `json:"courier"`
	X        float64        `json:"x"` // position of the courier on the map
	Y        float64        `json:"y"`
	Over     bool           `json:"over"`
	Stopped  bool           `json:"stopped"` // it will not arrive
	Next     string         `json:"next"`    // what the customer can do now; empty: wait
}

// phone is a number that the page can dial.
type phone struct {
	Href template.URL
	Text string
}

// StoreName is the store's name in a sentence.
func (t tracking) StoreName() string { return cmp.Or(t.Store, "the store") }

type courierOnPage struct {
	Name    string `json:"name"`
	Vehicle string `json:"vehicle"`
	Picture string `json:"picture"`
}

// phoneOf returns nil if number is no phone number.
func phoneOf(number string) *phone {
	dialled, ok := commerce.E164(number)
	if !ok {
		return nil
	}
	return &phone{template.URL("tel:" + dialled), number} // dialled has only digits behind a plus
}

// progress names the steps of a delivery.
var progress = []string{"Courier found", "Picked up", "On the way", "Delivered"}

func (s *Sandbox) showTracking(w http.ResponseWriter, r *http.Request) {
	x, err := s.load(r.Context(), r.PathValue("delivery"))
	if err != nil {
		status, title, text := failed(err)
		trackPage.Write(w, status, tracking{Title: title, Text: text})
		return
	}
	drawn := x.drawMap()
	now := s.state(x, drawn)
	const often, seldom = 500 * time.Millisecond, 5 * time.Second
	trackPage.Write(w, http.StatusOK, tracking{
		Title: now.Title, Map: &drawn, State: now, Store: x.Store, Phone: phoneOf(x.Phone), Progress: progress,
		EveryMs: min(seldom, max(often, s.StepEvery)).Milliseconds(), Ready: readyText(x.ReadyAt),
	})
}

// readyText is a time in words; empty for none.
func readyText(at commerce.Millis) string {
	if at == 0 {
		return ""
	}
	return at.Time().UTC().Format("2 January, 15:04 UTC")
}

func (s *Sandbox) showState(w http.ResponseWriter, r *http.Request) {
	x, err := s.load(r.Context(), r.PathValue("delivery"))
	status, answer := http.StatusOK, any(nil)
	if err == nil {
		answer = s.state(x, x.drawMap())
	} else {
		var title string
		status, title, _ = failed(err)
		answer = map[string]string{"error": title}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		panic(err) // strings always encode
	}
	trackPage.Protect(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has gone
}

// failed returns an error page that does not depend on the delivery.
func failed(err error) (status int, title, text string) {
	if errors.Is(err, errNoDelivery) {
		return http.StatusNotFound, "There is no such delivery", "Please follow the link of the store again."
	}
	slog.Error("sandbox tracking page", "error", err)
	return http.StatusServiceUnavailable, "This does not work at the moment", "Please load this page again in a moment."
}

// state describes a delivery in words for its customer.
func (s *Sandbox) state(x delivery, town townMap) state {
	d := s.view(x)
	scene := scenes[d.Status]
	if d.Imminent {
		scene.heading = cmp.Or(scene.near, scene.heading)
	}
	names := strings.NewReplacer("{courier}", d.Courier.Name, "{store}", cmp.Or(x.Store, "the store"))
	v := state{Heading: names.Replace(scene.heading), Next: names.Replace(scene.next), Stopped: scene.next != "",
		Detail: s.detail(d), Over: d.Status.Over(), Progress: x.progress()}
	v.Title = v.Heading
	if x.Store != "" {
		v.Title += " - " + x.Store
	}
	if d.Courier.At != nil {
		picture := strings.TrimPrefix(d.Courier.ImageURL, s.URL+"/sandbox")
		v.Courier = &courierOnPage{Name: d.Courier.Name, Vehicle: vehicles[d.Courier.Vehicle], Picture: ".." + picture}
		v.X, v.Y = town.at(*d.Courier.At)
	}
	return v
}

// progress returns the index of the latest step that the delivery reached. One that
// was called off, or is on its way back, stays where it was.
func (x *delivery) progress() int {
	at := x.now()
	switch {
	case at.status == commerce.CourierPending:
		return -1
	case at.status == commerce.CourierDone:
		return 3
	case !at.toDoor:
		return 0
	case at.status == commerce.CourierLoaded:
		return 1
	}
	return 2
}

// scenes are the words for each status. {courier} and {store} stand for names.
var scenes = map[commerce.CourierStatus]struct {
	heading string
	near    string // the heading when the courier is about to arrive
	next    string // for a delivery that will not arrive: what its customer can do
}{
	commerce.CourierPending:   {heading: "Looking for a courier"},
	commerce.CourierAssigned:  {heading: "{courier} is on the way to {store}", near: "{courier} is about to reach {store}"},
	commerce.CourierLoaded:    {heading: "{courier} has picked up your order"},
	commerce.CourierEnRoute:   {heading: "{courier} is on the way to you", near: "{courier} is almost there"},
	commerce.CourierDone:      {heading: "Delivered"},
	commerce.CourierReturning: {heading: "Your order goes back to {store}", next: bringAgain},
	commerce.CourierReturned:  {heading: "Your order is back at {store}", next: bringAgain},
	commerce.CourierCancelled: {heading: "This delivery was cancelled",
		next: "Your order does not come with this courier. Ask {store} whether another one brings it."},
}

const bringAgain = "Ask {store} to bring it again or to keep it for you, or for your money back."

// detail says when the delivery arrives, or why it does not.
func (s *Sandbox) detail(d Delivery) string {
	switch minutes := (d.DropoffETA - commerce.MillisOf(s.Now()) + 30_000) / 60_000; {
	case d.Status == commerce.CourierDone:
		return "Enjoy!"
	case d.Status == commerce.CourierPending:
		return "The time of arrival is shown here once one is found."
	case d.Reason == notThere:
		return "Nobody could take it at your door."
	case d.Reason == cancelled:
		return "It was called off."
	case d.DropoffETA == 0:
		return d.Reason
	case minutes < 1:
		return "Arrives in a moment"
	case minutes == 1:
		return "Arrives in about a minute"
	default:
		return fmt.Sprintf("Arrives in about %d minutes", minutes)
	}
}

// showPicture serves the picture of a courier.
func showPicture(w http.ResponseWriter, r *http.Request) {
	number, isPicture := strings.CutSuffix(r.PathValue("picture"), ".svg")
	i, err := strconv.Atoi(number)
	if err != nil || !isPicture || i < 1 || i > len(couriers) || number != strconv.Itoa(i) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	_, _ = fmt.Fprintf(w, portrait, couriers[i-1].name, couriers[i-1].color, couriers[i-1].name[:1])
}

// townMap is a small map around a delivery, as SVG. It shows no names and no real
// coordinates.
type townMap struct {
	Width, Height int
	Approach, Way string // points of polylines
	Store, Door   string // one point each

	centre     commerce.Point
	x, y, zoom float64 // the centre on the map; map units per degree of latitude
}

const (
	mapWidth, mapHeight = 360, 240
	mapMargin           = 36 // on each side
	// The label of the door is above the door; nothing is below.
	mapTop, mapBottom = 52, 24
)

// drawMap draws the whole way of the courier.
func (x *delivery) drawMap() townMap {
	approach, way := streets(x.start(), x.Way.From), streets(x.Way.From, x.Way.To)
	m := townMap{Width: mapWidth, Height: mapHeight, centre: x.Way.From, zoom: 1}
	left, top, right, bottom := 0.0, 0.0, 0.0, 0.0
	for _, p := range append(approach, way...) {
		e, s := m.from(p)
		left, right, top, bottom = min(left, e), max(right, e), min(top, s), max(bottom, s)
	}
	const least = 1e-6 // keeps the scale finite for a way of no length, and near a pole
	m.zoom = min((mapWidth-2*mapMargin)/max(least, right-left), (mapHeight-mapTop-mapBottom)/max(least, bottom-top))
	m.x, m.y = mapWidth/2-m.zoom*(left+right)/2, (mapHeight+mapTop-mapBottom)/2-m.zoom*(top+bottom)/2
	m.Approach, m.Way = m.points(approach...), m.points(way...)
	m.Store, m.Door = m.points(x.Way.From), m.points(x.Way.To)
	return m
}

// from returns how far east and south of the centre p is, in degrees of latitude.
func (m *townMap) from(p commerce.Point) (east, south float64) {
	east = math.Remainder(p.Lng-m.centre.Lng, 360) * math.Cos(m.centre.Lat*math.Pi/180)
	return east, m.centre.Lat - p.Lat
}

// at returns the position of p on the map.
func (m *townMap) at(p commerce.Point) (x, y float64) {
	east, south := m.from(p)
	return tenths(m.x + m.zoom*east), tenths(m.y + m.zoom*south)
}

func tenths(v float64) float64 { return math.Round(v*10) / 10 }

func (m *townMap) points(way ...commerce.Point) string {
	points := make([]string, len(way))
	for i, p := range way {
		x, y := m.at(p)
		points[i] = fmt.Sprintf("%.1f,%.1f", x, y)
	}
	return strings.Join(points, " ")
}
