package postgres

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// readMoves follows the chain of a product. Each step looks through the moves of
// one batch, from the highest number below that of the newer move downwards.
var readMoves = "SELECT " + schema.MoveColumns + ` FROM (
	WITH RECURSIVE chain AS (
		(SELECT ` + moveStep + ` AND at = $3 AND seq < $4 ORDER BY at DESC, seq DESC LIMIT 1)
		UNION ALL
		SELECT older.* FROM chain AS c CROSS JOIN LATERAL (
			SELECT ` + moveStep + ` AND at = c.previous_at AND seq < c.seq ORDER BY at DESC, seq DESC LIMIT 1) AS older
	) SELECT * FROM chain LIMIT $5) AS m
	LEFT JOIN stock_notes AS n ON n.store_id = $1 AND n.product_id = $2 AND n.seq = m.seq`

var moveStep = schema.Join("at, seq", schema.StockMoves.Rest) + ` FROM stock_moves WHERE store_id = $1 AND product_id = $2`

func (r reader) StockMoves(ctx context.Context, key commerce.ProductKey, from commerce.MovePosition, limit int) (list []commerce.StockMove, err error) {
	err = r.rows(ctx, readMoves, []any{key.StoreID, key.ProductID, from.At, from.Seq, limit},
		func(s schema.Scanner) { list = append(list, schema.ScanStockMove(s, key)) })
	slices.SortFunc(list, func(a, b commerce.StockMove) int { return cmp.Compare(b.Seq, a.Seq) })
	return list, err
}
