package backoffice

import (
	"context"

	"purveyor/internal/commerce"
)

// Explanation is what the page of an order tells, for a shell.
type Explanation struct {
	Situation string   // what is going on, in one sentence
	Reasons   []Reason // that are open, the most urgent first
	Story     []Told   // all that happened, oldest first
	Possible  []Act    // what may be done now; the likely one first
	Payment   *commerce.Payment
	Refunds   []commerce.Refund
	Names     map[string]string // of the products, by their ids
	Owners    []string          // of the jobs about the order
	Subjects  []string          // of the jobs about the order
}

// Reason is an open reason to look at an order.
type Reason struct {
	commerce.Attention
	Means, Step string
}

// Told is one line of the story of an order.
type Told struct {
	At     commerce.Millis
	Part   string
	Title  string
	Actor  string // as Actor.Name gives it; empty: not known
	Detail []string
	Failed bool
}

// Act is something that can be done with an order.
type Act struct{ Name, Word string }

// Explain reads what is known about an order. clock writes a time.
func Explain(ctx context.Context, r Reads, o commerce.Order, clock func(commerce.Millis) string) (e Explanation, err error) {
	f, err := readFacts(ctx, r, o)
	if err != nil {
		return e, err
	}
	if f.Names, err = namesOf(ctx, r, o); err != nil {
		return e, err
	}
	e = Explanation{Situation: f.situation(clock), Payment: f.Payment, Refunds: f.Refunds, Names: f.Names}
	for _, a := range f.open() {
		words := wordsOfReason(a.Code)
		e.Reasons = append(e.Reasons, Reason{a, words.Means, words.Step})
	}
	for _, s := range f.story() {
		e.Story = append(e.Story, Told{s.At, s.Part, s.Title, s.Actor, s.Detail, s.Failed})
	}
	next, some := f.next()
	if some {
		e.Possible = append(e.Possible, Act{next.Name, next.Word})
	}
	for _, a := range f.actions() {
		if a.Refused == "" && (!some || a.Name != next.Name) {
			e.Possible = append(e.Possible, Act{a.Name, a.Word})
		}
	}
	e.Owners, e.Subjects = f.jobKeys()
	return e, nil
}

// jobKeys are the owners and the subjects that jobs about the order have.
func (f orderFacts) jobKeys() (owners, subjects []string) {
	owners = append([]string{f.Order.StoreID}, f.Partner.Owners()...)
	subjects = []string{f.Order.ID}
	for _, r := range f.Refunds {
		subjects = append(subjects, r.ID)
	}
	if f.Delivery != nil {
		subjects = append(subjects, f.Delivery.Ref())
	}
	for _, w := range f.Webhooks {
		subjects = append(subjects, w.ID)
	}
	return owners, subjects
}

// namesOf are the present names of the products of an order.
func namesOf(ctx context.Context, r Reads, o commerce.Order) (map[string]string, error) {
	var ids []string
	for _, l := range o.Lines {
		ids = append(ids, l.ProductID)
	}
	items, err := r.Items(ctx, o.StoreID, ids)
	names := map[string]string{}
	for id, item := range items {
		names[id] = item.Stock.Name
	}
	return names, err
}
