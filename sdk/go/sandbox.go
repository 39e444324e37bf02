package purveyor

import "context"

// SandboxService plays what happens beside you in test mode. It needs a test key.
type SandboxService struct{ client *Client }

// Act has the customer, the courier, the bank or the merchant of a test order act.
func (s *SandboxService) Act(ctx context.Context, orderID string, body SandboxActRequest, options ...Option) (*SandboxActReply, error) {
	return call(ctx, s.client, opActInSandbox, []string{orderID}, none{}, &body, options...)
}
