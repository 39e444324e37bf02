package postgres

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// sitesSQL reads each strip for itself, from an index that has all columns. The
// limit is none: with it the server, which may take the table for empty, cannot
// go through all stores and look for the strip of each.
const sitesSQL = "SELECT s.* FROM unnest($1::bigint[], $2::double precision[], $3::double precision[]) AS strip (number, west, east)" +
	" CROSS JOIN LATERAL (SELECT " + schema.SiteColumns + " FROM stores" +
	" WHERE active = $4 AND band = number AND lng BETWEEN west AND east LIMIT 1000000000) AS s"

// Sites implements storage.Reader.
func (r reader) Sites(ctx context.Context, f storage.SiteFilter) (list []commerce.Site, err error) {
	var bands []int64
	var wests, easts []float64
	for _, strip := range f.Area {
		bands, wests, easts = append(bands, strip.Band), append(wests, strip.West), append(easts, strip.East)
	}
	err = r.read(ctx, func(ctx context.Context) error {
		list = nil // of a read that broke off
		return query(ctx, r.e.readers, func(s *scanner) { list = append(list, schema.ScanSite(s)) }, sitesSQL, bands, wests, easts, f.Active)
	})
	return list, err
}
