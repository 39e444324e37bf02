package payment

import (
	"context"
	"time"

	"purveyor/internal/outside/sandbox"
)

// The acts on a session of the sandbox, by their names in the API.
const (
	ActPay           = "pay"            // the customer pays, as on the page
	ActDecline       = "decline"        // the bank declines the card; the session stays open
	ActPayLate       = "pay_late"       // the customer pays, also after the end of the session; it is told after Delay
	ActExpireSession = "expire_session" // the time of the session is over
	ActFailRefund    = "refund_fail"    // the money of the last refund comes back
)

// Act has a customer or a bank act on a session. Errors: sandbox.ErrWrongState,
// sandbox.ErrKeyReused, a Refusal for an unknown session.
func (s *Sandbox) Act(ctx context.Context, id string, a sandbox.Act) error {
	if _, err := s.change(ctx, id, lapse); err != nil { // its end is stored even if the act is refused for it
		return err
	}
	_, err := s.change(ctx, id, func(x *session, now time.Time) error {
		done, err := x.Acts.Has(a)
		if done || err != nil {
			return err
		}
		if !x.allows(a.Name, now) {
			return sandbox.ErrWrongState
		}
		x.Acts.Add(a)
		x.act(a.Name, now, s.Delay)
		return nil
	})
	return err
}

// allows reports whether an act would change the session.
func (x *session) allows(act string, now time.Time) bool {
	open := x.Status == SessionOpen
	switch act {
	case ActPay, ActExpireSession:
		return open
	case ActDecline:
		return open && x.Declines < maxDeclines
	case ActPayLate:
		return open || x.Status == SessionExpired
	case ActFailRefund:
		return x.lastRefund(now) != nil
	}
	return false
}

func (x *session) act(act string, now time.Time, delay time.Duration) {
	switch act {
	case ActPay:
		x.pay("", now, delay)
	case ActDecline:
		x.decline("", now)
	case ActPayLate:
		x.paid(delay)
	case ActExpireSession:
		x.expire()
	case ActFailRefund:
		r := x.lastRefund(now)
		r.FailsOn = now.UnixMilli()
		x.post(0, Callback{Kind: CallbackRefundFailed, PaymentID: x.PaymentID, AmountCents: r.AmountCents, RefundID: r.ID, OurRefundID: r.OurID, Message: sentBack})
	}
}

// lastRefund is the newest refund that has not failed; nil: there is none.
func (x *session) lastRefund(now time.Time) *refund {
	for i := len(x.Refunds) - 1; i >= 0; i-- {
		if r := &x.Refunds[i]; r.FailsOn == 0 || now.UnixMilli() < r.FailsOn {
			return r
		}
	}
	return nil
}
