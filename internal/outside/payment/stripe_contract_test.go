package payment_test

import (
	"net/http"
	"testing"
	"time"

	"purveyor/internal/outside/payment"
	"purveyor/internal/testkit/fakestripe"
	"purveyor/internal/testkit/paymenttest"
)

func TestStripeContract(t *testing.T) {
	paymenttest.Run(t, func(t *testing.T) paymenttest.Harness {
		server := fakestripe.New(t)
		return standIn{server, payment.NewStripe(payment.StripeOptions{Key: server.Key, WebhookSecrets: []string{server.Secret}, URL: server.URL})}
	})
}

type standIn struct {
	*fakestripe.Server
	stripe *payment.Stripe
}

func (s standIn) Processor() payment.Processor { return s.stripe }

func (s standIn) Pay(_ *testing.T, session payment.Session) { _ = s.Server.Pay(session.ID) } // a session that is over takes no payment

func (s standIn) Decline(t *testing.T, session payment.Session) {
	if err := s.Server.Decline(session.ID); err != nil {
		t.Fatal(err)
	}
}

func (s standIn) Lapse(t *testing.T, session payment.Session) {
	if err := s.Server.Lapse(session.ID); err != nil {
		t.Fatal(err)
	}
}

func (s standIn) Posted(*testing.T) []paymenttest.Post {
	var posts []paymenttest.Post
	for _, event := range s.Take() {
		posts = append(posts, paymenttest.Post{Header: event.Header(), Body: event.Body})
	}
	return posts
}

func (s standIn) Sign(_ *testing.T, body []byte, at time.Time) http.Header {
	return fakestripe.Sign(body, at, s.Secret)
}
