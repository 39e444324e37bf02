package effect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/storage"
)

// depot is a courier provider that stands outside of all processes, and
// remembers every delivery that it was made to make.
type depot struct {
	name string

	mu       sync.Mutex
	parcels  map[string]*courier.Delivery // by Ref
	made     map[string]int               // how many, by Ref; more than one is what must never be
	quoted   int
	asked    []courier.CreateRequest // to make deliveries, with or without an effect
	troubles map[call]trouble
	hooks    map[point]func()
}

// call is one that may fail.
type call string

const (
	quoting    call = "quote"
	creating   call = "create"
	getting    call = "get"
	cancelling call = "cancel"
)

// trouble is what becomes of a call.
type trouble string

const (
	isDown      trouble = "down"        // calls fail without an effect
	losesAnswer trouble = "answer lost" // calls take effect, and their answers are lost
	isSlow      trouble = "slow"        // it is done after the caller has given up
	isLimited   trouble = "limited"
	refuses     trouble = "refused"
	keepsSilent trouble = "refused for no reason that we know"
	hasExpired  trouble = "quote expired"
)

// point is a moment of a call at which something else happens, once.
type point string

const (
	beforeQuote  point = "before the quote"
	beforeCreate point = "before the delivery is made"
	afterCreate  point = "after the delivery is made"
)

func newDepot(name string) *depot {
	return &depot{name: name, parcels: map[string]*courier.Delivery{}, made: map[string]int{}, troubles: map[call]trouble{}, hooks: map[point]func(){}}
}

// set brings trouble to a call; empty: there is none any more.
func (d *depot) set(c call, t trouble) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.troubles[c] = t
}

// once has something happen the next time that a point is reached.
func (d *depot) once(p point, f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hooks[p] = f
}

func (d *depot) reach(p point) {
	d.mu.Lock()
	f := d.hooks[p]
	delete(d.hooks, p)
	d.mu.Unlock()
	if f != nil {
		f()
	}
}

var errOutage = errors.New("no route to the depot")

// late is how long after it was asked a slow depot does it: after the longest
// try, when the next one may be under way.
const late = 20 * time.Second

// meet is the trouble of a call: an error if nothing is done.
func (d *depot) meet(ctx context.Context, c call, do func()) (trouble, error) {
	d.mu.Lock()
	t := d.troubles[c]
	d.mu.Unlock()
	switch t {
	case isDown:
		return t, errOutage
	case isSlow:
		time.AfterFunc(late, do)
		<-ctx.Done()
		return t, ctx.Err()
	case isLimited:
		return t, &courier.Limited{}
	case refuses:
		return t, &courier.Refusal{Code: courier.NoCouriers, Message: "no courier is free"}
	case keepsSilent:
		return t, &courier.Refusal{Code: courier.Other, Message: "this is not told"}
	case hasExpired:
		return t, &courier.Refusal{Code: courier.QuoteExpired, Message: "the quote has expired"}
	}
	return t, nil
}

// Quote implements courier.Provider.
func (d *depot) Quote(ctx context.Context, _ courier.QuoteRequest) (courier.Quote, error) {
	d.reach(beforeQuote)
	if _, err := d.meet(ctx, quoting, func() {}); err != nil {
		return courier.Quote{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.quoted++
	return courier.Quote{ID: "quote of " + d.name, FeeCents: 500, Currency: "USD"}, nil
}

// Create implements courier.Provider.
func (d *depot) Create(ctx context.Context, r courier.CreateRequest) (courier.Delivery, error) {
	d.reach(beforeCreate)
	d.mu.Lock()
	d.asked = append(d.asked, r)
	d.mu.Unlock()
	t, err := d.meet(ctx, creating, func() { d.make(r) })
	if err != nil {
		return courier.Delivery{}, err
	}
	made := d.make(r)
	d.reach(afterCreate)
	if t == losesAnswer {
		return courier.Delivery{}, errOutage
	}
	return made, nil
}

// make makes a delivery, one of a Ref.
func (d *depot) make(r courier.CreateRequest) courier.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, known := d.parcels[r.Ref]
	if !known {
		p = &courier.Delivery{ID: d.name + " " + r.Ref, Ref: r.Ref, QuoteID: r.QuoteID, Status: commerce.CourierPending, FeeCents: 500,
			TrackingURL: "https://" + d.name + ".example/" + r.Ref}
		d.parcels[r.Ref] = p
		d.made[r.Ref]++
	}
	return *p
}

// Get implements courier.Provider.
func (d *depot) Get(ctx context.Context, k courier.Key) (courier.Delivery, error) {
	if _, err := d.meet(ctx, getting, func() {}); err != nil {
		return courier.Delivery{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p, known := d.parcels[k.Ref]; known {
		return *p, nil
	}
	return courier.Delivery{}, &courier.Refusal{Code: courier.NotFound, Message: "there is no such delivery"}
}

// Cancel implements courier.Provider.
func (d *depot) Cancel(ctx context.Context, k courier.Key) (courier.Delivery, error) {
	t, err := d.meet(ctx, cancelling, func() {})
	if err != nil {
		return courier.Delivery{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p, known := d.parcels[k.Ref]
	switch {
	case !known:
		return courier.Delivery{}, &courier.Refusal{Code: courier.NotFound, Message: "there is no such delivery"}
	case p.Status.HasGoods():
		return courier.Delivery{}, &courier.Refusal{Code: courier.TooLate, Message: "the goods are on their way"}
	}
	p.Status = commerce.CourierCancelled
	if t == losesAnswer {
		return courier.Delivery{}, errOutage
	}
	return *p, nil
}

// CallbackForm implements courier.Provider.
func (*depot) CallbackForm() (headers []string, maxBytes int) {
	return []string{sandbox.SignatureHeader}, 64 << 10
}

// ReadCallback implements courier.Provider.
func (*depot) ReadCallback(_ context.Context, _ http.Header, body []byte) ([]courier.Callback, error) {
	var d courier.Delivery
	if err := json.Unmarshal(body, &d); err != nil {
		return nil, &courier.BadCallback{Reason: err.Error()}
	}
	return []courier.Callback{{ID: fmt.Sprint(d.Ref, " is ", d.Status), Delivery: d}}, nil
}

// move takes a delivery on, and returns what is to be told of it.
func (d *depot) move(ref string, to commerce.CourierStatus) courier.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parcels[ref]
	if p.Status.Rank() < to.Rank() {
		p.Status = to
		p.Courier = commerce.Courier{Name: "Kim", At: &commerce.Point{Lat: 30, Lng: -97 + float64(to.Rank())/100}}
	}
	told := *p
	told.Status, told.QuoteID, told.FeeCents = to, "", 0 // which only the answer to the call tells
	return told
}

// requests are those to make deliveries.
func (d *depot) requests() []courier.CreateRequest {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

// depotOf returns the depot that has a delivery; nil: none has.
func (s *shop) depotOf(ref string) *depot {
	for _, d := range s.depots {
		d.mu.Lock()
		made := d.made[ref]
		d.mu.Unlock()
		if made > 0 {
			return d
		}
	}
	return nil
}

// has is what the depot made for an order: each attempt, how often, and how
// that stands.
func (d *depot) has(orderID string) (list []string, underWay int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for attempt := int64(1); attempt <= commerce.MaxDispatches+1; attempt++ {
		ref := commerce.DeliveryRef(orderID, attempt)
		if n := d.made[ref]; n > 0 {
			status := d.parcels[ref].Status
			list = append(list, fmt.Sprintf("%s: attempt %d, made %d times, %s", d.name, attempt, n, status))
			if status != commerce.CourierCancelled {
				underWay += n
			}
		}
	}
	return list, underWay
}

// mortalCourier is out of reach of a process that has died.
type mortalCourier struct {
	courier.Provider
	m *mortal
}

func (p mortalCourier) Quote(ctx context.Context, r courier.QuoteRequest) (courier.Quote, error) {
	if p.m.isDead() {
		return courier.Quote{}, storage.ErrUnavailable
	}
	return p.Provider.Quote(ctx, r)
}

func (p mortalCourier) Create(ctx context.Context, r courier.CreateRequest) (courier.Delivery, error) {
	if p.m.isDead() {
		return courier.Delivery{}, storage.ErrUnavailable
	}
	return p.Provider.Create(ctx, r)
}

func (p mortalCourier) Get(ctx context.Context, k courier.Key) (courier.Delivery, error) {
	if p.m.isDead() {
		return courier.Delivery{}, storage.ErrUnavailable
	}
	return p.Provider.Get(ctx, k)
}

func (p mortalCourier) Cancel(ctx context.Context, k courier.Key) (courier.Delivery, error) {
	if p.m.isDead() {
		return courier.Delivery{}, storage.ErrUnavailable
	}
	return p.Provider.Cancel(ctx, k)
}

// fleet is the depots of a shop as a process sees them.
func (s *shop) fleet(m *mortal) courier.Fleet {
	f := courier.Fleet{Providers: map[string]courier.Provider{}, Modes: map[commerce.Mode][]string{}}
	for _, d := range s.depots {
		f.Providers[d.name] = mortalCourier{d, m}
		f.Modes[commerce.Test] = append(f.Modes[commerce.Test], d.name)
	}
	return f
}

// nowhere is a geocoder that knows no place.
type nowhere struct{}

func (nowhere) Find(context.Context, geocode.Query) (geocode.Place, error) {
	return geocode.Place{}, geocode.ErrNotFound
}

// postCallback posts a callback until it is accepted, as providers do, or the process is
// dead.
func (v *process) postCallback(d *depot, n courier.Delivery) {
	body, err := json.Marshal(n)
	if err != nil {
		v.s.T.Error(err)
	}
	v.s.eventually("a callback to be accepted", func() bool {
		return v.m.isDead() || v.sendCallback(d.name, string(body)) == http.StatusOK
	})
}

// underWay is how many deliveries of an order are made and not cancelled, at
// all depots; and a list of what there is.
func (s *shop) underWay(orderID string) (n int, list string) {
	var all []string
	for _, d := range s.depots {
		has, under := d.has(orderID)
		all, n = append(all, has...), n+under
	}
	return n, strings.Join(all, "\n")
}
