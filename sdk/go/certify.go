package purveyor

import "context"

// CertifyService plays the script that an integration passes before it sells. It needs a test key.
type CertifyService struct{ client *Client }

// Start begins a run. There is one at a time.
func (s *CertifyService) Start(ctx context.Context, body NewCertification, options ...Option) (*CertificationReply, error) {
	return call(ctx, s.client, opStartCertification, nil, none{}, &body, options...)
}

// Get reads your newest run.
func (s *CertifyService) Get(ctx context.Context, runID string, options ...Option) (*CertificationFound, error) {
	return call(ctx, s.client, opGetCertification, []string{runID}, none{}, nil, options...)
}

// Ack names the events that are in your books. It may be repeated.
func (s *CertifyService) Ack(ctx context.Context, body CertificationAck, options ...Option) (*CertificationAcked, error) {
	return call(ctx, s.client, opAckCertification, nil, none{}, &body, append(options, harmless)...)
}
