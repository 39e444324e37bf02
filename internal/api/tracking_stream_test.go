package api

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

// client is the far end of a stream.
type client struct {
	*httptest.ResponseRecorder
	deadline, atWrite   time.Time // now, and at the last write
	noDeadline, hasGone error
}

func (c *client) SetWriteDeadline(t time.Time) error { c.deadline = t; return c.noDeadline }

func (c *client) Write(b []byte) (int, error) {
	if c.hasGone != nil {
		return 0, c.hasGone
	}
	c.atWrite = c.deadline
	return c.ResponseRecorder.Write(b)
}

// A stream with nothing to tell says every 15 seconds that it is still there, and
// ends when its client has gone.
func TestStreamIsStillHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{ResponseRecorder: httptest.NewRecorder()}
		s := &trackingStream{w: &web.Writer{ResponseWriter: c}}
		now := service.Tracked{Order: commerce.Order{ID: "ord_1", Status: commerce.Processed}}
		said := func() string { defer c.Body.Reset(); return c.Body.String() }
		if !s.writeChanges(now) || !strings.HasPrefix(said(), "event: status\n") || !c.atWrite.Equal(time.Now().Add(streamWrite)) || !c.deadline.After(time.Now().Add(heartbeat+streamPace)) {
			t.Errorf("at first: %q, to be written until %v, and the next until %v", c.Body, c.atWrite, c.deadline)
		}
		for _, pause := range []time.Duration{heartbeat - 1, 1, heartbeat - 1} {
			time.Sleep(pause)
			want := map[bool]string{true: ": still here\n\n"}[pause == 1]
			if goesOn, got := s.writeChanges(now), said(); !goesOn || got != want {
				t.Errorf("after %v: %q, want %q", pause, got, want)
			}
		}
		gone := errors.New("gone")
		for _, end := range []*client{{hasGone: gone}, {noDeadline: gone}} {
			end.ResponseRecorder = httptest.NewRecorder()
			s := &trackingStream{w: &web.Writer{ResponseWriter: end}}
			if s.writeChanges(now) {
				t.Errorf("the stream of %+v goes on", end)
			}
		}
	})
}
