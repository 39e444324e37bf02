package fakeuber

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// Event is an event that Uber would post to the service.
type Event struct {
	Kind string
	Body []byte
	key  string
}

// Header returns the header of the post. Each kind of event uses its own header.
func (e Event) Header() http.Header {
	if e.Kind == "event.courier_update" {
		return http.Header{"X-Postmates-Signature": {Sign(e.Body, e.key)}}
	}
	return http.Header{"X-Uber-Signature": {Sign(e.Body, e.key)}}
}

// Post sends the event, and returns the status of the answer.
func (e Event) Post(ctx context.Context, url string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(e.Body))
	if err != nil {
		return 0, err
	}
	request.Header = e.Header()
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// Sign returns the signature of a body.
func Sign(body []byte, key string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// Take returns the events since the last call, in order.
func (s *Server) Take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events
	s.events = nil
	return events
}

// event posts a delivery's status.
func (s *Server) event(d *delivery) {
	s.post("event.delivery_status", s.StatusKey, map[string]any{
		"id": s.id("evt"), "status": d.Status, "customer_id": s.CustomerID, "account_id": "acc_standin", "developer_id": "dev_standin",
	}, d)
}

// update posts the courier's position. It has no id of its own.
func (s *Server) update(d *delivery) {
	d.Courier.Location.Lat += 0.001
	s.post("event.courier_update", s.CourierKey, map[string]any{"job_id": "job_standin", "location": d.Courier.Location}, d)
}

func (s *Server) post(kind, key string, event map[string]any, d *delivery) {
	event["kind"], event["created"], event["live_mode"], event["delivery_id"], event["data"] = kind, stamp(s.now()), s.Live, d.ID, d
	body, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	s.events = append(s.events, Event{kind, body, key})
}

var way = []string{"pending", "pickup", "pickup_complete", "dropoff", "delivered"}

// Move makes the courier go on until the delivery has this status. "canceled" is the
// courier's doing; "returned" is the whole way back to the store.
func (s *Server) Move(id, status string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.find(id)
	if d == nil || d.Complete {
		return fmt.Errorf("delivery %q is not under way", id)
	}
	last := map[string]string{"canceled": "pickup", "returned": "dropoff"}[status]
	if last == "" {
		last = status
	}
	for slices.Index(way, d.Status) < slices.Index(way, last) {
		s.step(d, way[slices.Index(way, d.Status)+1])
	}
	switch status {
	case "canceled":
		d.UndeliverableReason = "COURIER_REPORTED_CRASH"
		s.end(d, "canceled")
	case "returned":
		s.takeBack(d)
	}
	return nil
}

func (s *Server) step(d *delivery, status string) {
	if d.Courier == nil {
		d.Courier = &courier{
			Name: "Alex I.", Rating: "5.00", Vehicle: "bicycle", Phone: "+16283337630", Image: "https://d1w2poirtb3as9.cloudfront.net/default.jpeg",
			Location: place{37.765987, -122.43153},
		}
	}
	if status == "delivered" {
		s.end(d, status)
		return
	}
	d.Status, d.Imminent, d.Updated = status, false, stamp(s.now())
	s.event(d)
	s.update(d)
	if status == "pickup" || status == "dropoff" {
		d.Imminent = true
		s.event(d)
	}
}

func (s *Server) end(d *delivery, status string) {
	d.Status, d.Complete, d.Imminent, d.Updated = status, true, false, stamp(s.now())
	s.event(d)
}

// takeBack brings the goods back to the store, which is a delivery of its own.
func (s *Server) takeBack(d *delivery) {
	back := *d
	back.ID = s.id("ret")
	back.TrackingURL += "/return"
	back.QuoteID, back.Status, back.Related = "", "pickup_complete", []related{{d.ID, "original"}}
	back.Courier = new(*d.Courier)
	s.deliveries = append(s.deliveries, &back)
	d.Status, d.UndeliverableReason, d.Related = "returned", "CUSTOMER_UNREACHABLE", []related{{back.ID, "return"}}
	s.event(d)
	s.step(&back, "dropoff")
	s.step(&back, "delivered")
	d.Complete, d.UndeliverableAction, d.Updated = true, "returned", stamp(s.now())
}
