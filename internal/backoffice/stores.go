package backoffice

import (
	"cmp"
	"errors"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/maps"
	"purveyor/internal/storage"
)

// storeRoutes are the pages of stores.
var storeRoutes = []route{
	{method: get, path: Prefix + "/stores", may: commerce.MayWriteStores, handle: (*visit).stores, word: "Stores", icon: "store"},
	{method: get, path: Prefix + "/stores/new", may: commerce.MayMakeStores, handle: (*visit).newStore},
	{method: post, path: Prefix + "/stores/new", may: commerce.MayMakeStores, handle: (*visit).makeStore},
	{method: get, path: Prefix + "/stores/{id}", may: commerce.MayWriteStores, handle: ofStore((*visit).store)},
	{method: get, path: Prefix + "/stores/{id}/edit", may: commerce.MayWriteStores, handle: ofStore((*visit).editStore)},
	{method: post, path: Prefix + "/stores/{id}/edit", may: commerce.MayWriteStores, handle: ofStore((*visit).saveStore)},
}

// ofStore is the handler of a route about the store in the path.
func ofStore(handle func(*visit, commerce.Store) error) func(*visit) error {
	return func(v *visit) error {
		store, err := v.o.reads.Store(v.Context(), v.PathValue("id"))
		err = notFoundOr(err, "store")
		if err == nil {
			err = v.mayIn(store.ID, "store")
		}
		if err != nil {
			return err
		}
		return handle(v, store)
	}
}

// pageRoom is how many rows a list shows at a time.
const pageRoom = 50

// storesPage is the data of the page "stores".
type storesPage struct {
	Stores  []commerce.Store
	After   string // the position of the next page; empty: there is none
	MayMake bool
}

// stores lists the stores of the user, active or not, in the order of their ids.
func (v *visit) stores() error {
	list, more, err := v.storePage(commerce.MayWriteStores, v.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	page := storesPage{Stores: list, MayMake: v.user.MayEverywhere(commerce.MayMakeStores)}
	if more {
		page.After = list[len(list)-1].ID
	}
	return v.page("stores", "Stores", page)
}

// storePage reads a page of the stores in which the user has a permission; more reports that
// others follow.
func (v *visit) storePage(p commerce.Permission, after string) (list []commerce.Store, more bool, err error) {
	ids, all := v.storesWith(p)
	if all {
		ids = nil
	} else if len(ids) == 0 {
		return nil, false, nil
	}
	for _, active := range []bool{true, false} {
		some, err := v.o.reads.Stores(v.Context(), storage.StoreFilter{Active: active, IDs: ids, After: after, Limit: pageRoom + 1})
		if err != nil {
			return nil, false, err
		}
		list = append(list, some...)
	}
	slices.SortFunc(list, func(a, b commerce.Store) int { return strings.Compare(a.ID, b.ID) })
	return list[:min(len(list), pageRoom)], len(list) > pageRoom, nil
}

// storePage is the data of the page "store".
type storePage struct {
	commerce.Store
	Categories []commerce.Category // that have products here
	Partners   []commerce.Partner  // that may sell from it; nil also if the user may not see them
	MayPartner bool
	Map        template.HTML // where it is, and how far it delivers; empty: that is not known
}

// store shows one store.
func (v *visit) store(s commerce.Store) error {
	page := storePage{Store: s, MayPartner: v.user.May(commerce.MayReadPartners, s.ID)}
	if at, known := s.Point(); known {
		page.Map = maps.Map{Title: "Where the store is", Store: &at, RadiusMiles: s.RadiusMiles}.SVG()
	}
	var err error
	if page.Categories, err = v.o.reads.Categories(v.Context(), storage.CategoryFilter{StoreIDs: []string{s.ID}}); err != nil {
		return err
	}
	if page.MayPartner {
		partners, err := v.o.reads.Partners(v.Context())
		if err != nil {
			return err
		}
		page.Partners = slices.DeleteFunc(partners, func(p commerce.Partner) bool { return p.MayUse(s.ID) != nil })
	}
	return v.page("store", cmp.Or(s.Name, s.ID), page)
}

// Tax is the tax rate in percent.
func (p storePage) Tax() string { return percent(p.TaxRateBps) + " %" }

// percent is a number of hundredths of a percent as people write it: 8.25.
func percent(bps int64) string { return strconv.FormatFloat(float64(bps)/100, 'f', -1, 64) }

// notFoundOr turns the error of a read that found nothing into a refusal.
func notFoundOr(err error, noun string) error {
	if notFound(err) {
		return commerce.NotFound(noun)
	}
	return err
}

// notFound reports whether a read found nothing.
func notFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }
