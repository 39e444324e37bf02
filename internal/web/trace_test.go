package web

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// traced serves one request through Trace.
func traced(next http.HandlerFunc, given ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/v1/x", nil)
	if given != nil {
		r.Header[TraceHeader] = given
	}
	rec := httptest.NewRecorder()
	Trace(env.Env{}, slog.New(slog.DiscardHandler), next).ServeHTTP(rec, r)
	return rec
}

func echo(w http.ResponseWriter, _ *http.Request) {
	WriteJSON(w, http.StatusOK, []byte(`"`+WriterOf(w).TraceID+`"`))
}

func TestTraceRules(t *testing.T) {
	drawn := regexp.MustCompile(`^[0-9a-f]{32}$`)
	for _, c := range []struct {
		given []string
		kept  bool
	}{
		{nil, false}, {[]string{""}, false}, {[]string{"a"}, true}, {[]string{strings.Repeat("a", 128)}, true}, {[]string{" ~"}, true},
		{[]string{strings.Repeat("a", 129)}, false}, {[]string{"a\x1fb"}, false}, {[]string{"a\x7f"}, false}, {[]string{"é"}, false},
		{[]string{"a\r\nb"}, false}, {[]string{"a", "b"}, true}, {[]string{"", "b"}, false}, {[]string{"a\tb", "b"}, false},
	} {
		rec := traced(echo, c.given...)
		id := rec.Header().Get("X-Trace-Id")
		if rec.Code != 200 || rec.Header().Get("X-Content-Type-Options") != "nosniff" || (c.kept && id != c.given[0]) || (!c.kept && !drawn.MatchString(id)) || !strings.Contains(rec.Body.String(), id) {
			t.Errorf("%q: %d %q %s", c.given, rec.Code, id, rec.Body)
		}
	}
	first, second := traced(echo), traced(echo)
	if first.Header().Get("X-Trace-Id") == second.Header().Get("X-Trace-Id") {
		t.Error("two requests have one trace id")
	}
}

// The log line of a request names its partner if that is known, and has the level
// that the handler chose.
func TestRequestLine(t *testing.T) {
	for want, handler := range map[string]http.HandlerFunc{
		"level=INFO msg=request method=GET path=/v1/x status=200 bytes=5 trace_id=t-1 partner=ptn_1\n": func(w http.ResponseWriter, r *http.Request) {
			WriterOf(w).Partner = "ptn_1"
			echo(w, r)
		},
		"level=INFO msg=request method=GET path=/v1/x status=200 bytes=5 trace_id=t-1\n": echo,
		"": func(w http.ResponseWriter, r *http.Request) {
			WriterOf(w).Level = slog.LevelDebug
			echo(w, r)
		},
	} {
		var log strings.Builder
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "time" || a.Key == "took" {
				return slog.Attr{}
			}
			return a
		}}))
		r := httptest.NewRequest("GET", "/v1/x", nil)
		r.Header[TraceHeader] = []string{"t-1"}
		Trace(env.Env{}, logger, handler).ServeHTTP(httptest.NewRecorder(), r)
		if log.String() != want {
			t.Errorf("%q, want %q", log.String(), want)
		}
	}
}

func TestPanicIsA500(t *testing.T) {
	rec := traced(func(http.ResponseWriter, *http.Request) { panic("secret") }, "t-1")
	var e errorBody
	if err := json.Unmarshal(rec.Body.Bytes(), &e); err != nil || rec.Code != 500 || e.Code != "internal" || e.TraceID != "t-1" || strings.Contains(rec.Body.String(), "secret") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

// A partial answer cannot be taken back, so nothing is added to it.
func TestPanicAfterTheAnswerBegan(t *testing.T) {
	rec := traced(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half") // writing to a recorder cannot fail
		panic("late")
	})
	if rec.Code != 200 || rec.Body.String() != "half" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestAbortPanicsOn(t *testing.T) {
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("recovered %v", v)
		}
	}()
	traced(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

func TestErrorTable(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{commerce.Invalid("f", "no"), 400, "invalid_body"}, {commerce.Partner{StoreIDs: []string{"sto_2"}}.MayUse("sto_1"), 403, "store_not_allowed"}, {commerce.NotFound("x"), 404, "not_found"},
		{commerce.Conflict("c", "no"), 409, "c"}, {&Error{Status: 429, Code: "r"}, 429, "r"}, {errors.New("secret"), 500, "internal"},
		{errors.Join(&Error{Status: 500, Code: "unavailable", Message: "m"}, errors.New("secret")), 500, "unavailable"},
	} {
		rec := traced(func(w http.ResponseWriter, _ *http.Request) { WriteError(WriterOf(w), c.err) })
		var e errorBody
		if err := json.Unmarshal(rec.Body.Bytes(), &e); err != nil || rec.Code != c.status || e.Code != c.code || e.OK || e.TraceID == "" ||
			strings.Contains(rec.Body.String(), "secret") || rec.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%v: %d %s", c.err, rec.Code, rec.Body)
		}
	}
}

// An internal error is logged as an error. A failure that the service foresaw has the
// level that its handler chose.
func TestErrorLevels(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("disk"), "level=ERROR msg=\"request failed\" code=internal error=disk"},
		{errors.Join(&Error{Status: 500, Code: "unavailable", Log: slog.LevelError}, errors.New("disk")), "level=ERROR"},
		{&Error{Status: 500, Code: "payment_not_configured", Log: slog.LevelWarn}, "level=WARN msg=\"request failed\" code=payment_not_configured"},
		{&Error{Status: 502, Code: "payment_processor_error", Message: "declined"}, "level=INFO msg=\"request failed\" code=payment_processor_error error=declined"},
		{&Error{Status: 409, Code: "wrong_status", Log: slog.LevelError}, ""},
	} {
		var logged strings.Builder
		slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
		traced(func(w http.ResponseWriter, _ *http.Request) { WriteError(WriterOf(w), c.err) })
		if !strings.Contains(logged.String(), c.want) || c.want == "" && strings.Contains(logged.String(), "failed") {
			t.Errorf("%v is logged as %s, want %s", c.err, logged.String(), c.want)
		}
	}
}
