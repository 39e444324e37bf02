package backoffice

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

// card is a card as boards show it. Its age stands between the two parts, since it grows
// while the rest stays.
type card struct {
	id     string // of its element
	before string
	after  string
	paid   commerce.Millis
	late   int64
	used   bool
}

// cardKey finds a card that was rendered: an order as it was at a time, for users that may or
// may not act on it.
type cardKey struct {
	commerce.OrderKey
	updated commerce.Millis
	changes int64 // of its delivery
	eta     commerce.Millis
	late    int64
	named   bool // it names the store
	acts    bool
}

// chosenColumn are the orders of a column.
type chosenColumn struct {
	orders []*commerce.Order // that have a card
	count  int
	full   bool // there may be more than were counted
}

// lane is a column as its boards have it.
type lane struct {
	cards []*card
	count int
	full  bool
}

// boardView is what all boards with the same filter show. Its fields but for the filter are
// guarded by the lock of the hub.
type boardView struct {
	filter   boardFilter
	name     string // begins the ids of its messages: those of another process differ
	boards   int    // that are open
	usedOn   time.Time
	lookedOn time.Time // zero: it has not been filled yet
	columns  []lane
	seq      int64
	messages []string      // the newest ones; the last has the number seq
	changed  chan struct{} // closed at the next message
}

// keptMessages is how many messages a board that reconnects can catch up with.
const keptMessages = 200

func newBoardView(f boardFilter, name string) *boardView {
	return &boardView{filter: f, name: name, columns: make([]lane, len(boardColumns)), changed: make(chan struct{})}
}

// choose picks the orders of each column from those that were read.
func (v *boardView) choose(read openOrders) []chosenColumn {
	list := make([]chosenColumn, len(boardColumns))
	for i, c := range boardColumns {
		for _, status := range c.Statuses {
			orders := read[status]
			list[i].full = list[i].full || len(orders) == boardReads
			for n := range orders {
				if v.filter.shows(&orders[n]) {
					list[i].count++
					list[i].orders = append(list[i].orders, &orders[n])
				}
			}
		}
		if len(c.Statuses) > 1 {
			slices.SortStableFunc(list[i].orders, func(a, b *commerce.Order) int { return storage.ByAge(*a, *b) })
		}
		list[i].orders = list[i].orders[:min(boardRoom, len(list[i].orders))]
	}
	return list
}

// update replaces what the boards show, and tells them what has changed.
func (v *boardView) update(now []lane, at commerce.Millis) {
	before := v.columns
	v.columns = now
	var b strings.Builder
	v.compare(&b, before, at)
	if b.Len() == 0 {
		return
	}
	v.seq++
	v.messages = append(v.messages, b.String())
	if extra := len(v.messages) - keptMessages; extra > 0 {
		v.messages = slices.Delete(v.messages, 0, extra)
	}
	close(v.changed)
	v.changed = make(chan struct{})
}

// compare writes what turns the columns of before into those of now. Cards are taken away
// first, since one that moves to another column keeps its id.
func (v *boardView) compare(b *strings.Builder, before []lane, at commerce.Millis) {
	same := func(i int) bool { return slices.Equal(before[i].cards, v.columns[i].cards) } // cards are shared
	for i, old := range before {
		if same(i) {
			continue
		}
		for _, c := range old.cards {
			if !has(v.columns[i].cards, c.id) {
				fmt.Fprintf(b, `<hx-partial hx-target="#%s" hx-swap="outerHTML"><li class="gone" data-was="%[1]s"></li></hx-partial>`, c.id)
			}
		}
	}
	for i, now := range v.columns {
		if now.count != before[i].count || now.full != before[i].full {
			now.counts(b, boardColumns[i].ID)
		}
		if same(i) {
			continue
		}
		was := make(map[string]*card, len(before[i].cards))
		for _, c := range before[i].cards {
			was[c.id] = c
		}
		for n, c := range now.cards {
			switch old := was[c.id]; {
			case old == nil && n == 0:
				fmt.Fprintf(b, `<hx-partial hx-target="#col-%s" hx-swap="afterbegin">%s</hx-partial>`, boardColumns[i].ID, c.html(at))
			case old == nil:
				fmt.Fprintf(b, `<hx-partial hx-target="#%s" hx-swap="afterend">%s</hx-partial>`, now.cards[n-1].id, c.html(at))
			case old.before != c.before || old.after != c.after || old.late != c.late:
				fmt.Fprintf(b, `<hx-partial hx-target="#%s" hx-swap="outerMorph">%s</hx-partial>`, c.id, c.html(at))
			}
		}
	}
}

func has(cards []*card, id string) bool {
	return slices.ContainsFunc(cards, func(c *card) bool { return c.id == id })
}

// counts writes how many orders a column has.
func (c lane) counts(b *strings.Builder, id string) {
	for _, at := range []string{"n-", "tab-"} {
		fmt.Fprintf(b, `<hx-partial hx-target="#%s%s" hx-swap="innerHTML">%d</hx-partial>`, at, id, c.count)
	}
	fmt.Fprintf(b, `<hx-partial hx-target="#more-%s" hx-swap="innerHTML"><span>%s</span></hx-partial>`, id, c.more())
}

// more says how many orders have no card.
func (c lane) more() string {
	switch more := c.count - len(c.cards); {
	case more > 0 && c.full:
		return "and more than " + strconv.Itoa(more) + " more"
	case more > 0:
		return "and " + strconv.Itoa(more) + " more"
	}
	return ""
}

// whole is a message that has all of the board.
func (v *boardView) whole(at commerce.Millis) string {
	var b strings.Builder
	for i, c := range v.columns {
		fmt.Fprintf(&b, `<hx-partial hx-target="#col-%s" hx-swap="innerMorph">`, boardColumns[i].ID)
		for _, card := range c.cards {
			b.WriteString(card.html(at))
		}
		b.WriteString(`</hx-partial>`)
		c.counts(&b, boardColumns[i].ID)
	}
	return b.String()
}

// position is the id of the newest message.
func (v *boardView) position() string { return v.name + "-" + strconv.FormatInt(v.seq, 10) }

// after returns the messages after the one with an id. If that is not known, it is one
// message with all of the board.
func (v *boardView) after(id string, at commerce.Millis) []string {
	name, number, _ := strings.Cut(id, "-")
	seq, err := strconv.ParseInt(number, 10, 64)
	if first := v.seq - int64(len(v.messages)); err == nil && name == v.name && seq >= first && seq <= v.seq {
		return slices.Clone(v.messages[seq-first:])
	}
	return []string{v.whole(at)}
}

// html is the card with its age at a time.
func (c *card) html(at commerce.Millis) string {
	return c.before + string(ageOf(c.paid, at, c.late)) + c.after
}

// shownCard is a card on a page.
type shownCard struct{ HTML template.HTML }

// ageMark stands in a rendered card where its age comes.
const ageMark = "<i></i>"

// ageOf shows how old an order is: amber when it is late, red at twice the time.
func ageOf(paid, now commerce.Millis, late int64) template.HTML {
	minutes := max(0, int64(now-paid)/60_000)
	class := "age"
	switch {
	case minutes >= 2*late:
		class = "age red"
	case minutes >= late:
		class = "age amber"
	}
	return template.HTML(fmt.Sprintf(`<span class="%s" data-paid="%d" data-late="%d">%s</span>`, class, paid, late, minutesText(minutes)))
}

// minutesText is a time that has passed. The script of the pages writes it alike.
func minutesText(minutes int64) string {
	switch {
	case minutes < 60:
		return strconv.FormatInt(minutes, 10) + " min"
	case minutes < 24*60:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	}
	return strconv.FormatInt(minutes/24/60, 10) + " d"
}

// cardData is the data of the template "card".
type cardData struct {
	Order    *commerce.Order
	Lines    []cardLine
	More     int // lines that are not shown
	From     string
	Store    string // empty: all cards are of the same one
	How      string
	HowIcon  string
	Age      template.HTML
	Confirm  bool
	Courier  bool // confirming sends a courier
	Ready    bool
	PickedUp bool
}

type cardLine struct {
	Quantity int64
	Name     string
}

// cardsOf are the cards of the columns of a view. Each is rendered once for all views that
// show it alike.
func (h *boardHub) cardsOf(f boardFilter, chosen []chosenColumn) []lane {
	named := f.Stores == nil || len(f.Stores) > 1
	list := make([]lane, len(chosen))
	for i, c := range chosen {
		list[i] = lane{cards: make([]*card, len(c.orders)), count: c.count, full: c.full}
		for n, o := range c.orders {
			facts := h.facts[o.Key()]
			late := h.names.stores[o.StoreID].LateMinutes
			if late == 0 {
				late = commerce.DefaultLateMinutes
			}
			key := cardKey{o.Key(), o.UpdatedOn, facts.delivery.Changes, facts.delivery.PickupETA + facts.delivery.DropoffETA, late, named, f.acts(o.StoreID)}
			made := h.cards[key]
			if made == nil {
				made = h.render(o, facts, key)
				h.cards[key] = made
				if h.pushed != nil && h.before != 0 && o.UpdatedOn > h.before {
					h.pushed(h.env.Since(o.UpdatedOn.Time()))
				}
			}
			made.used = true
			list[i].cards[n] = made
		}
	}
	return list
}

// render renders a card.
func (h *boardHub) render(o *commerce.Order, facts *cardFacts, key cardKey) *card {
	store := h.names.stores[o.StoreID]
	data := cardData{Order: o, From: h.names.partners[o.PartnerID], More: len(o.Lines) - len(facts.products), Age: ageMark}
	if key.named {
		data.Store = store.Name
	}
	if data.From == "" {
		data.From = "Taken here"
	}
	for i, name := range facts.products {
		data.Lines = append(data.Lines, cardLine{o.Lines[i].Quantity, name})
	}
	data.How, data.HowIcon = howOf(o, facts.delivery, site.ZoneOf(store))
	if key.acts {
		possible := func(t commerce.Trigger) bool { _, err := o.Check(t); return err == nil }
		data.Confirm = possible(commerce.Confirm)
		data.Courier = o.Fulfillment == commerce.ByDelivery
		data.Ready = possible(commerce.MarkReady) && o.Status != commerce.ReadyForPickup && !data.Confirm
		data.PickedUp = possible(commerce.MarkPickedUp) && o.Status == commerce.ReadyForPickup
	}
	var b bytes.Buffer
	if err := pages.Page("board").ExecuteTemplate(&b, "card", data); err != nil {
		panic(err) // a bug in the template
	}
	text := strings.Join(strings.Fields(b.String()), " ") // a message has one line
	before, after, _ := strings.Cut(text, ageMark)
	return &card{id: "o-" + o.ID, before: before, after: after, paid: facts.paid, late: key.late}
}

// howOf says how the order leaves the store, and when as far as that is known.
func howOf(o *commerce.Order, d commerce.Delivery, zone *time.Location) (text, picture string) {
	clock := func(at commerce.Millis) string { return at.Time().In(zone).Format("15:04") }
	switch {
	case o.Fulfillment != commerce.ByDelivery:
		return "Pickup", "shopping-bag"
	case o.Status == commerce.OutForDelivery && d.DropoffETA != 0:
		return "At the customer " + clock(d.DropoffETA), "truck"
	case o.Status == commerce.OutForDelivery:
		return "With the courier", "truck"
	case o.Status == commerce.Shipped && d.Imminent:
		return "Courier is here", "truck"
	case o.Status == commerce.Shipped && d.PickupETA != 0:
		return "Courier comes " + clock(d.PickupETA), "truck"
	case o.Status == commerce.Shipped:
		return "Courier is coming", "truck"
	case o.Status == commerce.Processed:
		return "Looking for a courier", "truck"
	}
	return "Delivery", "truck"
}

// show fills the page with what a view shows, and returns the position from which its stream
// goes on.
func (h *boardHub) show(v *boardView, page *boardPage) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, c := range v.columns {
		shown := boardColumn{ID: boardColumns[i].ID, Word: boardColumns[i].Word, Empty: boardColumns[i].Empty, Count: c.count, More: c.more()}
		for _, made := range c.cards {
			shown.Cards = append(shown.Cards, shownCard{template.HTML(made.html(page.Now))})
		}
		page.Columns = append(page.Columns, shown)
	}
	return v.position()
}
