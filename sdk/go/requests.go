package purveyor

import (
	"context"
	"iter"
)

// RequestsService is about the requests that your programs have sent.
type RequestsService struct{ client *Client }

// List reads one page of requests, newest first.
func (s *RequestsService) List(ctx context.Context, query ListRequestsQuery, options ...Option) (*LoggedRequestList, error) {
	return call(ctx, s.client, opListRequests, nil, query, nil, options...)
}

// All ranges over the requests of all pages.
func (s *RequestsService) All(ctx context.Context, query ListRequestsQuery, options ...Option) iter.Seq2[LoggedRequest, error] {
	return pages(ctx, func(ctx context.Context, cursor string) ([]LoggedRequest, string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		list, err := s.List(ctx, query, options...)
		if err != nil {
			return nil, "", err
		}
		return list.Requests, list.NextCursor, nil
	})
}

// Get reads a request with what was sent and answered.
func (s *RequestsService) Get(ctx context.Context, requestID string, options ...Option) (*LoggedRequestReply, error) {
	return call(ctx, s.client, opGetRequest, []string{requestID}, none{}, nil, options...)
}
