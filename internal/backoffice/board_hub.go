package backoffice

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage"
)

// Times and bounds of the boards of a process.
const (
	boardPace   = 300 * time.Millisecond // between two looks at the open orders
	boardSlow   = 700 * time.Millisecond // the same when a look takes long
	boardShare  = 20                     // of the time one part in so many is spent on looks
	boardFresh  = time.Second            // a page may be as old
	boardUnseen = 30 * time.Second       // then a view without boards is forgotten
	namesFresh  = 30 * time.Second       // of stores and partners
	etaFresh    = 10 * time.Second       // of a courier's arrival
	boardIdle   = 50                     // views without boards that are kept
	boardReads  = 500                    // orders of a status that one look reads
)

// boardHub looks at the open orders while a board is open, once for all boards of the process,
// and tells each board what has changed.
type boardHub struct {
	env   env.Env
	reads Reads
	ctx   context.Context // ends with the streams
	end   context.CancelFunc
	looks env.Flights[struct{}]

	mu      sync.Mutex
	views   map[string]*boardView
	looking bool // a goroutine looks again and again
	boards  int  // streams that are open

	// What the looks know. Only one look runs at a time, and nothing else touches it.
	names  boardNames
	before commerce.Millis // the look before; 0: there was none
	pushed func(time.Duration)
	facts  map[commerce.OrderKey]*cardFacts
	cards  map[cardKey]*card
}

// boardNames are the stores and partners by their ids.
type boardNames struct {
	readOn   time.Time
	stores   map[string]commerce.Store
	partners map[string]string
}

// cardFacts is what a card shows beside the order itself.
type cardFacts struct {
	updated  commerce.Millis // the version of the order for which they were read
	readOn   time.Time
	paid     commerce.Millis
	products []string // the names of the first lines
	delivery commerce.Delivery
	seen     bool // in the last look
}

func newBoardHub(e env.Env, reads Reads) *boardHub {
	ctx, end := context.WithCancel(context.Background())
	return &boardHub{env: e, reads: reads, ctx: ctx, end: end, views: map[string]*boardView{},
		facts: map[commerce.OrderKey]*cardFacts{}, cards: map[cardKey]*card{}}
}

// open returns the view of a filter, as it was a second ago at most.
func (h *boardHub) open(ctx context.Context, f boardFilter) (*boardView, error) {
	v := h.view(f)
	for range 3 { // a look that runs already may have begun before the view was there
		h.mu.Lock()
		fresh := !v.lookedOn.IsZero() && h.env.Since(v.lookedOn) < boardFresh
		h.mu.Unlock()
		if fresh {
			break
		}
		if _, err := h.looks.Do(ctx, h.env, "", func() (struct{}, error) { return struct{}{}, h.look() }); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// view returns the view of a filter, which the next look fills.
func (h *boardHub) view(f boardFilter) *boardView {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := h.views[f.key()]
	if v == nil {
		h.forgetView()
		v = newBoardView(f, h.env.Text()[:8])
		h.views[f.key()] = v
	}
	v.usedOn = h.env.Now()
	return v
}

// forgetView drops the view without boards that was used longest ago, if there are many.
func (h *boardHub) forgetView() {
	oldest, idle := "", 0
	for key, v := range h.views {
		if v.boards > 0 {
			continue
		}
		if idle++; oldest == "" || v.usedOn.Before(h.views[oldest].usedOn) {
			oldest = key
		}
	}
	if idle >= boardIdle {
		delete(h.views, oldest)
	}
}

// enter counts a stream of a view; the first one of all begins the looks. The view may have been
// forgotten meanwhile, so the stream follows the one that is returned.
func (h *boardHub) enter(v *boardView) *boardView {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.views[v.filter.key()]; now != nil {
		v = now
	}
	h.views[v.filter.key()] = v
	h.boards++
	v.boards++
	if !h.looking {
		h.looking = true
		h.env.Go(h.keepLooking)
	}
	return v
}

func (h *boardHub) leave(v *boardView) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.boards--
	v.boards--
	v.usedOn = h.env.Now()
}

// keepLooking looks until no board is open.
func (h *boardHub) keepLooking() {
	for failed := false; ; {
		began := h.env.Now()
		_, err := h.looks.Do(h.ctx, h.env, "", func() (struct{}, error) { return struct{}{}, h.look() })
		if err != nil && !failed && h.ctx.Err() == nil {
			slog.Warn("the boards show no changes", "error", err)
		}
		failed = err != nil
		took := h.env.Since(began)
		over := h.env.Sleep(h.ctx, max(boardPace-took, min(boardShare*took, boardSlow))) != nil
		h.mu.Lock()
		if over || h.boards == 0 {
			h.looking = false
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
	}
}

// look reads the open orders and brings all views up to date.
func (h *boardHub) look() error {
	ctx, cancel := h.env.WithTimeout(h.ctx, 10*time.Second)
	defer cancel()
	h.mu.Lock()
	for key, v := range h.views {
		if v.boards == 0 && h.env.Since(v.usedOn) > boardUnseen {
			delete(h.views, key)
		}
	}
	views := make([]*boardView, 0, len(h.views))
	for _, v := range h.views {
		views = append(views, v)
	}
	h.mu.Unlock()
	if len(views) == 0 {
		return nil
	}
	if err := h.readNames(ctx); err != nil {
		return err
	}
	read, err := h.readOrders(ctx, views)
	if err != nil {
		return err
	}
	shown := make([][]chosenColumn, len(views))
	for i, v := range views {
		shown[i] = v.choose(read[i])
	}
	if err := h.readFacts(ctx, shown); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.env.Now()
	for i, v := range views {
		v.lookedOn = now
		v.update(h.cardsOf(v.filter, shown[i]), commerce.MillisOf(now))
	}
	h.forget()
	h.before = commerce.MillisOf(now)
	return nil
}

// openOrders are the open orders by their status, the oldest first.
type openOrders map[commerce.OrderStatus][]commerce.Order

// readOrders reads the orders of all views at once. If there are more than one read returns,
// each view gets its own, so that a store does not hide another one's orders.
func (h *boardHub) readOrders(ctx context.Context, views []*boardView) ([]openOrders, error) {
	union := []string{}
	for _, v := range views {
		if v.filter.Stores == nil {
			union = nil
			break
		}
		union = append(union, v.filter.Stores...)
	}
	slices.Sort(union)
	union = slices.Compact(union)
	all, full, err := h.readOpen(ctx, union)
	lists := make([]openOrders, len(views))
	own := map[string]openOrders{strings.Join(union, ","): all}
	for i, v := range views {
		lists[i] = all
		if key := strings.Join(v.filter.Stores, ","); full && err == nil {
			if own[key] == nil {
				own[key], _, err = h.readOpen(ctx, v.filter.Stores)
			}
			lists[i] = own[key]
		}
	}
	return lists, err
}

// readOpen reads the open orders of stores. full reports that there may be more.
func (h *boardHub) readOpen(ctx context.Context, stores []string) (list openOrders, full bool, err error) {
	list = openOrders{}
	for _, c := range boardColumns {
		for _, status := range c.Statuses {
			orders, err := h.reads.OpenOrders(ctx, storage.OpenFilter{Stores: stores, Status: status, Limit: boardReads})
			if err != nil {
				return nil, false, err
			}
			list[status] = orders
			full = full || len(orders) == boardReads
		}
	}
	return list, full, nil
}

// readNames reads the names of stores and partners from time to time.
func (h *boardHub) readNames(ctx context.Context) error {
	if !h.names.readOn.IsZero() && h.env.Since(h.names.readOn) < namesFresh {
		return nil
	}
	partners, err := h.reads.Partners(ctx)
	if err != nil {
		return err
	}
	h.names = boardNames{h.env.Now(), map[string]commerce.Store{}, map[string]string{}}
	for _, p := range partners {
		h.names.partners[p.ID] = p.Name
	}
	return nil
}

// store is a store by its id.
func (h *boardHub) store(ctx context.Context, id string) error {
	if _, known := h.names.stores[id]; known {
		return nil
	}
	store, err := h.reads.Store(ctx, id)
	if err == nil {
		h.names.stores[id] = store
	}
	return err
}

// readFacts reads what the cards show that are new, have changed, or wait for a courier.
func (h *boardHub) readFacts(ctx context.Context, views [][]chosenColumn) error {
	for _, f := range h.facts {
		f.seen = false
	}
	for _, columns := range views {
		for _, c := range columns {
			for _, o := range c.orders {
				if err := h.store(ctx, o.StoreID); err != nil {
					return err
				}
				f := h.facts[o.Key()]
				if f == nil {
					f = &cardFacts{}
				}
				if err := h.readFact(ctx, o, f); err != nil {
					return err
				}
				f.seen = true
				h.facts[o.Key()] = f
			}
		}
	}
	return nil
}

// readFact reads what is not known about one order.
func (h *boardHub) readFact(ctx context.Context, o *commerce.Order, f *cardFacts) (err error) {
	if f.paid == 0 {
		f.paid = o.CreatedOn
		events, err := h.reads.Timeline(ctx, o.Key(), timelineRoom)
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(events) {
			if e.Kind == commerce.TimelinePaid {
				f.paid = e.CreatedOn
			}
		}
	}
	if f.products == nil {
		if f.products, err = h.products(ctx, o); err != nil {
			return err
		}
	}
	delivered := o.Fulfillment == commerce.ByDelivery
	if delivered && (f.updated != o.UpdatedOn || h.env.Since(f.readOn) > etaFresh) {
		d, err := h.reads.Delivery(ctx, o.Key())
		if err != nil && !notFound(err) {
			return err
		}
		f.delivery, f.readOn = d, h.env.Now()
	}
	f.updated = o.UpdatedOn
	return nil
}

// cardLines is how many lines of an order a card has.
const cardLines = 3

// products are the names of the products on the card of an order.
func (h *boardHub) products(ctx context.Context, o *commerce.Order) ([]string, error) {
	ids := make([]string, 0, cardLines)
	for _, l := range o.Lines[:min(cardLines, len(o.Lines))] {
		ids = append(ids, l.ProductID)
	}
	items, err := h.reads.Items(ctx, o.StoreID, ids)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		ids[i] = cmp.Or(items[id].Stock.Name, id)
	}
	return ids, nil
}

// forget drops what no view shows any more.
func (h *boardHub) forget() {
	for key, f := range h.facts {
		if !f.seen {
			delete(h.facts, key)
		}
	}
	for key, c := range h.cards {
		if !c.used {
			delete(h.cards, key)
		}
		c.used = false
	}
}

// Boards is how many boards are open.
func (o *Office) Boards() int {
	o.boards.mu.Lock()
	defer o.boards.mu.Unlock()
	return o.boards.boards
}

// EndStreams ends all boards because the process stops. The browsers connect again later.
func (o *Office) EndStreams() { o.boards.end() }
