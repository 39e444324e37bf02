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
	err = r.snapshot(ctx, func(conn *connection) error {
		for _, strip := range f.Area {
			err := query(conn, sitesSQL,
				func(b schema.Binder) { b.Bool(f.Active).Int(strip.Band).Float(&strip.West).Float(&strip.East) },
				func(s *scanner) { list = append(list, schema.ScanSite(s)) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}
