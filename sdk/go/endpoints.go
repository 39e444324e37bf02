package purveyor

import (
	"context"
	"iter"
)

// EndpointsService is about the URLs to which your events are sent. The secret of an endpoint
// is in one answer only.
type EndpointsService struct{ client *Client }

// List lists your endpoints. The list has no pages.
func (s *EndpointsService) List(ctx context.Context, options ...Option) (*EndpointList, error) {
	return call(ctx, s.client, opListEndpoints, nil, none{}, nil, options...)
}

// Get reads an endpoint and how it fares.
func (s *EndpointsService) Get(ctx context.Context, endpointID string, options ...Option) (*EndpointReply, error) {
	return call(ctx, s.client, opGetEndpoint, []string{endpointID}, none{}, nil, options...)
}

// Create makes an endpoint.
func (s *EndpointsService) Create(ctx context.Context, body NewEndpoint, options ...Option) (*MadeEndpoint, error) {
	return call(ctx, s.client, opMakeEndpoint, nil, none{}, &body, options...)
}

// Update changes what is given.
func (s *EndpointsService) Update(ctx context.Context, endpointID string, body EndpointChange, options ...Option) (*EndpointReply, error) {
	return call(ctx, s.client, opChangeEndpoint, []string{endpointID}, none{}, &body, append(options, harmless)...)
}

// RotateSecret replaces the secret of an endpoint.
func (s *EndpointsService) RotateSecret(ctx context.Context, endpointID string, body SecretRotation, options ...Option) (*RotatedSecret, error) {
	return call(ctx, s.client, opRotateEndpointSecret, []string{endpointID}, none{}, &body, options...)
}

// Pause stops the sending to an endpoint. It may be repeated.
func (s *EndpointsService) Pause(ctx context.Context, endpointID string, options ...Option) (*EndpointReply, error) {
	return call(ctx, s.client, opPauseEndpoint, []string{endpointID}, none{}, nil, append(options, harmless)...)
}

// Resume tries an endpoint at once. It may be repeated.
func (s *EndpointsService) Resume(ctx context.Context, endpointID string, options ...Option) (*EndpointReply, error) {
	return call(ctx, s.client, opResumeEndpoint, []string{endpointID}, none{}, nil, append(options, harmless)...)
}

// Delete takes an endpoint away.
func (s *EndpointsService) Delete(ctx context.Context, endpointID string, options ...Option) (*EndpointReply, error) {
	return call(ctx, s.client, opDeleteEndpoint, []string{endpointID}, none{}, nil, options...)
}

// Test sends an event of kind webhook.test to an endpoint, and waits for the answer.
func (s *EndpointsService) Test(ctx context.Context, endpointID string, options ...Option) (*EndpointTest, error) {
	return call(ctx, s.client, opTestEndpoint, []string{endpointID}, none{}, nil, options...)
}

// Replay sends the events of a time again to an endpoint.
func (s *EndpointsService) Replay(ctx context.Context, endpointID string, body ReplayRequest, options ...Option) (*ReplayReply, error) {
	return call(ctx, s.client, opReplayEvents, []string{endpointID}, none{}, &body, options...)
}

// Attempts reads one page of the attempts at an endpoint, newest first.
func (s *EndpointsService) Attempts(ctx context.Context, endpointID string, query ListEndpointAttemptsQuery, options ...Option) (*AttemptList, error) {
	return call(ctx, s.client, opListEndpointAttempts, []string{endpointID}, query, nil, options...)
}

// AllAttempts ranges over the attempts of all pages.
func (s *EndpointsService) AllAttempts(ctx context.Context, endpointID string, query ListEndpointAttemptsQuery, options ...Option) iter.Seq2[Attempt, error] {
	return pages(ctx, func(ctx context.Context, cursor string) ([]Attempt, string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := s.Attempts(ctx, endpointID, query, options...)
		if err != nil {
			return nil, "", err
		}
		return page.Attempts, page.NextCursor, nil
	})
}
