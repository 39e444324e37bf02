package courier_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/couriertest"
	"purveyor/internal/testkit/fakesandbox"
)

func TestSandboxContract(t *testing.T) {
	couriertest.Run(t, func(t *testing.T) couriertest.Harness { return newTown(t, "https://shop.example") })
}

// town is a sandbox with its objects, and a clock that tests set.
type town struct {
	sandbox *courier.Sandbox
	objects *fakesandbox.Objects
	outage  couriertest.Situation // of the objects' storage
	made    atomic.Int64
	ahead   atomic.Int64
}

func newTown(t testing.TB, baseURL string) *town {
	town := &town{objects: &fakesandbox.Objects{}}
	town.objects.AfterPut = func(o sandbox.Object) error {
		if o.Version == 0 && strings.HasPrefix(o.ID, "del_") {
			town.made.Add(1)
		}
		if town.outage == couriertest.AnswerIsLost {
			return errors.New("connection reset")
		}
		return nil
	}
	town.sandbox = courier.NewSandbox(env.Env{}, storage{town.objects, town}, baseURL)
	town.sandbox.Now = town.Now
	// The secret is made when a service starts, not during an outage.
	_, err := sandbox.NewSigner(env.Env{}, town.objects).Sign(t.Context(), time.Now(), nil)
	check.OK(t, err)
	return town
}

// storage wraps the objects so that they can fail.
type storage struct {
	*fakesandbox.Objects
	town *town
}

func (s storage) Object(ctx context.Context, id string) (sandbox.Object, error) {
	if err := s.town.outOfOrder(ctx); err != nil {
		return sandbox.Object{}, err
	}
	return s.Objects.Object(ctx, id)
}

func (s storage) PutObject(ctx context.Context, o sandbox.Object, callbacks ...sandbox.Callback) error {
	if err := s.town.outOfOrder(ctx); err != nil {
		return err
	}
	return s.Objects.PutObject(ctx, o, callbacks...)
}

func (x *town) outOfOrder(ctx context.Context) error {
	switch x.outage {
	case couriertest.Unreachable:
		return errors.New("connection refused")
	case couriertest.Hanging:
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (x *town) Provider() courier.Provider { return x.sandbox }

// asking maps each situation to the tags that cause it.
var asking = map[couriertest.Situation]string{
	couriertest.Fine:          "",
	couriertest.TooFar:        "out-of-zone",
	couriertest.NoCourierFree: "no-couriers",
	couriertest.Unplaceable:   "bad-address",
	couriertest.AlwaysStale:   "quote-expired",
	couriertest.AskedTooOften: "limited",
	couriertest.Unreachable:   "unreachable",
	couriertest.Hanging:       "slow",
	couriertest.AnswerIsLost:  "",
	couriertest.CourierQuits:  "cancel",
	couriertest.GoesBack:      "return",
}

func (x *town) Arrange(t *testing.T, s couriertest.Situation, r courier.CreateRequest) courier.CreateRequest {
	tag, known := asking[s]
	if !known {
		t.Skip("the sandbox speaks no HTTP")
	}
	x.outage = s
	r.Dropoff.Address.Line2 = "Apt 4 sandbox:" + tag
	return r
}

func (x *town) Lapse(*testing.T) { x.ahead.Add(int64(2 * time.Hour)) }

func (x *town) Now() time.Time { return time.Now().Add(time.Duration(x.ahead.Load())) }

// Move takes steps. Each delivery has fewer than a hundred.
func (x *town) Move(t *testing.T, d courier.Delivery, to commerce.CourierStatus) {
	t.Helper()
	for range 100 {
		now, err := x.sandbox.Get(t.Context(), courier.Key{ID: d.ID})
		check.OK(t, err)
		if now.Status == to {
			return
		}
		if !x.step(t, d.ID) {
			break
		}
	}
	t.Fatalf("the delivery never gets to be %s", to)
}

// step takes a step if one is due.
func (x *town) step(t testing.TB, id string) bool {
	t.Helper()
	x.ahead.Add(int64(x.sandbox.StepEvery))
	moved, err := x.objects.Step(t.Context(), x.sandbox, id)
	check.OK(t, err)
	return moved
}

func (x *town) Made(*testing.T) int { return int(x.made.Load()) }

func (x *town) Posted(t *testing.T) []couriertest.Post {
	var posts []couriertest.Post
	for _, n := range x.objects.TakeCallbacks() {
		if n.To != courier.CallbackPath {
			t.Errorf("a callback is posted to %s", n.To)
		}
		posts = append(posts, couriertest.Post{Header: x.Sign(t, n.Body), Body: n.Body})
	}
	return posts
}

func (x *town) Sign(t *testing.T, body []byte) http.Header {
	return x.signed(t, x.objects, body, x.Now())
}

func (x *town) signed(t *testing.T, objects sandbox.Objects, body []byte, at time.Time) http.Header {
	t.Helper()
	signature, err := sandbox.NewSigner(env.Env{}, objects).Sign(t.Context(), at, body)
	check.OK(t, err)
	return http.Header{sandbox.SignatureHeader: {signature}}
}

func (x *town) Forged(t *testing.T, body []byte) map[string]http.Header {
	return map[string]http.Header{
		"of another body":   x.Sign(t, append([]byte(" "), body...)),
		"of another secret": x.signed(t, &fakesandbox.Objects{}, body, x.Now()),
		"old":               x.signed(t, x.objects, body, x.Now().Add(-sandbox.Tolerance-time.Minute)),
		"of a real courier": {"X-Uber-Signature": {"00"}, sandbox.SignatureHeader: {""}},
	}
}
