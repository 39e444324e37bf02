package purveyor

import "context"

// SandboxService plays what happens beside you in test mode. It needs a test key.
type SandboxService struct{ client *Client }

// Faults lists your faults that still hit something. The list has no pages.
func (s *SandboxService) Faults(ctx context.Context, options ...Option) (*FaultList, error) {
	return call(ctx, s.client, opListFaults, nil, none{}, nil, options...)
}

// Fault has your next calls go wrong.
func (s *SandboxService) Fault(ctx context.Context, body NewFault, options ...Option) (*FaultReply, error) {
	return call(ctx, s.client, opMakeFault, nil, none{}, &body, options...)
}

// ClearFaults ends all of your faults. It may be repeated.
func (s *SandboxService) ClearFaults(ctx context.Context, options ...Option) (*ClearedFaults, error) {
	return call(ctx, s.client, opClearFaults, nil, none{}, nil, append(options, harmless)...)
}

// Trigger plays a test order until an event has happened.
func (s *SandboxService) Trigger(ctx context.Context, body TriggerRequest, options ...Option) (*TriggerReply, error) {
	return call(ctx, s.client, opTriggerEvent, nil, none{}, &body, options...)
}

// Act has the customer, the courier, the bank or the merchant of a test order act.
func (s *SandboxService) Act(ctx context.Context, orderID string, body SandboxActRequest, options ...Option) (*SandboxActReply, error) {
	return call(ctx, s.client, opActInSandbox, []string{orderID}, none{}, &body, options...)
}
