package web

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"purveyor/internal/tracing"
)

// TestSpansOff: without a receiver of spans a valid traceparent is passed on, one that is not valid is
// left out, and other requests cost nothing.
func TestSpansOff(t *testing.T) {
	var parent string
	handler := Spans(nil, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { parent = tracing.Parent(r.Context()) }))
	const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for given, want := range map[string]string{
		valid: valid, "": "", "nonsense": "", "00-00000000000000000000000000000000-b7ad6b7169203331-01": "",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01": "", "ff" + valid[2:]: "", "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": "",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("traceparent", given)
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if parent != want {
			t.Errorf("%q gives %q", given, parent)
		}
	}
	r, w := httptest.NewRequest("GET", "/", nil), &Writer{}
	idle := Spans(nil, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if n := testing.AllocsPerRun(100, func() { idle.ServeHTTP(w, r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSpansOff(b *testing.B) {
	r, w := httptest.NewRequest("GET", "/", nil), &Writer{}
	idle := Spans(nil, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	b.ReportAllocs()
	for b.Loop() {
		idle.ServeHTTP(w, r)
	}
}
