package purveyor

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"
)

// EventsService is about what happened to your orders.
type EventsService struct{ client *Client }

// List reads one page of events, oldest first.
func (s *EventsService) List(ctx context.Context, query ListEventsQuery, options ...Option) (*EventList, error) {
	return call(ctx, s.client, opListEvents, nil, query, nil, options...)
}

// Get reads an event, and how far it has come to each endpoint.
func (s *EventsService) Get(ctx context.Context, eventID string, options ...Option) (*EventReply, error) {
	return call(ctx, s.client, opGetEvent, []string{eventID}, none{}, nil, options...)
}

// Attempts lists the newest attempts to deliver an event, oldest first.
func (s *EventsService) Attempts(ctx context.Context, eventID string, query ListEventAttemptsQuery, options ...Option) (*EventAttempts, error) {
	return call(ctx, s.client, opListEventAttempts, []string{eventID}, query, nil, options...)
}

// Resend sends an event again.
func (s *EventsService) Resend(ctx context.Context, eventID string, body ResendRequest, options ...Option) (*ResendReply, error) {
	return call(ctx, s.client, opResendEvent, []string{eventID}, none{}, &body, options...)
}

// Following says how to follow events; each zero value is a default.
type Following struct {
	Kinds []EventKind   // only these
	Since UnixMillis    // only events of this time and later
	Limit int64         // of a page; 300
	Every time.Duration // between two looks when there is nothing new; 5 s

	// OnError is told of each failure that passes: Follow waits and goes on.
	OnError func(error)
}

// Followed is an event, and where to go on.
type Followed struct {
	Event WebhookEvent `json:"event"`

	// Cursor is where to follow again once this event is handled. It skips nothing; the
	// events since the last page began may come again, which their ids tell.
	Cursor string `json:"cursor"`
}

// longestWait is the longest time between two looks while the service fails.
const longestWait = time.Minute

// Follow ranges over the events behind a cursor, oldest first, and then over each new one. The
// empty cursor begins with the oldest event that is kept. It ends when the context does, when
// the loop is left, and after an error that would not pass, such as that of a revoked key.
func (s *EventsService) Follow(ctx context.Context, cursor string, f Following, options ...Option) iter.Seq2[Followed, error] {
	query := ListEventsQuery{Cursor: cursor, Since: f.Since, Limit: f.Limit, Types: joinKinds(f.Kinds)}
	if query.Limit == 0 {
		query.Limit = longestPage
	}
	if f.Every <= 0 {
		f.Every = 5 * time.Second
	}
	options = append(options, WithTries(1)) // the loop is the repeat
	return func(yield func(Followed, error) bool) {
		wait := f.Every
		for {
			page, err := s.List(ctx, query, options...)
			if err != nil {
				if err = s.client.outlast(ctx, err, f.OnError, &wait); err != nil {
					yield(Followed{}, err)
					return
				}
				continue
			}
			wait = f.Every
			next := Value(page.NextCursor)
			for i, event := range page.Events {
				at := query.Cursor
				if i == len(page.Events)-1 {
					at = next
				}
				if !yield(Followed{event, at}, nil) {
					return
				}
			}
			behind := next != query.Cursor
			if n := len(page.Events); n > 0 {
				behind = n >= int(query.Limit) || time.Since(page.Events[n-1].Timestamp) > f.Every
			}
			query.Cursor = next
			if behind {
				continue
			}
			if err := s.client.options.Sleep(ctx, f.Every); err != nil {
				yield(Followed{}, cancelled(err, 0))
				return
			}
		}
	}
}

func joinKinds(kinds []EventKind) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	return strings.Join(names, ",")
}

// outlast waits after a failure that passes: as long as the service asks, and at least twice
// as long as the last time, up to a minute. It returns an error that would not pass.
func (c *Client) outlast(ctx context.Context, err error, tell func(error), wait *time.Duration) error {
	var e *Error
	if !errors.As(err, &e) || !e.SafeToRepeat || e.Code == CodeCancelled {
		return err
	}
	if tell != nil {
		tell(err)
	}
	*wait = min(2**wait, longestWait)
	spread := *wait/2 + time.Duration(c.random()*float64(*wait/2))
	if err := c.options.Sleep(ctx, max(spread, e.RetryAfter)); err != nil {
		return cancelled(err, 0)
	}
	return nil
}
