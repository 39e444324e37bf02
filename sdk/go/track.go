package purveyor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"
)

// Kinds of tracking updates.
const (
	TrackStatus   = "status"   // the status of the order or of its delivery has changed
	TrackLocation = "location" // the courier has moved
	TrackEnd      = "end"      // nothing will follow
)

// TrackingUpdate is a change of an order on its way.
type TrackingUpdate struct {
	Kind     string            `json:"kind"` // one of the constants, or a kind that is added later
	ID       string            `json:"id"`
	Status   *TrackingStatus   `json:"-"`    // of TrackStatus
	Location *TrackingLocation `json:"-"`    // of TrackLocation
	Data     json.RawMessage   `json:"data"` // as it came
}

// Tracking says how to follow an order; each zero value is a default.
type Tracking struct {
	LastID string // the ID of the last update that you have: what is new since then comes first

	// OnError is told of each failure that passes: Track waits and goes on.
	OnError func(error)
}

const (
	reconnectAfter = 2 * time.Second  // until the service says otherwise
	longestSilence = 45 * time.Second // three missed heartbeats
	longestUpdate  = 1 << 20
)

// Track ranges over the changes of an order as they happen, and connects again when the stream
// breaks. It ends behind TrackEnd, when the context does, and after an error that would not
// pass.
func (s *OrdersService) Track(ctx context.Context, orderID string, t Tracking, options ...Option) iter.Seq2[TrackingUpdate, error] {
	return func(yield func(TrackingUpdate, error) bool) {
		stream := &tracking{client: s.client, last: t.LastID, retry: reconnectAfter}
		wait := reconnectAfter / 2
		for {
			over, err := stream.read(ctx, orderID, options, yield)
			if over {
				return
			}
			if err == nil { // it ends now and then
				wait = reconnectAfter / 2
				if err = s.client.options.Sleep(ctx, stream.retry); err == nil {
					continue
				}
				err = cancelled(err, 0)
			}
			if err = s.client.outlast(ctx, err, t.OnError, &wait); err != nil {
				yield(TrackingUpdate{}, err)
				return
			}
		}
	}
}

// tracking is a stream that is read again and again.
type tracking struct {
	client *Client
	last   string // the id of the last update
	retry  time.Duration
}

// read connects and yields updates until the connection ends. over reports that nothing more
// is wanted.
func (t *tracking) read(ctx context.Context, orderID string, options []Option, yield func(TrackingUpdate, error) bool) (over bool, err error) {
	r, err := newRequest(t.client, opStreamOrderTracking, []string{orderID}, none{}, nil, append(options, WithHeader("Accept", "text/event-stream")))
	if err != nil {
		return false, err
	}
	if t.last != "" {
		r.header.Set("Last-Event-ID", t.last)
	}
	connection, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(r.tryTimeout, cancel)
	defer silence.Stop()
	response, err := t.client.send(connection, r)
	if err != nil {
		return false, r.blame(lost(ctx, err))
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // the status alone decides
		return false, r.blame(refusal(newAnswer(response, text)))
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, longestUpdate)
	var update frame
	got := false
	for silence.Reset(longestSilence); lines.Scan(); silence.Reset(longestSilence) {
		if lines.Text() != "" {
			update.add(lines.Text(), t)
			continue
		}
		if u, ok := update.end(t.last); ok {
			got = true
			if !yield(u, nil) || u.Kind == TrackEnd {
				return true, nil
			}
		}
	}
	if ctx.Err() != nil {
		return false, cancelled(ctx.Err(), 0)
	}
	if err := lines.Err(); err != nil && !got {
		return false, r.blame(lost(ctx, err))
	}
	return false, nil
}

// frame is a server-sent event that is being read.
type frame struct {
	kind string
	data []string
}

// add adds a line.
func (f *frame) add(line string, t *tracking) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "event":
		f.kind = value
	case "data":
		f.data = append(f.data, value)
	case "id":
		t.last = value
	case "retry":
		if ms, err := strconv.ParseUint(value, 10, 31); err == nil {
			t.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// end returns the update that is complete, if there is one.
func (f *frame) end(id string) (u TrackingUpdate, ok bool) {
	defer func() { *f = frame{} }()
	if f.data == nil {
		return u, false
	}
	u = TrackingUpdate{Kind: f.kind, ID: id, Data: json.RawMessage(strings.Join(f.data, "\n"))}
	var err error
	switch u.Kind {
	case TrackStatus:
		err = json.Unmarshal(u.Data, &u.Status)
	case TrackLocation:
		err = json.Unmarshal(u.Data, &u.Location)
	}
	return u, !errors.As(err, new(*json.SyntaxError))
}
