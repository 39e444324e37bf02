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
	err = queryEach(ctx, r, f.Area, sitesSQL,
		func(b schema.Binder, p commerce.Strip) { b.Bool(f.Active).Int(p.Band).Float(&p.West).Float(&p.East) },
		func(s *scanner, _ commerce.Strip) { list = append(list, schema.ScanSite(s)) })
	return list, err
}
