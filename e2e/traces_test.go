package e2e_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fakestripe"

	receiver "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// span is a span as a receiver of OTLP gets it.
type span struct {
	name, trace, id, parent string
	attributes              map[string]string
	resource                map[string]string
}

// spans is a receiver of OTLP over HTTP.
type spans struct {
	mu   sync.Mutex
	list []span
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var sent receiver.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range sent.ResourceSpans {
		resource := map[string]string{}
		for _, a := range of.Resource.Attributes {
			resource[a.Key] = a.Value.GetStringValue()
		}
		for _, scope := range of.ScopeSpans {
			for _, v := range scope.Spans {
				found := span{v.Name, hex.EncodeToString(v.TraceId), hex.EncodeToString(v.SpanId), hex.EncodeToString(v.ParentSpanId), map[string]string{}, resource}
				for _, a := range v.Attributes {
					found.attributes[a.Key] = a.Value.GetStringValue()
				}
				s.list = append(s.list, found)
			}
		}
	}
}

// below waits for the span with a name that stands below another.
func (s *spans) below(t *testing.T, parent, name string) (found span) {
	t.Helper()
	t.Cleanup(func() {
		if s.mu.Lock(); found.id == "" {
			t.Logf("%+v", s.list)
		}
		s.mu.Unlock()
	})
	check.Eventually(t, patience, pollPause, name+" below "+parent, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, v := range s.list {
			if v.parent == parent && v.name == name {
				found = v
				return true
			}
		}
		return false
	})
	return found
}

// A checkout is followed from the caller through the request, its batch and its job to the provider,
// and its own trace id stands at it.
func TestTraces(t *testing.T) {
	t.Parallel()
	s, stripe, collected := newShop(t), fakestripe.New(t), &spans{}
	stripe.Accept("sk_live_standin")
	server := httptest.NewServer(collected)
	t.Cleanup(server.Close)
	flags := []string{"serve", "--database", s.url(), "--listen", "127.0.0.1:0", "--stripe-key", stripe.Key, "--stripe-webhook-secret", stripe.Secret, "--stripe-url", stripe.URL}
	const trace, caller = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	sell := func(p *process, key string) {
		t.Helper()
		c := newClient(t, p.ready(&p.stderr, servingLine), s.partner.Keys.Live)
		r, err := c.httpRequest(post("/v1/checkout/session", key, map[string]any{"store_id": "s1", "fulfillment_type": "pickup",
			"items": []map[string]any{{"product_id": "p1", "quantity": 1}}, "success_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no"}))
		check.OK(t, err)
		r.Header.Set("traceparent", "00-"+trace+"-"+caller+"-01")
		r.Header.Set("x-trace-id", "ours "+key)
		answer, err := c.http.Do(r)
		check.OK(t, err)
		check.OK(t, answer.Body.Close())
		if answer.StatusCode != http.StatusCreated || answer.Header.Get("x-trace-id") != "ours "+key {
			t.Errorf("%d, %v", answer.StatusCode, answer.Header)
		}
	}
	p := start(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test", "OTEL_BSP_SCHEDULE_DELAY=60000"}, flags...)
	sell(p, "a")
	sent := stripe.Requests()
	p.stop() // which sends what is left
	request := collected.below(t, caller, "createCheckoutSession")
	batch := collected.below(t, request.id, "batch")
	job := collected.below(t, batch.id, "job open_session")
	call := collected.below(t, job.id, "open_session")
	record := collected.below(t, job.id, "batch")
	for _, v := range []span{request, batch, job, call, record} {
		if v.trace != trace || v.resource["service.name"] != "purveyor" || v.resource["deployment.environment.name"] != "test" {
			t.Errorf("%+v", v)
		}
	}
	if request.attributes["purveyor.trace_id"] != "ours a" || batch.attributes["purveyor.command"] != "StartCheckout" || call.attributes["purveyor.provider"] != "stripe" {
		t.Errorf("%+v\n%+v\n%+v", request, batch, call)
	}
	if passed := sent[len(sent)-1].TraceParent; passed != "00-"+trace+"-"+call.id+"-01" {
		t.Errorf("Stripe got %q", passed)
	}
	if log := p.stderr.String(); strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") {
		t.Errorf("all is well, and yet:\n%s", log)
	}

	// Without a receiver it is passed on as it came.
	p = start(t, nil, flags...)
	sell(p, "b")
	sent = stripe.Requests()
	if passed := sent[len(sent)-1].TraceParent; passed != "00-"+trace+"-"+caller+"-01" {
		t.Errorf("Stripe got %q", passed)
	}
	p.stop()

	// A receiver that is away holds nothing up, and is a line in the log.
	p = start(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_BSP_SCHEDULE_DELAY=10", "OTEL_EXPORTER_OTLP_TIMEOUT=200"}, flags...)
	sell(p, "c")
	check.Eventually(t, patience, pollPause, "the warning", func() bool {
		return strings.Contains(p.stderr.String(), `level=WARN msg="spans could not be sent"`)
	})
	p.stop()
}
