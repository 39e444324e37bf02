package service

import (
	"context"

	"purveyor/internal/storage"
)

// CountEvents returns how many events ReplayEvents would send again, at most most+1.
func (s *Service) CountEvents(ctx context.Context, in ReplayEvents, most int) (n int, err error) {
	f := storage.EventFilter{PartnerID: in.PartnerID, Kinds: in.Kinds, Since: in.Since, Until: in.Until, Limit: ReplayStep}
	for more := true; more && n <= most; {
		page, err := s.reader.EventPage(ctx, f)
		if err != nil {
			return n, err
		}
		f.After, more = page.Through, page.More
		ids, err := s.wanted(ctx, in, page.Events)
		if err != nil {
			return n, err
		}
		n += len(ids)
	}
	return min(n, most+1), nil
}
