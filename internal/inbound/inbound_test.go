package inbound

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/payment"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

// quiet is a processor whose callbacks say nothing.
type quiet struct {
	payment.Processor
	read int
}

func (*quiet) CallbackForm() (headers []string, maxBytes int) {
	return []string{"X-Signature", "X-Old-Signature"}, 64 << 10
}

func (q *quiet) ReadCallback(context.Context, http.Header, []byte) ([]payment.Callback, error) {
	q.read++
	return nil, nil
}

// counted is a body that knows how much of it was read.
type counted struct {
	io.Reader
	read int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.read += n
	return n, err
}

// A callback without a signature is refused unread, and one that is larger than any
// of its provider is not handed on.
func TestCallbacksAreBounded(t *testing.T) {
	q := &quiet{}
	in := New(env.Env{}, nil, map[string]payment.Processor{"quiet": q}, nil)
	took := map[string]int{}
	in.Took = func(provider, result string) { took[provider+" "+result]++ }
	handler := web.Trace(env.Env{}, slog.New(slog.DiscardHandler), in)
	for _, c := range []struct {
		header string
		size   int
		status int
		says   string
		read   bool
	}{
		{"", 10, 400, "X-Signature or X-Old-Signature is missing", false},
		{"", 10 << 20, 400, "X-Signature or X-Old-Signature is missing", false},
		{"X-Old-Signature", 64 << 10, 200, "ok", true},
		{"X-Signature", 64<<10 + 1, 400, "larger than 64 KiB", true},
	} {
		body := &counted{Reader: strings.NewReader(strings.Repeat("x", c.size))}
		r := httptest.NewRequest(http.MethodPost, PaymentsPath("quiet"), body)
		if c.header != "" {
			r.Header.Set(c.header, "abc")
		}
		before := q.read
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || (body.read > 0) != c.read || (q.read > before) != (c.status == 200) {
			t.Errorf("%+v: %d %s, %d bytes were read", c, w.Code, w.Body, body.read)
		}
	}
	if want := map[string]int{"quiet bad_signature": 2}; !maps.Equal(took, want) {
		t.Errorf("counted %v, want %v", took, want)
	}
}

// Each callback of a body is counted by what became of it. One that told nothing new, or is about what
// is not ours, is accepted.
func TestCallbacksAreCounted(t *testing.T) {
	took := map[string]int{}
	in := &Inbound{Took: func(provider, result string) { took[provider+" "+result]++ }}
	ends := []error{nil, service.ErrDuplicate, errUnknown, nil}
	take := takeEach[*payment.BadCallback](in, func(context.Context, http.Header, []byte) ([]int, error) { return []int{0, 1, 2, 3}, nil },
		func(_ context.Context, _ commerce.Actor, i int, _ []byte) error { return ends[i] })
	if err := take(t.Context(), commerce.Actor{ID: "p"}, nil, nil); err != nil {
		t.Error(err)
	}
	if want := map[string]int{"p ok": 2, "p duplicate": 1, "p unknown": 1}; !maps.Equal(took, want) {
		t.Errorf("counted %v, want %v", took, want)
	}
}
