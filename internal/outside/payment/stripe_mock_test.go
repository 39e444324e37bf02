package payment

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stripe/stripe-go/v85"
)

const stripeMock = "github.com/stripe/stripe-mock@v0.203.0"

// startStripeMock runs Stripe's own mock, which only checks every request against
// Stripe's OpenAPI document. It is installed once into the user's cache.
func startStripeMock(t *testing.T) (url string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves stripe-mock out, a program of its own")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "purveyor", strings.ReplaceAll(filepath.Base(stripeMock), "@", "-"))
	program := filepath.Join(folder, "stripe-mock")
	if _, err := os.Stat(program); err != nil {
		install := exec.Command("go", "install", stripeMock)
		install.Env = append(os.Environ(), "GOBIN="+folder, "GOFLAGS=-mod=mod")
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("these tests need %s, and it cannot be installed (is the Go module proxy reachable?): %v\n%s", stripeMock, err, out)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	mock := exec.CommandContext(ctx, program, "-http-addr", "127.0.0.1:0")
	out, err := mock.StdoutPipe()
	if err == nil {
		err = mock.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = mock.Wait() // it was killed
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, address, ok := strings.Cut(lines.Text(), "Listening for HTTP at address: "); ok {
			return "http://" + address
		}
	}
	t.Fatalf("%s ended at once", stripeMock)
	return ""
}

// Every request of ours has the shape that Stripe's document describes.
func TestStripeRequestShapes(t *testing.T) {
	mock := startStripeMock(t)
	s := NewStripe(StripeOptions{Key: "sk_test_123", URL: mock})
	for name, call := range map[string]func(context.Context) error{
		"open": func(ctx context.Context) error {
			_, err := s.client.V1CheckoutSessions.Create(ctx, sessionParams(request(1)))
			return err
		},
		"open, with nothing optional": func(ctx context.Context) error {
			r := request(1)
			r.CustomerEmail, r.DeliveryFeeCents, r.TaxCents, r.Lines = "", 0, 0, r.Lines[1:]
			_, err := s.client.V1CheckoutSessions.Create(ctx, sessionParams(r))
			return err
		},
		"check":  func(ctx context.Context) error { return s.Check(ctx) },
		"read":   func(ctx context.Context) error { _, err := s.Session(ctx, "cs_test_1"); return err },
		"expire": func(ctx context.Context) error { _, err := s.ExpireSession(ctx, "cs_test_1"); return err },
		"refund": func(ctx context.Context) error {
			_, err := s.Refund(ctx, RefundRequest{ID: "rfd_1", OrderID: newOrderID(1), PaymentID: "pi_1", AmountCents: 100, Reason: "stale bread"})
			return err
		},
		"refund, with a reason": func(ctx context.Context) error {
			_, err := s.Refund(ctx, RefundRequest{ID: "rfd_2", OrderID: newOrderID(1), PaymentID: "pi_1", AmountCents: 100, Reason: "duplicate"})
			return err
		},
		"refunds of a charge": func(ctx context.Context) error {
			_, err := s.refunds(ctx, &stripe.RefundListParams{Charge: stripe.String("ch_1")})
			return err
		},
		"owner": func(ctx context.Context) error {
			_, _, err := s.owner(ctx, stripeObject{Charge: "ch_1"})
			return err
		},
		"owner by payment": func(ctx context.Context) error {
			_, _, err := s.owner(ctx, stripeObject{PaymentIntent: "pi_1"})
			return err
		},
	} {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The mock accepts no live key.
	denied(t, NewStripe(StripeOptions{Key: "sk_live_123", URL: mock}).Check(t.Context()), "does not accept the key")
	// The mock refuses parameters that Stripe does not have.
	for says, spoil := range map[string]func(*stripe.CheckoutSessionCreateParams){
		"additional properties are not allowed": func(p *stripe.CheckoutSessionCreateParams) { p.AddExtra("colour", "red") },
		"'mode' validation failed":              func(p *stripe.CheckoutSessionCreateParams) { p.Mode = stripe.String("barter") },
	} {
		wrong := sessionParams(request(1))
		spoil(wrong)
		if _, err := s.client.V1CheckoutSessions.Create(t.Context(), wrong); err == nil {
			t.Errorf("taken; want %q", says)
		} else {
			refusal(t, s.failure(t.Context(), "open", err), says)
		}
	}
}
