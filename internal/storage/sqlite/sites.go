package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

const sitesSQL = "SELECT " + schema.SiteColumns + " FROM stores WHERE active = ? AND band = ? AND lng BETWEEN ? AND ?"

// Sites implements storage.Reader. Each strip is a piece of a covering index.
func (r reader) Sites(ctx context.Context, f storage.SiteFilter) (list []commerce.Site, err error) {
	err = r.each(ctx, sitesSQL, len(f.Area), func(i int) []any { return []any{f.Active, f.Area[i].Band, f.Area[i].West, f.Area[i].East} },
		func(_ int, s schema.Scanner) { list = append(list, schema.ScanSite(s)) })
	return list, err
}
