package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/storage"
)

// Sandboxes have the customers, couriers and banks of test orders act on what a sandbox keeps: on a session by its
// id there, on a delivery by our name for it.
type Sandboxes struct {
	Payments, Couriers SandboxActs
}

// SandboxActs is one of them. Errors: sandbox.ErrWrongState, sandbox.ErrKeyReused.
type SandboxActs interface {
	Act(ctx context.Context, name string, a sandbox.Act) error
}

// SandboxName is the name of the sandboxes as providers.
const SandboxName = "sandbox"

// SandboxAct is what someone beside the partner does with a test order.
type SandboxAct struct {
	Order       commerce.Order // as the caller found it; only its unchanging facts are used
	Action      string         // one of SandboxActions
	AmountCents commerce.Cents // of MerchantRefund; 0: all that is left
	Repeat      Repeat
}

// What the merchant does with a test order.
const (
	MerchantConfirm = "merchant_confirm"
	MerchantCancel  = "merchant_cancel" // and gives the money back
	MerchantRefund  = "merchant_refund"
)

// SandboxActions are what can be done with a test order.
var SandboxActions = []string{"pay", "decline", "pay_late", "expire_session", "courier_next", "courier_cancel", "courier_return", "courier_deliver",
	"refund_fail", MerchantConfirm, MerchantCancel, MerchantRefund}

// ActInSandbox has the customer, the courier, the bank or the merchant of a test order act, and returns
// the order after that. The merchant's acts are those of the member of staff "sandbox". Errors: 409 wrong_status if the order is
// not in a state for it; those of ConfirmOrder, CancelOrder and RefundOrder.
func (s *Service) ActInSandbox(ctx context.Context, by Caller, in SandboxAct) (commerce.Order, error) {
	var err error
	switch {
	case strings.HasPrefix(in.Action, "merchant_"):
		err = s.actAsMerchant(ctx, by, in)
	case strings.HasPrefix(in.Action, "courier_"):
		err = s.actAsCourier(ctx, in)
	default:
		err = s.actOnPayment(ctx, in)
	}
	switch {
	case errors.Is(err, sandbox.ErrWrongState):
		err = commerce.Conflict("wrong_status", "The test order is not in a state for %s", in.Action)
	case errors.Is(err, sandbox.ErrKeyReused):
		err = commerce.Conflict("idempotency_key_reused", "Idempotency-Key was used before with a different request")
	}
	if refused, ok := errors.AsType[*ProcessorError](err); ok {
		err = commerce.Conflict("wrong_status", "The refund is refused: %s", refused.Message)
	}
	if err != nil {
		return commerce.Order{}, err
	}
	return s.reader.Order(ctx, in.Order.Key())
}

func (s *Service) actOnPayment(ctx context.Context, in SandboxAct) error {
	paid, err := s.reader.Payment(ctx, in.Order.Key())
	if errors.Is(err, storage.ErrNotFound) || err == nil && (paid.Processor != SandboxName || paid.SessionID == "") {
		return sandbox.ErrWrongState
	}
	if err != nil {
		return err
	}
	err = s.o.Sandboxes.Payments.Act(ctx, paid.SessionID, in.act())
	if _, unknown := errors.AsType[*payment.Refusal](err); unknown {
		return sandbox.ErrWrongState
	}
	return err
}

func (s *Service) actAsCourier(ctx context.Context, in SandboxAct) error {
	d, err := s.reader.Delivery(ctx, in.Order.Key())
	if errors.Is(err, storage.ErrNotFound) {
		return sandbox.ErrWrongState
	}
	if err != nil {
		return err
	}
	err = s.o.Sandboxes.Couriers.Act(ctx, commerce.DeliveryRef(d.OrderID, d.Attempt), in.act())
	if _, unknown := errors.AsType[*courier.Refusal](err); unknown { // it is looked for, or another provider's
		return sandbox.ErrWrongState
	}
	return err
}

// act tells a repeat by a digest, since the keys of partners hold any text.
func (in SandboxAct) act() sandbox.Act {
	a := sandbox.Act{Name: in.Action}
	if k := in.Repeat.Key; k.Key != "" {
		sum := sha256.Sum256([]byte(k.Op + "\n" + k.Key))
		a.Key = hex.EncodeToString(sum[:12])
	}
	return a
}

func (s *Service) actAsMerchant(ctx context.Context, by Caller, in SandboxAct) (err error) {
	by.Actor = commerce.Actor{Kind: commerce.ActorStaff, ID: SandboxName, Mode: commerce.Test, TraceID: by.TraceID, Address: by.Address}
	if in.Action == MerchantConfirm {
		_, err = s.ConfirmOrder(ctx, by, ConfirmOrder{Order: in.Order})
		return err
	}
	if in.Repeat.Key.Key == "" { // the key carries the outcome of the refund to this call
		in.Repeat.Key = commerce.ReplyKey{PartnerID: by.Partner.ID, Op: "sandbox act", Key: s.newID(commerce.PrefixSandbox)}
	}
	if in.Action == MerchantCancel {
		_, err = s.CancelOrder(ctx, by, CancelOrder{Order: in.Order, Reason: cancelledInTest, Refund: true}, Once[Cancelled]{in.Repeat.Key, in.Repeat.Fingerprint,
			func(done Cancelled) (int, []byte) { return http.StatusOK, []byte("{}") }})
		return err
	}
	_, err = s.RefundOrder(ctx, by, RefundOrder{Order: in.Order, AmountCents: in.AmountCents, Reason: refundedInTest},
		Once[commerce.Refund]{in.Repeat.Key, in.Repeat.Fingerprint, func(commerce.Refund) (int, []byte) { return 0, nil }})
	return err
}

const (
	cancelledInTest = "The sandbox plays a merchant that cancels."
	refundedInTest  = "The sandbox plays a merchant that gives money back."
)
