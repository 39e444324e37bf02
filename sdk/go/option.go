package purveyor

import (
	"net/http"
	"time"
)

// Option changes one call.
type Option func(*settings)

// settings are those of one call.
type settings struct {
	idempotencyKey string
	header         http.Header
	answer         *Answer
	tries          int
	tryTimeout     time.Duration
	totalTimeout   time.Duration
	harmless       bool // a POST that changes nothing, or nothing more when it is repeated
}

// WithIdempotencyKey gives the call a key of your own, such as the number of your order. All
// tries send it, and so should a repeat of the call. Without it a key is drawn.
func WithIdempotencyKey(key string) Option { return func(s *settings) { s.idempotencyKey = key } }

// WithTraceID gives the request an id of your own, which the service logs and answers.
func WithTraceID(id string) Option { return WithHeader("X-Trace-Id", id) }

// WithHeader sends a header.
func WithHeader(name, value string) Option {
	return func(s *settings) { s.header.Set(name, value) }
}

// WithIfNoneMatch asks for an answer only if it differs from an earlier one, whose header ETag is
// given. If it does not, the error has the code CodeNotModified.
func WithIfNoneMatch(etag string) Option { return WithHeader("If-None-Match", etag) }

// WithAnswer stores the answer as it came, that of the last page if there are several.
func WithAnswer(a *Answer) Option { return func(s *settings) { s.answer = a } }

// WithTries bounds how often the request is sent. 1 sends it once.
func WithTries(n int) Option { return func(s *settings) { s.tries = max(1, n) } }

// WithTimeouts bounds one try, and all tries with the waits between them.
func WithTimeouts(try, total time.Duration) Option {
	return func(s *settings) { s.tryTimeout, s.totalTimeout = try, total }
}

// harmless marks a POST that changes nothing, or nothing more when it is repeated.
func harmless(s *settings) { s.harmless = true }
