package reads

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// openStatuses is the condition of the index of open orders, without which no engine uses it.
var openStatuses = func() string {
	var list []string
	for _, s := range commerce.OpenStatuses {
		list = append(list, "'"+string(s)+"'")
	}
	return "status IN (" + strings.Join(list, ", ") + ")"
}()

func scanOrder(s schema.Scanner) commerce.Order {
	return schema.Orders.Scan(s, commerce.OrderKey{StoreID: s.Text(), OrderID: s.Text()})
}

// inStores is the condition that an order is of one of the stores. It stands for the
// parameter after those in args.
func (r Reader) inStores(stores []string, args []any) (string, []any) {
	parameter := "$" + strconv.Itoa(len(args)+1)
	switch {
	case stores == nil:
		return "", args
	case len(stores) == 1:
		return " AND store_id = " + parameter, append(args, stores[0])
	}
	return " AND " + r.among("store_id", parameter), append(args, stores)
}

// OpenOrders reads the oldest open orders of a status.
func (r Reader) OpenOrders(ctx context.Context, f storage.OpenFilter) ([]commerce.Order, error) {
	stores, args := r.inStores(f.Stores, []any{string(f.Status)})
	orders, err := list(ctx, r, scanOrder, "SELECT "+schema.Orders.Columns()+" FROM orders WHERE status = $1 AND "+openStatuses+stores+
		" ORDER BY created_on, store_id LIMIT $"+strconv.Itoa(len(args)+1), append(args, f.Limit)...)
	slices.SortStableFunc(orders, storage.ByAge)
	return orders, err
}
