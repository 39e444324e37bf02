package service

import (
	"context"
)

// CountReplies stores how many bytes of replies this process has added since the last
// call, and reads the totals of all partners. The limit on stored replies holds as of the
// last count, so call it every few seconds, and when the process stops.
func (s *Service) CountReplies(ctx context.Context) error {
	stored, err := s.stored.CountReplies(ctx, s.millis())
	if err != nil {
		return err
	}
	s.replies.Store(&stored)
	return nil
}
