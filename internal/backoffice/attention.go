package backoffice

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
)

const (
	reasonsOnPage = 100
	mostReasons   = 2000 // that the page counts
)

// attentionPage is the data of the page "attention".
type attentionPage struct {
	Now    commerce.Millis
	Code   commerce.AttentionCode // that is shown alone; empty: all
	Codes  []codeCount
	All    int
	Rows   []reasonRow
	More   int    // less urgent reasons that are not shown
	Next   string // the address of the next page of them
	Capped bool   // there are more than the page counts
	Stores []commerce.Store
	Store  string
}

// codeCount is how many orders have a reason.
type codeCount struct {
	Code  commerce.AttentionCode
	Count int
}

// reasonRow is a reason to look at an order.
type reasonRow struct {
	commerce.Attention
	Words   reasonWords
	Order   commerce.Order
	URL     string
	Store   string
	Zone    *time.Location
	Act     *action // the next step, if the order and the user allow it
	Resolve bool    // the user may resolve the reason
}

// attention lists the open reasons in the user's stores, the most urgent first.
func (v *visit) attention() error {
	stores, err := v.storesOf(commerce.MayReadOrders)
	if err != nil {
		return err
	}
	shown, err := v.narrowed(stores)
	if err != nil {
		return err
	}
	page := attentionPage{Now: commerce.MillisOf(v.o.env.Now()), Code: commerce.AttentionCode(v.URL.Query().Get("code")), Stores: stores}
	byID, ids := map[string]commerce.Store{}, make([]string, len(shown))
	for i, s := range shown {
		byID[s.ID], ids[i] = s, s.ID
	}
	if len(shown) == 1 {
		page.Store = ids[0]
	}
	reasons, err := v.o.reads.AllOpenAttention(v.Context(), ids, mostReasons+1)
	if err != nil {
		return err
	}
	if page.Capped = len(reasons) > mostReasons; page.Capped {
		reasons = reasons[:mostReasons]
	}
	page.All = len(reasons)
	for _, a := range reasons {
		i := slices.IndexFunc(page.Codes, func(c codeCount) bool { return c.Code == a.Code })
		if i < 0 {
			page.Codes, i = append(page.Codes, codeCount{Code: a.Code}), len(page.Codes)
		}
		page.Codes[i].Count++
	}
	if page.Code != "" {
		reasons = slices.DeleteFunc(reasons, func(a commerce.Attention) bool { return a.Code != page.Code })
	}
	skip, _ := strconv.Atoi(v.URL.Query().Get("skip")) // without a number the first ones
	reasons = reasons[max(0, min(skip, len(reasons))):]
	if page.More = max(0, len(reasons)-reasonsOnPage); page.More > 0 {
		q := v.URL.Query()
		q.Set("skip", strconv.Itoa(max(0, skip)+reasonsOnPage))
		page.Next = "?" + q.Encode()
	}
	page.Rows, err = v.reasonRows(reasons[:min(len(reasons), reasonsOnPage)], byID)
	if err != nil {
		return err
	}
	return v.page("attention", "Attention", page)
}

// reasonRows are the reasons with their orders and next steps.
func (v *visit) reasonRows(reasons []commerce.Attention, stores map[string]commerce.Store) ([]reasonRow, error) {
	keys := make([]commerce.OrderKey, len(reasons))
	for i, a := range reasons {
		keys[i] = commerce.OrderKey{StoreID: a.StoreID, OrderID: a.OrderID}
	}
	orders, err := v.o.reads.OrdersByKey(v.Context(), keys)
	if err != nil {
		return nil, err
	}
	rows := make([]reasonRow, len(reasons))
	for i, a := range reasons {
		store := stores[a.StoreID]
		may := commerce.MayAdvanceOrders
		if a.Code.AboutMoney() {
			may = commerce.MayWriteRefunds
		}
		rows[i] = reasonRow{Attention: a, Words: wordsOfReason(a.Code), Order: orders[keys[i]], URL: ordersPath + "/" + a.OrderID, Store: cmp.Or(store.Name, a.StoreID),
			Zone: site.ZoneOf(store), Resolve: a.Code != commerce.AttentionRefundRequested && v.user.May(may, a.StoreID)}
		rows[i].Act = v.nextStep(rows[i])
	}
	return rows, nil
}

// nextStep is the usual next step of a reason; nil if the status of the order or the rights of
// the user rule it out. The page of the act knows the rest.
func (v *visit) nextStep(r reasonRow) *action {
	for _, a := range (orderFacts{Order: r.Order}).actions() {
		if a.Name != r.Words.Next || !v.user.May(a.May, r.StoreID) {
			continue
		}
		if trigger, ok := triggers[a.Name]; ok {
			if _, err := r.Order.Check(trigger); err != nil {
				return nil
			}
		}
		return &a
	}
	return nil
}
