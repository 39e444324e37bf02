package backoffice

import (
	"cmp"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// storesOf are the stores in which the user has a permission, also those that are switched
// off, in the order of their names.
func (v *visit) storesOf(p commerce.Permission) (list []commerce.Store, err error) {
	const page = 1000
	ids, all := v.user.StoresWith(p)
	if !all && len(ids) == 0 {
		return nil, nil
	}
	for _, active := range []bool{true, false} {
		f := storage.StoreFilter{Active: active, IDs: ids, Limit: page}
		for {
			found, err := v.o.reads.Stores(v.Context(), f)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
			if len(found) < page {
				break
			}
			f.After = found[page-1].ID
		}
	}
	slices.SortFunc(list, func(a, b commerce.Store) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}
