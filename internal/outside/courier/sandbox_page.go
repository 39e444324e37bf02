package courier

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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

// Handler serves what anybody may see who knows the address: the page on which a
// delivery is followed, GET /sandbox/track/{delivery}; what changes on it, GET
// /sandbox/track/{delivery}/state; and pictures of couriers, GET
// /sandbox/couriers/{picture}. None of them tells who the customer is, or where.
func (s *Sandbox) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+trackPath+"{delivery}", s.showTracking)
	mux.HandleFunc("GET "+trackPath+"{delivery}/state", s.showState)
	mux.HandleFunc("GET "+picturesPath+"{picture}", showPicture)
	return mux
}

// tracking is what the template shows.
type tracking struct {
	Title, Text string // Text in place of the delivery
	Map         *townMap
	State       state
	Store       string
	Progress    []string
	EveryMs     int64
}

// state is what changes on the page.
type state struct {
	Title    string         `json:"title"`
	Heading  string         `json:"heading"`
	Detail   string         `json:"detail"`
	Progress int            `json:"progress"` // how much of progress is reached; -1: nothing
	Courier  *courierOnPage `json:"courier"`
	X        float64        `json:"x"` // of the courier on the map
	Y        float64        `json:"y"`
	Over     bool           `json:"over"`
}

type courierOnPage struct {
	Name    string `json:"name"`
	Vehicle string `json:"vehicle"`
	Picture string `json:"picture"`
}

// progress names what a delivery goes through.
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
		Title: now.Title, Map: &drawn, State: now, Store: x.Store, Progress: progress,
		EveryMs: min(seldom, max(often, s.StepEvery)).Milliseconds(),
	})
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
		panic(err) // texts always encode
	}
	trackPage.Protect(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // who asked has gone
}

// failed says what is the same for every delivery.
func failed(err error) (status int, title, text string) {
	if errors.Is(err, errNoDelivery) {
		return http.StatusNotFound, "There is no such delivery", "Please follow the link of the store again."
	}
	slog.Error("sandbox tracking page", "error", err)
	return http.StatusServiceUnavailable, "This does not work at the moment", "Please load this page again in a moment."
}

// state is a delivery in words for its customer.
func (s *Sandbox) state(x delivery, town townMap) state {
	d := s.view(x)
	v := state{Heading: heading(d, x.Store), Detail: s.detail(d), Over: d.Status.Over(), Progress: progressOf(d.Status)}
	v.Title = v.Heading
	if x.Store != "" {
		v.Title += " - " + x.Store
	}
	if d.Courier.At != nil {
		picture := strings.TrimPrefix(d.Courier.ImageURL, s.baseURL+"/sandbox")
		v.Courier = &courierOnPage{Name: d.Courier.Name, Vehicle: vehicles[d.Courier.Vehicle], Picture: ".." + picture}
		v.X, v.Y = town.at(*d.Courier.At)
	}
	return v
}

func progressOf(status commerce.CourierStatus) int {
	switch status {
	case commerce.CourierAssigned:
		return 0
	case commerce.CourierLoaded:
		return 1
	case commerce.CourierEnRoute, commerce.CourierReturning:
		return 2
	case commerce.CourierDone:
		return 3
	}
	return -1
}

func heading(d Delivery, store string) string {
	if store == "" {
		store = "the store"
	}
	switch name := d.Courier.Name; d.Status {
	case commerce.CourierAssigned:
		if d.Imminent {
			return name + " is about to reach " + store
		}
		return name + " is on the way to " + store
	case commerce.CourierLoaded:
		return name + " has picked up your order"
	case commerce.CourierEnRoute:
		if d.Imminent {
			return name + " is almost there"
		}
		return name + " is on the way to you"
	case commerce.CourierReturning:
		return "Your order goes back to " + store
	case commerce.CourierDone:
		return "Delivered"
	case commerce.CourierCancelled:
		return "This delivery was cancelled"
	case commerce.CourierReturned:
		return "Your order is back at " + store
	}
	return "Looking for a courier"
}

// detail says when it arrives, or why it does not.
func (s *Sandbox) detail(d Delivery) string {
	switch minutes := (d.DropoffETA - s.Now().UnixMilli() + 30_000) / 60_000; {
	case d.Status == commerce.CourierDone:
		return "Enjoy!"
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

// showPicture draws one of the couriers.
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
