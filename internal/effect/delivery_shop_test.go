package effect

import (
	"fmt"

	"purveyor/internal/commerce"
)

// history is the timeline of an order but for courier updates, which come by
// the clock. These are at least so far apart as they must be.
func (s *shop) history(key commerce.OrderKey) (told []string) {
	s.T.Helper()
	var last int64
	for _, e := range s.Timeline(key) {
		if e.Kind == commerce.TimelineCourierUpdate {
			if e.CreatedOn.Sub(commerce.Millis(last)) < commerce.CourierUpdateEvery {
				s.T.Errorf("courier updates at %d and %d", last, e.CreatedOn)
			}
			last = int64(e.CreatedOn)
			continue
		}
		told = append(told, fmt.Sprintf("%s (%s, %q) %s", e.Kind, e.Status, e.CourierStatus, e.Message))
	}
	return told
}

// webhooks is what the partner of an order is told, in the order of the
// commits, but for courier updates. Its timestamps go up.
func (s *shop) webhooks(o commerce.Order) (told []string) {
	s.T.Helper()
	var last int64
	for _, e := range s.Events(o.PartnerID) {
		if e.OrderID != o.ID {
			continue
		}
		if e.Timestamp <= commerce.Millis(last) {
			s.T.Errorf("%s at %d, after %d", e.Kind, e.Timestamp, last)
		}
		if last = int64(e.Timestamp); e.Kind != commerce.WebhookCourierUpdate {
			told = append(told, string(e.Kind))
		}
	}
	return told
}
