package effect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/service"
)

// couriers are the calls to courier providers.
type couriers struct{ Options }

// settling is how long after its latest call a provider may still create the
// delivery, whatever it answers meanwhile: the longest time of an attempt, plus the
// lease of an attempt that was cut.
const settling = jobs.TryTime + commerce.JobLease

// unsettled reports whether a call may still have an effect. UpdatedOn is moved
// before each call.
func (c couriers) unsettled(d commerce.Delivery) bool {
	return c.Env.Since(time.UnixMilli(int64(d.UpdatedOn))) < settling
}

// dispatching is one attempt to find a courier for an order.
type dispatching struct {
	couriers
	service.Subject
	job     commerce.Job
	request courier.CreateRequest
}

// dispatch looks for a provider that accepts an order. Before it asks one for a
// delivery, it stores the provider's name: if the process dies between the call and
// its record, the next attempt asks only this provider what it has, so that an order
// never has two deliveries.
func (c couriers) dispatch(ctx context.Context, job commerce.Job, about service.Subject) jobs.Outcome {
	record := command.RecordDelivery{RecordJob: c.recordJob(job), Facts: about.Facts(), Attempt: about.Attempt}
	if about.Delivery.State != commerce.DeliveryDispatching || about.Delivery.Attempt != about.Attempt { // a callback was faster
		return outcome(c.Options, job, record, nil)
	}
	request, reach, err := c.request(ctx, about.Order, about.Delivery)
	switch {
	case outage(err):
		return c.retryAfterLease(job, err)
	case err != nil:
		record.Failed = err
		return outcome(c.Options, job, record, err)
	}
	record.Reach = reach
	made, name, err := dispatching{c, about, job, request}.ask(ctx)
	refusal, refused := errors.AsType[*courier.Refusal](err)
	switch {
	case err == nil:
		news := command.CourierUpdate(made)
		record.Made, record.Provider = &news, name
	case refused:
		record.Refused = refusal.Message
	case errors.Is(err, errStopped):
		err = nil
	default:
		record.Failed, record.Told = err, forPartners(err)
	}
	return outcome(c.Options, job, record, err)
}

// forPartners returns the text about a failure that partners may read.
func forPartners(err error) string {
	if errors.Is(err, courier.ErrNoProvider) {
		return "No courier is configured for these orders"
	}
	if _, limited := errors.AsType[*courier.Limited](err); limited {
		return "The courier provider wants to be asked less often"
	}
	if _, denied := errors.AsType[*commerce.CredentialsError](err); denied {
		return command.CourierRefusesUs
	}
	return ""
}

// ask asks one provider after the other. The error is a *courier.Refusal if all of
// them have refused.
func (d dispatching) ask(ctx context.Context) (made courier.Delivery, name string, err error) {
	if name := d.Delivery.Provider; name != "" && d.Fleet.Providers[name] == nil {
		return made, "", maybe(notOfFleet(name))
	}
	var refusal *courier.Refusal
	var failed error
	for _, name := range d.Fleet.InOrder(d.Order.Mode, d.Delivery) {
		made, err := d.askOne(ctx, name)
		if err == nil {
			return made, name, nil
		}
		if refused, ok := errors.AsType[*courier.Refusal](err); ok {
			refusal = cmp.Or(refusal, refused)
			continue
		}
		failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
		if _, untouched := errors.AsType[*untouchedError](err); !untouched {
			break // it may have created the delivery, so no other provider is asked
		}
	}
	switch {
	case failed != nil:
		return made, "", failed
	case refusal != nil:
		return made, "", refusal
	}
	return made, "", courier.ErrNoProvider
}

// untouchedError is the failure of a provider that has certainly not created a
// delivery.
type untouchedError struct{ error }

func (e *untouchedError) Unwrap() error { return e.error }

var errStopped = errors.New("the order is not to be delivered any more")

// askOne has one provider create the delivery, or finds the delivery that it has
// already created.
func (d dispatching) askOne(ctx context.Context, name string) (courier.Delivery, error) {
	provider := d.Fleet.Providers[name]
	noEffect := certainly
	if d.Delivery.Provider == name { // an earlier attempt asked it, with an unknown outcome
		made, err := provider.Get(ctx, courier.KeyOf(d.Delivery))
		if refusal, ok := errors.AsType[*courier.Refusal](err); !ok || refusal.Code != courier.NotFound {
			return made, maybe(err)
		}
		if d.unsettled(d.Delivery) {
			noEffect = maybe
		}
	}
	quote, err := d.quote(ctx, provider)
	if err != nil {
		return courier.Delivery{}, noEffect(err)
	}
	asked, err := service.Do(ctx, d.Uses, command.AskCourier{Facts: d.Facts(), Job: d.job, Attempt: d.Delivery.Attempt, Provider: name})
	if err != nil {
		return courier.Delivery{}, noEffect(err)
	}
	if !asked.Go {
		return courier.Delivery{}, errStopped
	}
	request := d.request
	request.QuoteID, request.AskedOn = quote.ID, asked.AskedOn
	made, err := provider.Create(ctx, request)
	_, limited := errors.AsType[*courier.Limited](err)
	_, denied := errors.AsType[*commerce.CredentialsError](err)
	_, refused := errors.AsType[*courier.Refusal](err)
	if limited || denied || refused {
		err = noEffect(err)
	}
	made.FeeCents, made.QuoteID = cmp.Or(made.FeeCents, quote.FeeCents), cmp.Or(made.QuoteID, quote.ID)
	return made, err
}

// certainly marks err as the failure of a provider that has not created the delivery. A
// refusal says so already.
func certainly(err error) error {
	if _, refused := errors.AsType[*courier.Refusal](err); refused {
		return err
	}
	return &untouchedError{err}
}

// maybe marks err as ambiguous: the provider may have created the delivery even though
// the call failed, or an earlier call may still create it.
func maybe(err error) error {
	if err == nil {
		return nil
	}
	if _, refused := errors.AsType[*courier.Refusal](err); refused {
		err = errors.New(err.Error())
	}
	return fmt.Errorf("it may have the delivery already: %w", err)
}

// quoteTime bounds one provider's quote, so that the next provider has time within
// the same attempt.
const quoteTime = 5 * time.Second

func (d dispatching) quote(ctx context.Context, p courier.Provider) (courier.Quote, error) {
	ctx, cancel := d.Env.WithTimeout(ctx, quoteTime)
	defer cancel()
	return p.Quote(ctx, d.request.QuoteRequest)
}

// readyMargin is how far ahead the goods must be ready for a provider to be told so. It
// refuses a time that has passed when the request arrives.
const readyMargin = 10 * time.Second

// request returns the request for a delivery, and how far it is. It has coordinates
// only if they are those of the door, not of a ZIP code's centre.
func (c couriers) request(ctx context.Context, order commerce.Order, d commerce.Delivery) (r courier.CreateRequest, reach commerce.Reach, err error) {
	store, err := c.Reads.Store(ctx, order.StoreID)
	if err != nil {
		return r, reach, fmt.Errorf("store %s: %w", order.StoreID, err)
	}
	demands := commerce.Demands(order.Lines)
	ids := make([]string, len(demands))
	for i, line := range demands {
		ids[i] = line.ProductID
	}
	known, err := c.Reads.Items(ctx, order.StoreID, ids)
	if err != nil {
		return r, reach, fmt.Errorf("products of order %s: %w", order.ID, err)
	}
	r = courier.CreateRequest{OrderID: order.ID, QuoteRequest: courier.QuoteRequest{Ref: d.Ref(), StoreID: store.ID, ValueCents: order.SubtotalCents,
		Pickup: courier.PickupAt(store, order.PickupInstructions), Dropoff: courier.DropoffAt(order.Address, order.DropoffInstructions)}}
	if d.ReadyAt > commerce.MillisOf(c.Env.Now()).Add(readyMargin) {
		r.ReadyAt = d.ReadyAt
	}
	for _, line := range order.Lines {
		r.Items = append(r.Items, courier.Item{Name: cmp.Or(known[line.ProductID].Stock.Name, line.ProductID), Quantity: line.Quantity, PriceCents: line.PriceCents})
	}
	place, err := c.Geocoder.Find(ctx, geocode.Parts(r.Dropoff.Address))
	if err != nil || !place.Valid() {
		return r, reach, nil // the courier decides
	}
	if place.Precision.Exact() {
		r.Dropoff.At = &place.Point
	}
	return r, store.ReachOf(place.ForReach()), nil
}

// cancel calls the courier off. If the courier may not have been found yet, cancel
// waits: the job that looks for one stops by itself.
func (c couriers) cancel(ctx context.Context, job commerce.Job, about service.Subject) jobs.Outcome {
	delivery := about.Delivery
	record := command.RecordDeliveryCancelled{RecordJob: c.recordJob(job), Facts: about.Facts(), Attempt: delivery.Attempt, RefundID: about.CancelRefundID}
	provider, known := c.Fleet.Providers[delivery.Provider]
	switch {
	case !about.Order.Stopped() && !delivery.Replacing: // another courier has the order by now
		return outcome(c.Options, job, record, nil)
	case delivery.State == commerce.DeliveryOver && !delivery.Unsure(), delivery.Provider == "":
		record.Cancelled = delivery.Status == commerce.CourierCancelled
		return outcome(c.Options, job, record, nil)
	case !known:
		record.Failed = notOfFleet(delivery.Provider)
		return outcome(c.Options, job, record, record.Failed)
	}
	now, err := provider.Cancel(ctx, courier.KeyOf(delivery))
	refusal, refused := errors.AsType[*courier.Refusal](err)
	switch {
	case err == nil:
		record.Cancelled, record.ProviderID = now.Status == commerce.CourierCancelled, now.ID
	case refused && refusal.Code == courier.TooLate:
		record.TooLate = refusal.Message
	case refused && refusal.Code == courier.NotFound && !c.unsettled(delivery): // it was never created
	default:
		record.Failed = err
	}
	return outcome(c.Options, job, record, record.Failed)
}

func notOfFleet(name string) error {
	return fmt.Errorf("the courier provider %q is not configured any more", name)
}

// tell sends a partner the courier's latest position, if it has moved since the last
// webhook.
func (c couriers) tell(_ context.Context, job commerce.Job, about service.Subject) jobs.Outcome {
	return outcome(c.Options, job, command.SendCourierUpdate{Facts: about.Facts(), Job: job.Key()}, nil)
}

// check asks the provider for a delivery without recent callbacks, because these may
// have been lost.
func (c couriers) check(ctx context.Context, job commerce.Job, about service.Subject) jobs.Outcome {
	delivery := about.Delivery
	record := command.RecordCheck{Job: job, Record: command.RecordCourierUpdate{Facts: about.Facts(), Attempt: about.Attempt,
		Provider: delivery.Provider, TraceID: delivery.TraceID}}
	if record.Due(delivery, commerce.MillisOf(c.Env.Now())) {
		now, err := c.Fleet.Get(ctx, delivery)
		if err != nil {
			slog.Info("the provider could not be asked about a delivery without recent callbacks", "order", about.Order.ID, "provider", delivery.Provider, "error", err)
		} else {
			news := command.CourierUpdate(now)
			record.Update = &news
		}
	}
	return outcome(c.Options, job, record, nil)
}
