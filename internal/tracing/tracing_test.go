package tracing

import (
	"net/http"
	"testing"
)

// TestOff: without a receiver there is no tracer, its spans cost nothing, and contexts stay as they are.
func TestOff(t *testing.T) {
	t.Setenv(Endpoint, "")
	tracer, err := New(t.Context(), "1", nil)
	if tracer != nil || err != nil {
		t.Fatal(tracer, err)
	}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		inside, span := tracer.Begin(ctx, "x", Internal)
		span.Text("a", "b")
		span.Number("n", 1)
		span.Reached("there")
		span.End(nil)
		if inside != ctx || Traced(ctx) || Parent(ctx) != "" || WithParent(ctx, "") != ctx {
			t.Error("the context has changed")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if err := tracer.Close(ctx); err != nil {
		t.Error(err)
	}
}

// TestPassedOn: what Extract finds goes on by Inject, and by Parent and WithParent.
func TestPassedOn(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx := Extract(t.Context(), http.Header{Header: {parent}, "Tracestate": {"a=b"}})
	out := http.Header{}
	Inject(WithParent(t.Context(), Parent(ctx)), out)
	if out.Get(Header) != parent {
		t.Errorf("%v", out)
	}
	out = http.Header{}
	if Inject(ctx, out); out.Get(Header) != parent || out.Get("tracestate") != "a=b" {
		t.Errorf("%v", out)
	}
	if Inject(t.Context(), out); Traced(WithParent(t.Context(), "nonsense")) {
		t.Error("nonsense is a parent")
	}
}
