package api

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// keyFinder lets the gate look up keys.
type keyFinder struct{ reader storage.Partners }

func (k keyFinder) FindKey(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.Mode, error) {
	p, mode, err := k.reader.KeyHolder(ctx, hash)
	if errors.Is(err, storage.ErrNotFound) {
		err = web.ErrNoKey
	}
	return p, mode, err
}

// mayRead looks at a store in a path or a query: 404 if it is not known, 403 if
// the key is restricted to others. One that was met is not looked for again:
// stores do not go away.
func (a *API) mayRead(r *request, storeID string) error {
	_, err := a.storeNo(r.Context(), storeID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return commerce.NotFound("store")
	case err == nil && !r.Partner.MayUse(storeID):
		return commerce.StoreDenied()
	}
	return err
}

// order finds an order that the caller may see: its own, and with a test key
// only test orders. Everything else does not exist for it.
func (a *API) order(r *request) (commerce.Order, error) {
	id := r.param("order_id")
	no, ok := commerce.StoreNoOfOrder(id)
	if !ok {
		return commerce.Order{}, commerce.NotFound("order")
	}
	storeID, err := a.storeID(r.Context(), no)
	if err != nil {
		return commerce.Order{}, orderMissing(err)
	}
	return a.visible(r, commerce.OrderKey{StoreID: storeID, OrderID: id})
}

func (a *API) visible(r *request, key commerce.OrderKey) (commerce.Order, error) {
	order, err := a.reader.Order(r.Context(), key)
	if err != nil {
		return order, orderMissing(err)
	}
	if err := maySee(r.Caller, order); err != nil {
		return commerce.Order{}, err
	}
	return order, nil
}

// maySee refuses an order that is not the caller's.
func maySee(c web.Caller, order commerce.Order) error {
	switch {
	case order.PartnerID != c.Partner.ID, c.Mode == commerce.Test && order.Mode != commerce.Test:
		return commerce.NotFound("order")
	case !c.Partner.MayUse(order.StoreID):
		return commerce.StoreDenied()
	}
	return nil
}

func orderMissing(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return commerce.NotFound("order")
	}
	return err
}

// storeNo is the short number of a store, which its orders carry.
func (a *API) storeNo(ctx context.Context, id string) (int64, error) {
	if no, ok := a.storeNos.Load(id); ok {
		return no.(int64), nil
	}
	store, err := a.reader.Store(ctx, id)
	if err != nil {
		return 0, err
	}
	a.storeNos.Store(id, store.No)
	return store.No, nil
}

// storeID turns a store's number into its id.
func (a *API) storeID(ctx context.Context, no int64) (string, error) {
	if id, ok := a.storeIDs.Load(no); ok {
		return id.(string), nil
	}
	store, err := a.reader.StoreByNo(ctx, no)
	if err != nil {
		return "", err
	}
	a.storeIDs.Store(no, store.ID)
	return store.ID, nil
}
