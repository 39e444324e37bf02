package simulation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/webhook"
)

var errLost = errors.New("the connection was lost")

// call makes a call of a provider, which now and then is not there, loses its
// answer, or does what it was asked for after its caller has given up.
func call[R any](ctx context.Context, w *world, e env.Env, by, what string, do func(context.Context) (R, error)) (r R, err error) {
	var fault providerFault
	w.outside(func() { fault = w.providerFault(what) })
	switch fault {
	case unreachable:
		err = errLost
	case answerLost:
		_, _ = do(ctx)
		err = errLost
	case late:
		var after time.Duration
		w.outside(func() { after = w.between(leastLate, mostLateOf(what)) })
		e.Go(func() {
			_ = e.Sleep(context.Background(), after)
			_, _ = do(context.Background())
		})
		e.Await(ctx.Done())
		err = ctx.Err()
	default:
		if err = w.pause(ctx, e, 300*time.Millisecond); err == nil {
			r, err = do(ctx)
		}
	}
	w.sim.Tracef("call %s: %s, %v", what, told(r), err)
	w.sayTry(by, what, err)
	return r, err
}

// providerFault is what happens to a call of a provider.
type providerFault int

const (
	noFault providerFault = iota
	unreachable
	answerLost
	late
)

func (w *world) providerFault(what string) providerFault {
	if w.Calm {
		w.onlyOnce(what)
	}
	switch {
	case w.chance(providers, "a provider was unreachable", 40):
		return unreachable
	case w.chance(providers, "the answer of a provider got lost", 40):
		return answerLost
	case w.chance(providers, "a provider was late", rareLate(what)):
		return late
	}
	return noFault
}

// How long after a call a provider may do what it was asked for.
const (
	leastLate = 20 * time.Second
	mostLate  = 10 * time.Minute
)

func mostLateOf(what string) time.Duration {
	if strings.HasPrefix(what, "webhook ") { // which no network keeps for so long
		return leastLate + time.Second
	}
	return mostLate
}

// rareLate: once in so many calls the provider is late. Couriers are late more often, because what
// was asked for may not be wanted any more when they come to it.
func rareLate(what string) int {
	if strings.HasPrefix(what, "create ") {
		return 10
	}
	return 200
}

// onlyOnce checks that a call was not made before. Without faults, no call but those that only
// ask is repeated.
func (w *world) onlyOnce(what string) {
	if strings.HasPrefix(what, "quote ") || strings.HasPrefix(what, "get ") {
		return
	}
	if w.called[what] {
		w.broke("two jobs made the call %q, and nothing had failed", what)
	}
	w.called[what] = true
}

// processor takes payments.
type processor struct {
	*payment.Sandbox
	w   *world
	env env.Env
	by  string // the process
}

// OpenSession implements payment.Processor.
func (p processor) OpenSession(ctx context.Context, r payment.SessionRequest) (payment.Session, error) {
	return call(ctx, p.w, p.env, p.by, "open session "+r.OrderID, func(ctx context.Context) (payment.Session, error) { return p.Sandbox.OpenSession(ctx, r) })
}

// ExpireSession implements payment.Processor.
func (p processor) ExpireSession(ctx context.Context, id string) (payment.Session, error) {
	return call(ctx, p.w, p.env, p.by, "expire session "+id, func(ctx context.Context) (payment.Session, error) { return p.Sandbox.ExpireSession(ctx, id) })
}

// Refund implements payment.Processor.
func (p processor) Refund(ctx context.Context, r payment.RefundRequest) (payment.Refund, error) {
	return call(ctx, p.w, p.env, p.by, "refund "+r.ID, func(ctx context.Context) (payment.Refund, error) { return p.Sandbox.Refund(ctx, r) })
}

// couriers bring orders.
type couriers struct {
	*courier.Sandbox
	w   *world
	env env.Env
	by  string // the process
}

// lockOut has the provider refuse our credentials for a while, as when they were replaced there.
func (w *world) lockOut() {
	for w.goesOn(2*time.Hour, 6*time.Hour) {
		if !w.faulty {
			continue
		}
		w.fault("the provider of couriers refused our credentials")
		w.sayToAll("The provider of couriers refuses our credentials.")
		w.locked = true
		w.sleep(w.between(time.Minute, 20*time.Minute))
		w.locked = false
		w.sayToAll("The provider of couriers takes our credentials again.")
	}
}

// surelyDenied is after how many refusals one of them was surely recorded, whatever dies.
const surelyDenied = 4

// denied refuses our credentials. ref is the name that we give the delivery.
func (c couriers) denied(ref string) (err error) {
	c.w.outside(func() {
		if !c.w.locked || !c.w.faulty {
			return
		}
		if order, _, of := commerce.ParseDeliveryRef(ref); of {
			c.w.denied[order]++
		}
		err = &commerce.CredentialsError{Message: "the key was replaced"}
	})
	return err
}

// Quote implements courier.Provider.
func (c couriers) Quote(ctx context.Context, r courier.QuoteRequest) (courier.Quote, error) {
	if err := c.denied(r.Ref); err != nil {
		return courier.Quote{}, err
	}
	return call(ctx, c.w, c.env, c.by, "quote "+r.Ref, func(ctx context.Context) (courier.Quote, error) { return c.Sandbox.Quote(ctx, r) })
}

// Create implements courier.Provider.
func (c couriers) Create(ctx context.Context, r courier.CreateRequest) (courier.Delivery, error) {
	if err := c.denied(r.Ref); err != nil {
		return courier.Delivery{}, err
	}
	return call(ctx, c.w, c.env, c.by, "create "+r.Ref, func(ctx context.Context) (courier.Delivery, error) {
		d, err := c.Sandbox.Create(ctx, r)
		c.w.outside(func() {
			if _, known := c.w.taken[r.Ref]; err == nil && !known {
				c.w.taken[r.Ref] = c.w.env.Now()
			}
		})
		return d, err
	})
}

// Get implements courier.Provider.
func (c couriers) Get(ctx context.Context, k courier.Key) (courier.Delivery, error) {
	if err := c.denied(""); err != nil {
		return courier.Delivery{}, err
	}
	return call(ctx, c.w, c.env, c.by, "get "+told(k), func(ctx context.Context) (courier.Delivery, error) { return c.Sandbox.Get(ctx, k) })
}

// Cancel implements courier.Provider.
func (c couriers) Cancel(ctx context.Context, k courier.Key) (courier.Delivery, error) {
	if err := c.denied(k.Ref); err != nil {
		return courier.Delivery{}, err
	}
	c.w.outside(func() { c.w.calledOff[k.Ref] = c.w.env.Now() })
	return call(ctx, c.w, c.env, c.by, "cancel "+told(k), func(ctx context.Context) (courier.Delivery, error) { return c.Sandbox.Cancel(ctx, k) })
}

// post takes webhooks to the partners.
type post struct {
	w   *world
	env env.Env
	by  string // the process
}

// post returns what takes the callbacks of sandboxes to a process.
func (w *world) post(by string, send func(ctx context.Context, port string, body []byte) error) func(context.Context, string, []byte) error {
	return func(ctx context.Context, port string, body []byte) error {
		var late, twice bool
		w.outside(func() {
			late = !w.parallel() && w.chance(callbacks, "a callback was late", 60)
			twice = w.chance(callbacks, "a callback came twice", 60)
			if late {
				w.overdue++
				w.env.Go(func() { w.bring(port, body) })
			}
		})
		if late {
			return nil
		}
		if twice {
			_ = send(ctx, port, body) // the second one decides
		}
		err := send(ctx, port, body)
		w.sayCallback(by, port, body, err)
		return err
	}
}

// bring brings a callback to a process after a while, when others that were sent later may
// have come.
func (w *world) bring(port string, body []byte) {
	w.sleep(w.between(time.Second, 3*time.Minute))
	for range mostTries {
		err := errLost
		answered, by := w.inside(func(v *server) { err = v.callback(context.Background(), port, body) })
		if w.sayCallback(by+", late,", port, body, err); answered && err == nil {
			break
		}
		w.sleep(5 * time.Second)
	}
	w.overdue--
}

// Send implements effect.Sender.
func (p post) Send(ctx context.Context, r webhook.Request) (result webhook.Result) {
	defer func() { p.w.sayWebhook(p.by, r, result) }()
	var sick int
	p.w.outside(func() { sick = p.w.partnerAt(r.URL).sick })
	switch sick {
	case hangs:
		_ = p.env.Sleep(ctx, 15*time.Second)
		return webhook.Result{Error: "no answer in 15 s", TimedOut: true}
	case 0:
	default:
		return webhook.Result{Status: int64(sick), Error: fmt.Sprint("status ", sick)}
	}
	_, err := call(ctx, p.w, p.env, p.by, "webhook "+r.ID, func(context.Context) (int, error) {
		p.w.outside(func() { p.w.partnerAt(r.URL).hear(r) })
		return 204, nil
	})
	if err != nil {
		return webhook.Result{Error: err.Error()}
	}
	return webhook.Result{Status: 204}
}
