package payment_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/payment/paymenttest"
	"purveyor/internal/outside/payment/stripetest"
)

func TestStripeContract(t *testing.T) {
	paymenttest.Run(t, func(t *testing.T) paymenttest.Harness { return stripeAccount{stripetest.New(t)} })
}

type stripeAccount struct{ server *stripetest.Server }

func (a stripeAccount) Processor() payment.Processor {
	return realOrders{payment.NewStripe(payment.StripeOptions{Key: a.server.Key, WebhookSecrets: []string{a.server.Secret}, URL: a.server.URL})}
}

func (a stripeAccount) Pay(_ *testing.T, session payment.Session) {
	_ = a.server.Pay(session.ID) // the page of a session that is over takes nothing
}

func (a stripeAccount) Decline(t *testing.T, session payment.Session) {
	if err := a.server.Decline(session.ID); err != nil {
		t.Error(err)
	}
}

func (a stripeAccount) Lapse(t *testing.T, session payment.Session) {
	if err := a.server.Lapse(session.ID); err != nil {
		t.Error(err)
	}
}

// Posted is what reaches an endpoint that has not chosen charge.refunded, which
// tells of refunds once more.
func (a stripeAccount) Posted(*testing.T) []paymenttest.Post {
	var posts []paymenttest.Post
	for _, e := range a.server.Take() {
		if e.Type != "charge.refunded" {
			posts = append(posts, paymenttest.Post{Header: e.Header(), Body: e.Body})
		}
	}
	return posts
}

func (a stripeAccount) Sign(_ *testing.T, body []byte, at time.Time) http.Header {
	return stripetest.Sign(body, at, a.server.Secret)
}

// realOrders gives the contract's orders ids that are of ours: the account may
// have others.
type realOrders struct{ *payment.Stripe }

func realOrder(id string) string {
	return commerce.NewOrderID(1, 0, commerce.Entropy([]byte(id + "          ")[:10]))
}

func (r realOrders) OpenSession(ctx context.Context, q payment.SessionRequest) (payment.Session, error) {
	q.OrderID = realOrder(q.OrderID)
	return r.Stripe.OpenSession(ctx, q)
}

func (r realOrders) Refund(ctx context.Context, q payment.RefundRequest) (payment.Refund, error) {
	q.OrderID = realOrder(q.OrderID)
	return r.Stripe.Refund(ctx, q)
}

func (r realOrders) ReadNotice(ctx context.Context, header http.Header, body []byte) ([]payment.Notice, error) {
	notices, err := r.Stripe.ReadNotice(ctx, header, body)
	for i, n := range notices {
		for _, id := range []string{"ord_1", "ord_2"} {
			if n.OrderID == realOrder(id) {
				notices[i].OrderID = id
			}
		}
	}
	return notices, err
}
