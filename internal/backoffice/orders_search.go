package backoffice

import (
	"errors"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

const (
	mostFound = 100 // orders that one search shows
	endOfID   = 4   // characters that people read to each other
)

// search finds orders by what staff know of them: the id, the partner's id, the customer's e-mail
// address or phone number, or the end of the id of an open order. All are exact. The filter holds,
// too.
func (v *visit) search(f orderFilter) ([]commerce.Order, error) {
	text := f.Text
	found := map[string]commerce.Order{}
	add := func(orders ...commerce.Order) {
		for _, o := range orders {
			if f.has(o) {
				found[o.ID] = o
			}
		}
	}
	if id := strings.ToLower(text); isOrderID(id) {
		o, err := v.o.uses.FindOrder(v.Context(), v.caller(), id)
		if e, ok := errors.AsType[*commerce.Error](err); ok && e.Kind == commerce.KindNotFound {
			return nil, nil
		}
		if err == nil {
			add(o)
		}
		return newestOf(found), err
	}
	keys, err := v.o.reads.ExternalOrders(v.Context(), text)
	if err != nil {
		return nil, err
	}
	external, err := v.o.reads.OrdersByKey(v.Context(), keys)
	if err != nil {
		return nil, err
	}
	for _, o := range external {
		add(o)
	}
	stores := make([]string, len(f.shown))
	for i, s := range f.shown {
		stores[i] = s.ID
	}
	for _, contact := range contactsIn(text) {
		orders, err := v.o.reads.ContactOrders(v.Context(), stores, contact, mostFound)
		if err != nil {
			return nil, err
		}
		add(orders...)
	}
	if end := strings.ToLower(text); len(end) == endOfID {
		orders, err := v.o.reads.OpenOrdersEnding(v.Context(), stores, end, mostFound)
		if err != nil {
			return nil, err
		}
		add(orders...)
	}
	return newestOf(found), nil
}

func isOrderID(text string) bool {
	_, ok := commerce.StoreNoOfOrder(text)
	return ok
}

// has reports whether a found order is of the chosen stores, and the filter selects it.
func (f orderFilter) has(o commerce.Order) bool {
	for _, s := range f.shown {
		if s.ID == o.StoreID {
			return f.filter.Has(o)
		}
	}
	return false
}

func newestOf(found map[string]commerce.Order) (orders []commerce.Order) {
	for _, o := range found {
		orders = append(orders, o)
	}
	return storage.Newest(orders, mostFound)
}

// contactsIn are the contacts that a text may be. A phone number is stored as it was given, so it
// is looked for with and without its country.
func contactsIn(text string) (contacts []string) {
	if strings.Contains(text, "@") {
		return []string{commerce.EmailContact(text)}
	}
	if strings.Trim(text, "+0123456789 ()-./") != "" {
		return nil
	}
	const fewest = 6
	phone := commerce.PhoneContact(text)
	digits := strings.Trim(strings.TrimPrefix(phone, "phone:"), "+")
	if len(digits) < fewest {
		return nil
	}
	contacts = []string{phone, commerce.PhoneContact("+" + digits), commerce.PhoneContact(digits)}
	if len(digits) == 10 {
		contacts = append(contacts, commerce.PhoneContact("+1"+digits), commerce.PhoneContact("1"+digits))
	}
	if local, ok := strings.CutPrefix(digits, "1"); ok && len(local) == 10 {
		contacts = append(contacts, commerce.PhoneContact(local))
	}
	slices.Sort(contacts)
	return slices.Compact(contacts)
}
