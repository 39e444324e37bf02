package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

// Times of a stream.
const (
	streamPace  = time.Second      // between two reads of the order
	heartbeat   = 15 * time.Second // longest silence, so that the connection does not look dead
	streamLife  = 15 * time.Minute // then the client must reconnect, with its key
	streamWrite = 10 * time.Second // for the client to read one write
	// streamCheck is the time between two checks that the key still works. The gate
	// believes a key for two seconds, so that a stream ends within five.
	streamCheck = 2 * time.Second
)

// trackingStream follows an order as server-sent events: "status" when the status of the
// order or of its delivery changes, "location" when its courier moves, and "end" when no
// change can follow. A client that reconnects with Last-Event-ID gets the changes since
// that event.
func (a *API) trackingStream(r *request, order commerce.Order) (reply, error) {
	owner := r.Partner.ID + " " + string(r.Mode)
	followed, err := a.streams.enter(owner, order.Key())
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, stream: func(w *web.Writer) {
		defer a.streams.leave(owner, order.Key())
		s := &trackingStream{env: a.env, api: a, w: w, followed: followed, checked: a.env.Now(), last: r.Header.Get("Last-Event-ID")}
		s.run(r, order)
	}}, nil
}

type trackingStream struct {
	env              env.Env
	api              *API
	w                *web.Writer
	followed         *followed
	checked          time.Time // when the gate last accepted the key
	last             string    // the id of the last event that the client has
	status, location []byte    // the data of the last events of these kinds
	written          time.Time
}

func (s *trackingStream) run(r *request, order commerce.Order) {
	ctx, cancel := s.env.WithTimeout(r.Context(), streamLife)
	defer cancel()
	stop := context.AfterFunc(s.api.streaming, cancel)
	defer stop()
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead {
		s.w.WriteHeader(http.StatusOK)
		return
	}
	if !s.write([]byte("retry: 2000\n\n")) {
		return
	}
	for {
		began := s.env.Now()
		now, err := s.look(ctx, r, order)
		switch {
		case ctx.Err() != nil, errors.Is(err, errNotAllowed):
			return
		case err != nil:
			slog.Warn("a tracking stream ends", "order", order.ID, "trace_id", r.traceID, "error", err)
			return
		case !s.writeChanges(now):
			return
		}
		if s.env.Sleep(ctx, streamPace-s.env.Since(began)) != nil {
			return
		}
	}
}

// look reads the order and its delivery. It returns errNotAllowed if the key may no
// longer read the order.
func (s *trackingStream) look(ctx context.Context, r *request, order commerce.Order) (service.Tracked, error) {
	if s.env.Since(s.checked) >= streamCheck {
		if err := s.checkAccess(r, order); err != nil {
			return service.Tracked{}, err
		}
		s.checked = s.env.Now()
	}
	return s.followed.look(ctx, func() (service.Tracked, error) {
		ctx, cancel := s.env.WithTimeout(s.api.streaming, streamLife) // other streams wait for it, too
		defer cancel()
		order, err := s.api.reader.Order(ctx, order.Key())
		if err != nil {
			return service.Tracked{}, err
		}
		now, _, err := s.api.service.TrackOrder(ctx, order, false)
		return now, err
	})
}

// errNotAllowed ends a stream. The client learns the reason when it reconnects.
var errNotAllowed = errors.New("the key may no longer read the order")

// checkAccess asks the gate again: the partner may have been suspended, or lost its key,
// the scope or the store.
func (s *trackingStream) checkAccess(r *request, order commerce.Order) error {
	caller, err := s.api.gate.Caller(r.Request)
	switch {
	case err != nil && !errors.Is(err, web.ErrNoKey):
		return err
	case err != nil || !caller.Partner.Has(commerce.ReadOrders) || (service.Caller{Actor: commerce.Actor{Mode: caller.Mode}, Partner: caller.Partner}).MaySee(order) != nil:
		return errNotAllowed
	}
	return nil
}

// writeChanges writes the changes since the last call. It returns false when the stream is
// over.
func (s *trackingStream) writeChanges(now service.Tracked) bool {
	status := wire.Encode(wire.StreamStatus(now.Order, now.Delivery))
	location := wire.Encode(wire.StreamLocation(now.Order, now.Delivery))
	id := strconv.FormatInt(now.Order.Events, 10) + "-" + strconv.FormatInt(now.Delivery.Changes, 10)
	var b []byte
	if id != s.last || s.status != nil { // else the client has it from before
		if !bytes.Equal(status, s.status) {
			b = fmt.Appendf(b, "event: status\nid: %s\ndata: %s\n\n", id, status)
		}
		if now.Delivery.Status != "" && !bytes.Equal(location, s.location) {
			b = fmt.Appendf(b, "event: location\nid: %s\ndata: %s\n\n", id, location)
		}
	}
	s.status, s.location, s.last = status, location, id
	over := now.Order.Status.Terminal() && (now.Delivery.State == "" || now.Delivery.State == commerce.DeliveryOver)
	if over {
		b = fmt.Appendf(b, "event: end\nid: %s\ndata: {}\n\n", id)
	}
	if len(b) == 0 && s.env.Since(s.written) >= heartbeat {
		b = []byte(": still here\n\n")
	}
	return (len(b) == 0 || s.write(b)) && !over
}

// write sends b to the client, which has streamWrite to read it. It returns false if the
// client is gone.
func (s *trackingStream) write(b []byte) bool {
	s.written = s.env.Now()
	return web.Push(s.env, s.w, b, streamWrite, heartbeat+2*streamPace) == nil
}

// Streams is how many streams are open.
func (a *API) Streams() int64 { return a.streams.open.Taken() }

// EndStreams ends all streams because the process stops. The clients reconnect later.
func (a *API) EndStreams() { a.endStreams() }
