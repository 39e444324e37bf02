package service

import (
	"context"
	"sync/atomic"

	"purveyor/internal/commerce"
)

// storedReplies is the number of bytes of replies that each partner has stored, as of the
// last count.
type storedReplies struct {
	bytes atomic.Pointer[map[string]int64]
}

// full reports whether the partner has reached the limit of stored replies. The limit is
// most bytes with the default rate limit, and in proportion more with a higher one.
func (r *storedReplies) full(p commerce.Partner, most int64) bool {
	stored := r.bytes.Load()
	if stored == nil {
		return false
	}
	return float64((*stored)[p.ID]) >= float64(most)*max(1, float64(p.RateLimit)/commerce.DefaultRateLimit)
}

// CountReplies stores how many bytes of replies this process has added since the last
// call, and reads the totals of all partners. The limit on stored replies holds as of the
// last count, so call it every few seconds, and when the process stops.
func (s *Service) CountReplies(ctx context.Context) error {
	stored, err := s.stored.CountReplies(ctx, s.millis())
	if err != nil {
		return err
	}
	bytes := map[string]int64(stored)
	s.replies.bytes.Store(&bytes)
	return nil
}
