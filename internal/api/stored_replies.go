package api

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// storedReplies knows how many bytes of replies each partner has stored, as of
// the last count.
type storedReplies struct {
	most  int64 // of a partner with the default rate limit
	bytes atomic.Pointer[map[string]int64]
}

// full reports whether the partner has as much stored as it may. A higher rate
// limit allows more, in proportion.
func (s *storedReplies) full(p commerce.Partner) bool {
	stored := s.bytes.Load()
	if stored == nil {
		return false
	}
	most := float64(s.most) * max(1, float64(p.RateLimit)/commerce.DefaultRateLimit)
	return float64((*stored)[p.ID]) >= most
}

// CountReplies writes down what was stored since the last call, and finds out how
// much each partner has stored. The limit on stored replies holds by the last
// count, so it is called every few seconds, and when the process stops.
func (a *API) CountReplies(ctx context.Context) error {
	stored, err := a.engine.CountReplies(ctx, commerce.MillisOf(a.now()))
	if err != nil {
		return err
	}
	bytes := map[string]int64(stored)
	a.stored.bytes.Store(&bytes)
	return nil
}

// roomForReply refuses a new call with an idempotency key when no more replies of
// the partner can be stored. A repeat is answered as ever.
func (a *API) roomForReply(r *request, key commerce.ReplyKey) error {
	if !a.stored.full(r.Partner) || r.Header.Get("Idempotency-Key") == "" {
		return nil
	}
	if _, err := a.reader.Reply(r.Context(), key); !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return &web.Error{Status: http.StatusTooManyRequests, Code: "too_many_replies", RetryAfter: 60,
		Message: "Too much is stored for repeats of your calls of the last 72 hours; new calls with an Idempotency-Key are taken again when the oldest are over that age"}
}
