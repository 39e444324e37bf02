package backoffice

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/maps"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

// orderRoutes are the pages of one order and what staff do there.
var orderRoutes = []route{
	{method: get, path: orderPath, may: commerce.MayReadOrders, handle: ofOrder((*visit).order)},
	{method: post, path: orderPath + "/" + doConfirm, may: commerce.MayAdvanceOrders, handle: ofOrder((*visit).confirm)},
	{method: get, path: orderPath + "/" + doConfirm, may: commerce.MayAdvanceOrders, handle: asking(doConfirm)},
	{method: post, path: orderPath + "/" + doReady, may: commerce.MayAdvanceOrders, handle: ofOrder((*visit).markReady)},
	{method: post, path: orderPath + "/" + doPickedUp, may: commerce.MayAdvanceOrders, handle: ofOrder((*visit).markPickedUp)},
	{method: get, path: orderPath + "/" + doDispatch, may: commerce.MayAdvanceOrders, handle: asking(doDispatch)},
	{method: post, path: orderPath + "/" + doDispatch, may: commerce.MayAdvanceOrders, handle: ofOrder((*visit).dispatchAgain)},
	{method: get, path: orderPath + "/" + doNote, may: commerce.MayAdvanceOrders, handle: asking(doNote)},
	{method: post, path: orderPath + "/" + doNote, may: commerce.MayAdvanceOrders, handle: ofOrder((*visit).addNote)},
	{method: get, path: orderPath + "/" + doRefund, may: commerce.MayWriteRefunds, handle: asking(doRefund)},
	{method: post, path: orderPath + "/" + doRefund, may: commerce.MayWriteRefunds, handle: ofOrder((*visit).refund)},
	{method: get, path: orderPath + "/" + doRequest, may: commerce.MayWriteOrders, handle: asking(doRequest)},
	{method: post, path: orderPath + "/" + doRequest, may: commerce.MayWriteOrders, handle: ofOrder((*visit).requestRefund)},
	{method: get, path: orderPath + "/" + doDecline, may: commerce.MayWriteOrders, handle: asking(doDecline)},
	{method: post, path: orderPath + "/" + doDecline, may: commerce.MayWriteOrders, handle: ofOrder((*visit).declineRefund)},
	{method: get, path: orderPath + "/" + doCancel, may: commerce.MayWriteOrders, handle: asking(doCancel)},
	{method: post, path: orderPath + "/" + doCancel, may: commerce.MayWriteOrders, handle: ofOrder((*visit).cancel)},
	{method: post, path: orderPath + "/attention/{code}/resolve", may: commerce.MayAdvanceOrders, handle: ofOrder((*visit).resolveAttention)},
}

const orderPath = Prefix + "/orders/{id}"

// orderPage is the data of the page "order".
type orderPage struct {
	orderFacts
	Zone      *time.Location
	Now       commerce.Millis
	Situation string
	Next      *action  // nil: nothing is to be done, or the user may not
	Others    []action // that are possible now, too
	Refused   []action
	Reasons   []commerce.Attention
	Story     []entry
	Part      string // of the story that is shown; empty: all
	Parts     []string
	Lines     []shownLine
	URL       string
	Tracking  string                 // the page on which the customer follows the order; empty: there is none
	Map       template.HTML          // where a delivery goes; empty: no place is known
	Placed    string                 // how exactly the address is known
	Resolving commerce.AttentionCode // whose form was refused
	Note      string                 // that was typed into it
	MayMoney  bool                   // the user may resolve reasons about money
	MayWork   bool                   // the user may resolve other reasons
	Requests  string                 // the URL of the partner's requests; empty: the user may not see them
}

// shownLine is a line of the order with the present name of its product.
type shownLine struct {
	commerce.OrderLine
	Name  string
	Total commerce.Cents
}

// order shows one order: what is going on, what is to be done, and all that happened.
func (v *visit) order(o commerce.Order) error {
	page, err := v.orderPage(o)
	if err != nil {
		return err
	}
	return v.page("order", "Order "+site.Short(o.ID), page)
}

func (v *visit) orderPage(o commerce.Order) (orderPage, error) {
	f, err := v.facts(o)
	if err != nil {
		return orderPage{}, err
	}
	page := orderPage{orderFacts: f, Zone: site.ZoneOf(f.Store), Now: v.now(), Reasons: f.open(), URL: Prefix + "/orders/" + f.Order.ID, Tracking: v.o.pages.PageOf(f.Order.ID), Part: v.URL.Query().Get("part"),
		MayMoney: v.user.May(commerce.MayWriteRefunds, f.Order.StoreID), MayWork: v.user.May(commerce.MayAdvanceOrders, f.Order.StoreID)}
	if o.PartnerID != "" && v.seesRequests() {
		page.Requests = Prefix + "/partners/" + o.PartnerID + "/requests"
	}
	page.Situation = f.situation(page.clock)
	next, some := f.next()
	for _, a := range f.actions() {
		switch {
		case !v.user.May(a.May, f.Order.StoreID):
		case some && a.Name == next.Name:
			page.Next = &a
		case a.Refused != "":
			page.Refused = append(page.Refused, a)
		default:
			page.Others = append(page.Others, a)
		}
	}
	names, err := v.actorNames()
	if err != nil {
		return page, err
	}
	if page.Lines, err = v.shownLines(f.Order); err != nil {
		return page, err
	}
	f.Names = map[string]string{}
	for _, l := range page.Lines {
		f.Names[l.ProductID] = l.Name
	}
	for _, e := range f.story() {
		if !slices.Contains(page.Parts, e.Part) {
			page.Parts = append(page.Parts, e.Part)
		}
		if page.Part == "" || page.Part == e.Part {
			if err := names.know(v, e.Actor); err != nil {
				return page, err
			}
			e.Actor = names.of(e.Actor)
			page.Story = append(page.Story, e)
		}
	}
	slices.Sort(page.Parts)
	return page, v.addMap(&page)
}

// addMap draws where a delivery goes.
func (v *visit) addMap(page *orderPage) (err error) {
	if page.Order.Fulfillment != commerce.ByDelivery || page.Order.Address == nil {
		return nil
	}
	m := maps.Map{Title: "Where the order goes", RadiusMiles: page.Store.RadiusMiles}
	if at, known := page.Store.Point(); known {
		m.Store = &at
	}
	if m.Door, page.Placed, err = v.o.uses.PlaceOf(v.Context(), page.Order.Address.Address); err != nil {
		return err
	}
	if page.Delivery != nil {
		m.Courier = page.Delivery.Courier.At
	}
	page.Map = m.SVG()
	return nil
}

// clock shows a time of today as a time, and any other with its day.
func (p orderPage) clock(at commerce.Millis) string {
	t := at.Time().In(p.Zone)
	if now := p.Now.Time().In(p.Zone); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 15:04")
}

func (v *visit) shownLines(o commerce.Order) (list []shownLine, err error) {
	ids := make([]string, len(o.Lines))
	for i, l := range o.Lines {
		ids[i] = l.ProductID
	}
	items, err := v.o.reads.Items(v.Context(), o.StoreID, ids)
	for _, l := range o.Lines {
		list = append(list, shownLine{l, cmp.Or(items[l.ProductID].Stock.Name, l.ProductID), l.PriceCents * commerce.Cents(l.Quantity)})
	}
	return list, err
}

// timelineRoom is how many events of a timeline are shown.
const timelineRoom = 500

// facts reads all that the page of an order shows.
func (v *visit) facts(o commerce.Order) (orderFacts, error) {
	f, err := readFacts(v.Context(), v.o.reads, o)
	if err == nil {
		f.Calls, err = v.callsOf(o)
	}
	return f, err
}

// readFacts reads what the database has about an order.
func readFacts(ctx context.Context, r Reads, o commerce.Order) (f orderFacts, err error) {
	key := o.Key()
	f.Order = o
	read := func(step func() error) {
		if err == nil {
			err = step()
		}
	}
	read(func() (err error) { f.Store, err = r.Store(ctx, o.StoreID); return })
	read(func() (err error) {
		if o.PartnerID != "" {
			f.Partner, err = r.Partner(ctx, o.PartnerID)
		}
		return
	})
	read(func() (err error) { f.Timeline, err = r.Timeline(ctx, key, timelineRoom); return })
	read(func() error { p, err := r.Payment(ctx, key); return found(&f.Payment, p, err) })
	read(func() (err error) { f.Refunds, err = r.Refunds(ctx, key); return })
	read(func() error { d, err := r.Delivery(ctx, key); return found(&f.Delivery, d, err) })
	read(func() (err error) { f.Attention, err = r.Attention(ctx, key); return })
	read(func() (err error) {
		if f.Delivery != nil && f.Delivery.State == commerce.DeliveryDispatching {
			f.Jobs, err = site.JobsOf(ctx, r, o.StoreID, commerce.JobWaiting, commerce.JobHeld)
			ref := f.Delivery.Ref()
			f.Jobs = slices.DeleteFunc(f.Jobs, func(j commerce.Job) bool { return j.Subject != ref })
		}
		return
	})
	read(func() (err error) { f.Webhooks, err = webhooksOf(ctx, r, f); return })
	read(func() (err error) { f.Audit, err = auditOf(ctx, r, f); return })
	return f, err
}

// found sets a row that may be missing.
func found[V any](to **V, row V, err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	*to = &row
	return err
}

// batchRoom is more events than one batch makes of one partner.
const batchRoom = 1000

// webhooksOf reads the webhook events of an order with their attempts. The ids of events begin
// with the time of their batch, which the timeline has, so that no index by order is needed.
func webhooksOf(ctx context.Context, r Reads, f orderFacts) (list []sentEvent, err error) {
	if f.Order.PartnerID == "" {
		return nil, nil
	}
	for _, at := range timesOf(f.Timeline) {
		page, err := r.EventPage(ctx, storage.EventFilter{PartnerID: f.Order.PartnerID, Limit: batchRoom,
			After: commerce.NewID(commerce.PrefixEvent, at, commerce.Entropy{}), Before: commerce.NewID(commerce.PrefixEvent, at+1, commerce.Entropy{})})
		if err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			if e.OrderID != f.Order.ID {
				continue
			}
			attempts, err := r.Attempts(ctx, e.Key())
			if err != nil {
				return nil, err
			}
			list = append(list, sentEvent{e, attempts})
		}
	}
	return list, nil
}

// auditAtOnce is how many acts are read at a time: few are done in one millisecond.
const auditAtOnce = 10

// auditOf reads what people did with an order: their acts stand in the log at the times of the
// changes that they made.
func auditOf(ctx context.Context, r Reads, f orderFacts) (list []commerce.AuditEntry, err error) {
	times := []commerce.Millis{}
	for _, e := range f.Timeline {
		if byPerson(e.Actor) {
			times = append(times, e.CreatedOn)
		}
	}
	for _, a := range f.Attention {
		if byPerson(a.ResolvedBy) {
			times = append(times, a.ResolvedOn)
		}
	}
	for _, r := range f.Refunds {
		times = append(times, r.CreatedOn)
	}
	slices.Sort(times)
	for _, at := range slices.Compact(times) {
		for before := commerce.NewID(commerce.PrefixAudit, at+1, commerce.Entropy{}); before != ""; {
			page, err := r.Audit(ctx, f.Order.StoreID, before, auditAtOnce)
			if err != nil {
				return nil, err
			}
			for _, a := range page {
				if a.CreatedOn == at && a.Object == f.Order.ID {
					list = append(list, a)
				}
			}
			before = "" // what follows is older
			if n := len(page); n == auditAtOnce && page[n-1].CreatedOn >= at {
				before = page[n-1].ID
			}
		}
	}
	return list, nil
}

func byPerson(actor string) bool {
	kind, _, _ := strings.Cut(actor, ":")
	return kind == string(commerce.ActorStaff) || kind == string(commerce.ActorMember) || kind == string(commerce.ActorOperator)
}

// timesOf are the different times of the newest events of a timeline, oldest first.
func timesOf(timeline []commerce.TimelineEvent) (times []commerce.Millis) {
	const most = 60
	for _, e := range timeline[max(0, len(timeline)-most):] {
		times = append(times, e.CreatedOn)
	}
	slices.Sort(times)
	return slices.Compact(times)
}
