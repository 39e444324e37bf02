package payment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"purveyor/internal/commerce"
)

// maxStripeCallback is a number of bytes.
const maxStripeCallback = 256 << 10

const stripeSignature = "Stripe-Signature"

// stripeEvent holds the fields of an event that we use. The library's type fails on
// events of other versions of the API, and the operator chooses the version of an
// endpoint.
type stripeEvent struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Type   string `json:"type"`
	Data   struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

// stripeObject is the subject of an event: a session, a payment intent, a charge, a
// refund or a dispute. Any field may be absent.
type stripeObject struct {
	ID               string            `json:"id"`
	Metadata         map[string]string `json:"metadata"`
	PaymentIntent    reference         `json:"payment_intent"`
	Charge           reference         `json:"charge"`
	Currency         string            `json:"currency"`
	Amount           int64             `json:"amount"`
	AmountTotal      *int64            `json:"amount_total"`
	PaymentStatus    string            `json:"payment_status"`
	Status           string            `json:"status"`
	Reason           string            `json:"reason"`
	FailureReason    string            `json:"failure_reason"`
	LastPaymentError struct {
		Message string `json:"message"`
	} `json:"last_payment_error"`
}

// reference is the id of another object. Stripe writes the id alone, or the whole
// object if it was asked to expand the field.
type reference string

// UnmarshalJSON reads both forms. It reads one level only, however deep the JSON is
// nested: reading each level again would take quadratic time.
func (r *reference) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return json.Unmarshal(data, (*string)(r))
	}
	var whole struct {
		ID string `json:"id"`
	}
	err := json.Unmarshal(data, &whole)
	*r = reference(whole.ID)
	return err
}

// stripeReader translates an event and its subject.
type stripeReader func(*Stripe, context.Context, stripeEvent, stripeObject) ([]Callback, error)

// stripeReaders are the readers of the events that we use.
var stripeReaders = map[string]stripeReader{
	"checkout.session.completed":               (*Stripe).sessionCallback,
	"checkout.session.async_payment_succeeded": (*Stripe).sessionCallback,
	"checkout.session.async_payment_failed":    (*Stripe).sessionCallback,
	"checkout.session.expired":                 (*Stripe).sessionCallback,
	"payment_intent.payment_failed":            (*Stripe).declinedCallback, // the customer may try another card
	"refund.created":                           owned((*Stripe).refundCallback),
	"refund.updated":                           owned((*Stripe).refundCallback),
	"refund.failed":                            owned((*Stripe).refundCallback),
	"charge.refund.updated":                    owned((*Stripe).refundCallback),
	"charge.refunded":                          owned((*Stripe).chargeCallbacks),
	"charge.dispute.created":                   owned((*Stripe).disputeCallback),
}

// ReadCallback reads an event. Other systems may use the same account, so an event
// without an order of ours is of no interest. Nor is an event in another currency,
// because we open no such session; it is logged.
func (s *Stripe) ReadCallback(ctx context.Context, header http.Header, body []byte) ([]Callback, error) {
	e, err := s.readEvent(header, body)
	if err != nil {
		return nil, err
	}
	read, ok := stripeReaders[e.Type]
	if !ok {
		return nil, nil
	}
	var o stripeObject
	if err := json.Unmarshal(e.Data.Object, &o); err != nil {
		return nil, &BadCallback{Reason: s.clean(e.Type + ": " + err.Error())}
	}
	ctx, cancel := s.env.WithTimeout(ctx, s.timeout)
	defer cancel()
	return read(s, ctx, e, o)
}

// CallbackForm implements Processor.
func (*Stripe) CallbackForm() (headers []string, maxBytes int) {
	return []string{stripeSignature}, maxStripeCallback
}

// readEvent returns the event if one of our secrets has signed it.
func (s *Stripe) readEvent(header http.Header, body []byte) (stripeEvent, error) {
	err := stripe.ErrWebhookNoValidSignature
	for _, secret := range s.secrets {
		err = stripe.ValidatePayload(body, header.Get(stripeSignature), secret, stripe.WithTolerance(stripe.WebhookDefaultTolerance))
		if !errors.Is(err, stripe.ErrWebhookNoValidSignature) {
			break
		}
	}
	if err != nil {
		return stripeEvent{}, &BadCallback{Reason: err.Error()}
	}
	var e stripeEvent
	if err := json.Unmarshal(body, &e); err != nil {
		return stripeEvent{}, &BadCallback{Reason: s.clean(err.Error())}
	}
	if e.Object != "event" || e.ID == "" {
		return stripeEvent{}, &BadCallback{Reason: "it is not a Stripe event (a thin one has no data; choose snapshot events)"}
	}
	return e, nil
}

// orderOf reads the order's id from our metadata; empty: the object is not ours.
func orderOf(metadata map[string]string) string {
	if _, ok := commerce.StoreNoOfOrder(metadata[metaOrder]); !ok {
		return ""
	}
	return metadata[metaOrder]
}

func (s *Stripe) sessionCallback(ctx context.Context, e stripeEvent, o stripeObject) ([]Callback, error) {
	n := Callback{ID: e.ID, OrderID: orderOf(o.Metadata), SessionID: o.ID}
	if n.OrderID == "" {
		return nil, nil
	}
	switch {
	case e.Type == "checkout.session.expired":
		n.Kind = CallbackExpired
	case e.Type == "checkout.session.async_payment_failed":
		n.Kind, n.PaymentID, n.Message = CallbackDeclined, string(o.PaymentIntent), "the payment did not go through"
	case o.PaymentStatus == "" || o.AmountTotal == nil || o.Currency == "":
		return s.readSessionCallback(ctx, n) // sent by an old version of the API
	case o.PaymentStatus == string(stripe.CheckoutSessionPaymentStatusUnpaid):
		n.Kind, n.PaymentID = CallbackPending, string(o.PaymentIntent)
	case !s.dollars(ctx, e, o.Currency):
		return nil, nil
	default:
		n.Kind, n.PaymentID, n.AmountCents = CallbackPaid, string(o.PaymentIntent), commerce.Cents(*o.AmountTotal)
	}
	return []Callback{n}, nil
}

// readSessionCallback asks Stripe for what the event leaves out.
func (s *Stripe) readSessionCallback(ctx context.Context, n Callback) ([]Callback, error) {
	session, err := s.Session(ctx, n.SessionID)
	switch {
	case refused(err):
		return nil, nil // the session of another account
	case err != nil:
		return nil, err
	case session.Status == SessionPaid:
		n.Kind, n.PaymentID, n.AmountCents = CallbackPaid, session.PaymentID, session.PaidCents
	case session.Status == SessionPending:
		n.Kind = CallbackPending
	default:
		return nil, nil
	}
	return []Callback{n}, nil
}

func (s *Stripe) declinedCallback(_ context.Context, e stripeEvent, o stripeObject) ([]Callback, error) {
	order := orderOf(o.Metadata)
	if order == "" {
		return nil, nil
	}
	return []Callback{{
		ID: e.ID, Kind: CallbackDeclined, OrderID: order, PaymentID: o.ID,
		Message: s.clean(cmp.Or(o.LastPaymentError.Message, "the payment did not go through")),
	}}, nil
}

// owned reads an event about the money of an order of ours. The callback that read
// gets names the order and the payment.
func owned(read func(*Stripe, context.Context, Callback, stripeObject) ([]Callback, error)) stripeReader {
	return func(s *Stripe, ctx context.Context, e stripeEvent, o stripeObject) ([]Callback, error) {
		order, payment, err := s.owner(ctx, o)
		if err != nil || order == "" || !s.dollars(ctx, e, o.Currency) {
			return nil, err
		}
		return read(s, ctx, Callback{ID: e.ID, OrderID: order, PaymentID: payment}, o)
	}
}

func (s *Stripe) refundCallback(_ context.Context, n Callback, refund stripeObject) ([]Callback, error) {
	return []Callback{s.refunded(n, refund)}, nil
}

func (s *Stripe) refunded(n Callback, refund stripeObject) Callback {
	n.Kind, n.AmountCents = CallbackRefunded, commerce.Cents(refund.Amount)
	n.RefundID, n.OurRefundID = refund.ID, refund.Metadata[metaRefund]
	if refundFailed(refund.Status) {
		n.Kind, n.Message = CallbackRefundFailed, s.clean(cmp.Or(refund.FailureReason, refund.Status))
	}
	return n
}

// chargeCallbacks reads the refunds of a charge. The event holds their sum, and the
// single refunds only in old versions of the API.
func (s *Stripe) chargeCallbacks(ctx context.Context, n Callback, charge stripeObject) ([]Callback, error) {
	refunds, err := s.refunds(ctx, &stripe.RefundListParams{Charge: stripe.String(charge.ID)})
	if err != nil {
		return nil, err
	}
	var callbacks []Callback
	for _, r := range refunds {
		one := n
		one.ID += "/" + r.ID
		callbacks = append(callbacks, s.refunded(one, stripeObject{
			ID: r.ID, Amount: r.Amount, Metadata: r.Metadata, Status: string(r.Status), FailureReason: string(r.FailureReason),
		}))
	}
	return callbacks, nil
}

func (s *Stripe) disputeCallback(_ context.Context, n Callback, dispute stripeObject) ([]Callback, error) {
	n.Kind, n.AmountCents, n.Message = CallbackDisputed, commerce.Cents(dispute.Amount), s.clean(dispute.Reason)
	return []Callback{n}, nil
}

// owner finds the order and the payment of an object. Objects that were made in the
// dashboard do not carry the order's id, but their payment does.
func (s *Stripe) owner(ctx context.Context, o stripeObject) (order, payment string, err error) {
	order, payment = orderOf(o.Metadata), string(o.PaymentIntent)
	if payment == "" && o.Charge != "" {
		charge, err := s.client.V1Charges.Retrieve(ctx, string(o.Charge), nil)
		if err != nil {
			return "", "", s.unowned(ctx, "read a charge", err)
		}
		order = cmp.Or(order, orderOf(charge.Metadata))
		if charge.PaymentIntent != nil {
			payment = charge.PaymentIntent.ID
		}
	}
	if order == "" && payment != "" {
		intent, err := s.client.V1PaymentIntents.Retrieve(ctx, payment, nil)
		if err != nil {
			return "", "", s.unowned(ctx, "read a payment", err)
		}
		order = orderOf(intent.Metadata)
	}
	return order, payment, nil
}

// unowned drops the error if Stripe does not find the object: then it belongs to
// another account.
func (s *Stripe) unowned(ctx context.Context, doing string, err error) error {
	if err = s.failure(ctx, doing, err); refused(err) {
		return nil
	}
	return err
}

func (s *Stripe) dollars(ctx context.Context, e stripeEvent, currency string) bool {
	if strings.EqualFold(currency, string(stripe.CurrencyUSD)) {
		return true
	}
	s.log.WarnContext(ctx, "payment event is not in dollars and was left out", "event", e.ID, "type", e.Type, "currency", currency)
	return false
}
