package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

func keyOfOrder(i int) commerce.OrderKey {
	return commerce.OrderKey{StoreID: "s", OrderID: fmt.Sprint("ord_", i)}
}

// One partner has a share of the streams, apart in each mode, one order has few,
// and the process has a bound; a stream that leaves makes room.
func TestStreamsAreBounded(t *testing.T) {
	s := newStreams(env.Env{})
	entered := 0
	refused := func(owner string, order int) bool {
		_, err := s.enter(owner, keyOfOrder(order))
		e, ok := errors.AsType[*web.Error](err)
		if err != nil && (!ok || e.Status != http.StatusTooManyRequests || e.Code != "too_many_streams" || e.RetryAfter == 0) {
			t.Fatal(err)
		}
		if err == nil {
			entered++
		}
		return err != nil
	}
	live, test := "ptn_1 live", "ptn_1 test"
	for i := range maxPartnerStreams {
		if refused(live, i/maxOrderStreams) {
			t.Fatalf("stream %d of a partner is refused", i)
		}
	}
	if !refused(live, 1_000_000) || !refused(test, 0) || refused(test, 1_000_000) {
		t.Error("too many of a partner, or of an order")
	}
	s.leave(live, keyOfOrder(0))
	entered--
	if refused(test, 0) || !refused(test, 0) {
		t.Error("one has left the order")
	}
	if refused(live, 1_000_001) {
		t.Error("one has left the partner")
	}
	for i := entered; i < maxStreams; i++ {
		if refused(fmt.Sprint("ptn_", i), 2_000_000+i) {
			t.Fatalf("stream %d of all is refused", i)
		}
	}
	if !refused("ptn_new", 3_000_000) {
		t.Error("too many of all")
	}
	s.leave(test, keyOfOrder(1_000_000))
	if refused("ptn_new", 3_000_000) {
		t.Error("one of all has left")
	}
}

// What is counted is forgotten when it is over.
func TestStreamsForget(t *testing.T) {
	s := newStreams(env.Env{})
	owner := "ptn_1 live"
	for range 2 {
		if _, err := s.enter(owner, keyOfOrder(1)); err != nil {
			t.Fatal(err)
		}
	}
	s.leave(owner, keyOfOrder(1))
	s.leave(owner, keyOfOrder(1))
	if !s.open.Take(owner, maxPartnerStreams) || len(s.orders) != 0 {
		t.Errorf("%+v", s)
	}
}

// The streams of one order look at it once at a time, together, and again when
// time has passed; a look that failed is not shared.
func TestStreamsShareLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &followed{}
		looks := 0
		var failure error
		read := func() (service.Tracked, error) {
			looks++
			return service.Tracked{Order: commerce.Order{Events: int64(looks)}}, failure
		}
		failure = errors.New("gone")
		if _, err := f.look(t.Context(), read); err == nil {
			t.Error("the failure is not told")
		}
		failure = nil
		for second := range 3 {
			for range 8 {
				if now, err := f.look(t.Context(), read); err != nil || now.Order.Events != int64(second+2) {
					t.Errorf("%v %v", now.Order.Events, err)
				}
			}
			time.Sleep(streamPace)
		}
		if looks != 4 {
			t.Errorf("%d looks", looks)
		}
	})
}

// While a provider is asked, the other streams of the order wait for the same answer,
// and a stream whose client leaves does not wait.
func TestStreamsWaitWithoutALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &followed{}
		answer, looks := make(chan struct{}), 0
		read := func() (service.Tracked, error) {
			looks++
			<-answer
			return service.Tracked{Order: commerce.Order{Events: 7}}, nil
		}
		first, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := f.look(first, read)
			left <- err
		}()
		synctest.Wait()
		others := make(chan int64)
		for range 3 {
			go func() {
				now, _ := f.look(t.Context(), read)
				others <- now.Order.Events
			}()
		}
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the stream that has left: %v", err)
		}
		if _, fresh := f.lastLook(); fresh {
			t.Error("a look is on record before it has ended")
		}
		close(answer)
		for range 3 {
			if seen := <-others; seen != 7 {
				t.Errorf("%d", seen)
			}
		}
		if looks != 1 {
			t.Errorf("%d looks", looks)
		}
	})
}

// goneWriter is a connection whose client has gone after so many writes.
type goneWriter struct {
	*httptest.ResponseRecorder
	mu       sync.Mutex
	left     int
	deadline error // of setting one
}

func (g *goneWriter) SetWriteDeadline(time.Time) error { return g.deadline }

func (g *goneWriter) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left--; g.left < 0 {
		return 0, errors.New("gone")
	}
	return g.ResponseRecorder.Write(b)
}

func streamTo(g *goneWriter) *trackingStream {
	return &trackingStream{w: &web.Writer{ResponseWriter: g}}
}

// A stream with nothing to tell says now and then that it is there.
func TestStreamHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &goneWriter{ResponseRecorder: httptest.NewRecorder(), left: 100}
		s := streamTo(g)
		now := service.Tracked{Order: commerce.Order{ID: "ord_1", Status: commerce.Processed}}
		for range 32 {
			if !s.writeChanges(now) {
				t.Fatal("the stream is over")
			}
			time.Sleep(time.Second)
		}
		if body := g.Body.String(); strings.Count(body, "event: status") != 1 || strings.Count(body, ": still here\n\n") != 2 {
			t.Errorf("%q", body)
		}
	})
}

// A stream ends when its client is gone, or a connection cannot be bounded.
func TestStreamEndsWithItsClient(t *testing.T) {
	now := service.Tracked{Order: commerce.Order{ID: "ord_1", Status: commerce.Processed}}
	s := streamTo(&goneWriter{ResponseRecorder: httptest.NewRecorder(), left: 1})
	if !s.writeChanges(now) {
		t.Error("over while its client is there")
	}
	if now.Order.Status = commerce.Cancelled; s.writeChanges(now) {
		t.Error("goes on without its client")
	}
	s = streamTo(&goneWriter{ResponseRecorder: httptest.NewRecorder(), left: 1, deadline: errors.New("none")})
	if s.writeChanges(now) {
		t.Error("goes on without a deadline")
	}
}
