package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

var stockMove = "SELECT " + schema.MoveColumns + ` FROM stock_moves AS m
	LEFT JOIN stock_notes AS n ON n.store_id = m.store_id AND n.product_id = m.product_id AND n.seq = m.seq
	WHERE m.at = ? AND m.store_id = ? AND m.product_id = ? AND m.seq < ? ORDER BY m.seq DESC LIMIT 1`

func (r reader) StockMoves(ctx context.Context, key commerce.ProductKey, from commerce.MovePosition, limit int) (list []commerce.StockMove, err error) {
	err = r.with(ctx, func(conn *connection) error {
		for n := 0; n < limit; n++ {
			err := query(conn, stockMove, bind(from.At, key.StoreID, key.ProductID, from.Seq),
				func(s *scanner) { list = append(list, schema.ScanStockMove(s, key)) })
			if err != nil || len(list) == n {
				return err
			}
			from = list[n].Before()
		}
		return nil
	})
	return list, err
}
