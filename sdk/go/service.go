package purveyor

import "context"

// ServiceService is about the service itself.
type ServiceService struct{ client *Client }

// Health confirms that the key works, and says whose it is.
func (s *ServiceService) Health(ctx context.Context, options ...Option) (*HealthReply, error) {
	return call(ctx, s.client, opGetHealth, nil, none{}, nil, options...)
}

// Live succeeds while the process runs.
func (s *ServiceService) Live(ctx context.Context, options ...Option) error {
	_, err := call(ctx, s.client, opGetLiveness, nil, none{}, nil, options...)
	return err
}

// Ready succeeds while the service can answer requests.
func (s *ServiceService) Ready(ctx context.Context, query GetReadinessQuery, options ...Option) (*Readiness, error) {
	return call(ctx, s.client, opGetReadiness, nil, query, nil, options...)
}

// Document returns the OpenAPI document as YAML.
func (s *ServiceService) Document(ctx context.Context, options ...Option) ([]byte, error) {
	var a Answer
	_, err := call(ctx, s.client, opGetOpenapiDocument, nil, none{}, nil, append(options, WithHeader("Accept", "application/yaml"), WithAnswer(&a))...)
	return a.Body, err
}

// DocumentJSON returns the OpenAPI document as JSON.
func (s *ServiceService) DocumentJSON(ctx context.Context, options ...Option) (*Document, error) {
	return call(ctx, s.client, opGetOpenapiJSON, nil, none{}, nil, options...)
}
