package service

import (
	"context"
	"fmt"

	"purveyor/internal/commerce"
)

// CheckStock is a check that the stock moves of products lead to their quantities.
type CheckStock struct {
	StoreID   string // empty: all stores
	ProductID string // of the store; empty: all products
	// All has faults before the newest opening or repair found, too.
	All bool
	// Fault gets each fault; nil: none does.
	Fault func(StockFault)
	// Checked gets the sums after each product, and broken if the chain of that product is
	// broken. Its error ends the check. nil: it is not called.
	Checked func(sums StockSums, product commerce.ProductKey, broken bool) error
}

// StockFault is one break in the chain of a product's stock moves.
type StockFault struct {
	Product  commerce.ProductKey
	Name     string // of the product
	Fault    string
	Repaired bool // the fault is older than the newest opening or repair
}

// StockSums are the sums of a check so far.
type StockSums struct{ Products, Moves, Broken int }

// checkPage is how many rows one read of a check reads.
const checkPage = 500

// CheckStock checks one product after another, while the service may be selling them. That
// works because the moves that a stock row counts never change, even if more are added after
// the row was read. No read is longer than a page.
func (s *Service) CheckStock(ctx context.Context, in CheckStock) (sums StockSums, err error) {
	var after commerce.ProductKey
	for {
		page, err := s.stockPage(ctx, in, after)
		if err != nil {
			return sums, err
		}
		for _, stock := range page {
			broken, moves, err := s.checkProduct(ctx, stock, in)
			if err != nil {
				return sums, fmt.Errorf("%s in store %s: %w", stock.ProductID, stock.StoreID, err)
			}
			after = stock.Key()
			sums.Products, sums.Moves = sums.Products+1, sums.Moves+moves
			if broken {
				sums.Broken++
			}
			if in.Checked == nil {
				continue
			}
			if err := in.Checked(sums, after, broken); err != nil {
				return sums, err
			}
		}
		if len(page) < checkPage {
			return sums, nil
		}
	}
}

// stockPage reads the next products that are to be checked.
func (s *Service) stockPage(ctx context.Context, in CheckStock, after commerce.ProductKey) ([]commerce.Stock, error) {
	if in.ProductID == "" {
		return s.reader.StockPage(ctx, in.StoreID, after, checkPage)
	}
	found, err := s.reader.Stock(ctx, []string{in.ProductID})
	if stock, ok := found[in.ProductID]; ok && stock.StoreID == in.StoreID {
		return []commerce.Stock{stock}, err
	}
	return nil, err
}

// checkProduct checks one product. moves counts the moves that were read.
func (s *Service) checkProduct(ctx context.Context, stock commerce.Stock, in CheckStock) (broken bool, moves int, err error) {
	check := commerce.NewStockCheck(stock, func(fault string, repaired bool) {
		broken = broken || !repaired
		if in.Fault != nil {
			in.Fault(StockFault{stock.Key(), stock.Name, fault, repaired})
		}
	})
	for from := stock.NewestMove(); ; {
		page, err := s.reader.StockMoves(ctx, stock.Key(), from, checkPage)
		if err != nil {
			return broken, moves, err
		}
		for _, m := range page {
			check.Add(m)
			moves, from = moves+1, m.Before()
			if check.Begun() && !in.All {
				return broken, moves, nil
			}
		}
		if len(page) < checkPage {
			check.End()
			return broken, moves, nil
		}
	}
}
